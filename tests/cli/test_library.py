"""`kw act NAME... --into cpp:DIR` as a user calls it: the library builds and computes what PyTorch does, nvcc compiles
its part for GPUs, and what cannot be is refused."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def files_in(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def understood(kw):
    for name in ("softmax", "rms_norm_llama"):
        assert kw("understand", ROOT / "examples" / f"{name}.py").returncode == 0


def run(*command, cwd):
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def example_values(count, seed):
    """What the example computes with: the numbers of its `values`."""
    import torch

    i = torch.arange(count, dtype=torch.int64)
    return ((i * 37 + seed * 11) % 101 - 50).to(torch.float32) / 25


def printed(text, name):
    """The mean magnitude and the first values of a result."""
    line = re.search(rf"^{name}: mean magnitude (\S+), first values (.*)$", text, re.MULTILINE)
    assert line is not None, text
    return [float(line[1]), *map(float, line[2].split())]


def seen(tensor):
    return [tensor.abs().mean().item(), *tensor.flatten()[:4].tolist()]


def test_a_library_builds_with_cmake_and_its_example_computes_what_pytorch_does(kw, understood, tmp_path):
    torch = pytest.importorskip("torch")
    done = kw("act", "rms_norm_llama", "--target", "cpu", "--into", "cpp:my_kernels", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["library"] == "my_kernels"
    folder = tmp_path / "my_kernels"
    run("cmake", "-S", ".", "-B", "build", cwd=folder)
    run("cmake", "--build", "build", cwd=folder)
    text = run("build/example", cwd=folder)
    sizes = {n: int(v) for n, v in re.findall(r"(\w+) = (\d+)", re.search("constexpr.*;", example_of(folder))[0])}
    shape = (sizes["batch"], sizes["seq"], sizes["hidden"])
    x = example_values(shape[0] * shape[1] * shape[2], 1).reshape(shape).requires_grad_()
    weight = example_values(shape[2], 2).requires_grad_()
    y = torch.nn.functional.rms_norm(x, shape[2:], weight, 1e-6)
    seed = int(re.search(r"d_y = values<float>\(.*, (\d+)\);", example_of(folder))[1])
    y.backward(example_values(y.numel(), seed).reshape(shape))
    for name, expected in {"y": y, "grad_x": x.grad, "grad_weight": weight.grad}.items():
        assert printed(text, name) == pytest.approx(seen(expected), rel=2e-5, abs=1e-6), name


def example_of(folder):
    return (folder / "example.cpp").read_text()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc here")
def test_nvcc_compiles_kernels_and_calls_and_links_them_with_those_of_the_cpu(kw, understood, tmp_path):
    assert kw("act", "softmax", "--into", "cpp:on_both", "--yes").returncode == 0
    folder = tmp_path / "on_both"
    run("cmake", "-S", ".", "-B", "build", cwd=folder)
    run("cmake", "--build", "build", cwd=folder)
    assert (folder / "build" / "example").exists()


def test_the_same_profiles_give_the_same_bytes_and_a_library_is_written_again_over_itself(kw, understood, tmp_path):
    for folder in ("a/same", "b/same", "a/same"):
        done = kw("act", "softmax", "rms_norm_llama", "--into", f"cpp:{folder}", "--yes")
        assert done.returncode == 0, done.stderr
    files = files_in(tmp_path / "a")
    assert files == files_in(tmp_path / "b")
    assert {"same/include/same/softmax.h", "same/src/cuda/rms_norm_llama_forward.cu", "same/example.cpp"} <= set(files)
    for path, text in files.items():
        assert not re.search(rb"KW_(LIBRARY|SOURCES|OPTION|NAME|TENSORS)", text), path
        # What comes from a profile says whose it is: the licence that the profile names.
        if re.search(r"(softmax|rms_norm_llama|example)[\w]*\.(h|cpp|cu)$", path) and path.count(".") == 1:
            assert b"SPDX-License-Identifier: Apache-2.0" in text, path


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (("softmax", "--into", "cpp:", "--yes"), 2, "'cpp:' is no place for a file set"),
        (("softmax", "--into", "cpp:2fast", "--yes"), 2, "'2fast' is no name for a C++ library"),
        (("softmax", "--into", "cpp:kw", "--yes"), 2, "'kw' is no name for a C++ library"),
        (("softmax", "softmax", "--into", "cpp:out", "--yes"), 2, "two kernels are called softmax"),
        (("missing", "--into", "cpp:out", "--yes"), 2, "there is no kernel 'missing'"),
        (("softmax", "--target", "triton", "--into", "cpp:out", "--yes"), 2, "a C++ library has no kernels in Triton"),
        (("softmax", "--into", "cpp:out"), 3, "the profile of softmax is not approved yet"),
    ],
)
def test_what_cannot_become_a_library_is_refused_and_writes_nothing(kw, understood, tmp_path, arguments, code, words):
    done = kw("act", *arguments)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_something_else_keeps_it(kw, understood, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/CMakeLists.txt").write_text("project(mine)\n")
    done = kw("act", "softmax", "--into", "cpp:mine", "--yes")
    assert done.returncode == 2 and "mine/CMakeLists.txt is there already" in done.stderr
    assert [path.name for path in (tmp_path / "mine").rglob("*")] == ["CMakeLists.txt"]
