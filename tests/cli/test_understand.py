"""`kw understand`: from what a user has to a kernel's folder, and what is said about bad input."""

import json
import os
import stat

import pytest
from conftest import ROOT

NORM = """\
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, hidden: int = 512, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))
        self.eps = eps

    def forward(self, x):
        h = x.float()
        y = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * y.to(x.dtype)


def get_inputs():
    return [torch.randn(64, 512, dtype=torch.bfloat16)]
"""

MATH = """\
op rms_norm(x: T[rows, cols], w: W[cols]; eps = 1e-6)
  ms   = mean(f32(x)^2, cols)
  rstd = rsqrt(ms + eps)
  y    = T(f32(x) * rstd) * w
return y
"""


def files_of(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def assert_refused(finished, *words, code=2):
    assert (finished.returncode, finished.stdout) == (code, ""), finished.stderr
    for word in words:
        assert word in finished.stderr, finished.stderr


def assert_nothing_written(folder):
    left = [p for p in (folder / "kernels").rglob("*")] if (folder / "kernels").is_dir() else []
    assert left == []


def test_a_module_becomes_a_folder_with_source_reference_profile_and_schedules(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    finished = kw("understand", "norm.py")
    assert finished.returncode == 0, finished.stderr
    assert "next: kw review rms_norm" in finished.stdout
    files = files_of(tmp_path / "kernels" / "rms_norm")
    assert set(files) == {"source.py", "reference.py", "profile.yaml", "schedules.yaml"}
    assert files["source.py"].decode() == NORM


@pytest.mark.parametrize("name", ["Model", "Net", "Layer"])
def test_a_class_whose_name_says_nothing_is_named_after_its_file(kw, tmp_path, name):
    (tmp_path / "38_L1Norm_.py").write_text(NORM.replace("RMSNorm", name))
    assert kw("understand", "38_L1Norm_.py").returncode == 0
    text = (tmp_path / "kernels/l1_norm/profile.yaml").read_text()
    assert "names: {function: l1_norm, module: L1Norm, autograd: L1NormFunction}" in text


@pytest.mark.parametrize("file", ["12.py", "_.py"])
def test_where_its_file_says_nothing_either_the_class_names_the_kernel(kw, tmp_path, file):
    (tmp_path / file).write_text(NORM.replace("RMSNorm", "Model"))
    assert kw("understand", file).returncode == 0
    assert (tmp_path / "kernels/model/profile.yaml").exists()


def test_the_same_source_gives_the_same_bytes(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    assert kw("understand", "norm.py", "--workspace", "a").returncode == 0
    assert kw("understand", "norm.py", "--workspace", "b").returncode == 0
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def test_stdin_math_text_and_a_math_file_are_read(kw, tmp_path):
    (tmp_path / "norm.kw").write_text(MATH)
    names = []
    for arguments, stdin in (
        (["-"], NORM),
        (["--math", MATH], ""),
        (["norm.kw", "--name", "third"], ""),
        (["-", "--name", "fourth"], MATH),
    ):
        finished = kw("understand", *arguments, "--json", "--replace", stdin=stdin)
        assert finished.returncode == 0, finished.stdout
        answer = json.loads(finished.stdout)
        assert answer["tier"] == 2 and answer["decisions"]["casting"] == "llama"
        names.append(answer["name"])
    assert names == ["rms_norm", "rms_norm", "third", "fourth"]


def test_words_are_read_and_the_source_they_stand_for_is_kept(kw, tmp_path):
    finished = kw("understand", "ReLU squared activation function", "--json")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    answer = json.loads(finished.stdout)
    assert answer["tier"] == 1 and answer["decisions"]["closest"] == "relu_squared"
    assert "import torch" in (tmp_path / answer["folder"] / "source.py").read_text()


def test_the_name_of_a_kernel_that_is_here_is_not_read_as_words(kw, tmp_path):
    (tmp_path / "own.py").write_text("import torch\n\n\ndef f(x):\n    return torch.relu(x)\n")
    assert kw("understand", "own.py", "--name", "softmax").returncode == 0
    profile = (tmp_path / "kernels/softmax/profile.yaml").read_bytes()
    run = kw("understand", "softmax")
    assert run.returncode == 2
    assert "softmax is a kernel that is here, read from own.py" in run.stderr
    assert (tmp_path / "kernels/softmax/profile.yaml").read_bytes() == profile
    assert kw("understand", "log softmax", "--name", "other").returncode == 0
    assert kw("understand", "gelu erf").returncode == kw("understand", "gelu erf").returncode == 0


def test_one_of_several_is_picked_by_name_and_asked_for_otherwise(kw, tmp_path):
    (tmp_path / "two.py").write_text(
        "import torch\n\n\ndef a(x):\n    return x + 1\n\n\ndef b(x):\n    return x.sum(-1)\n"
    )
    assert_refused(kw("understand", "two.py", "--quiet"), "a", "b")
    finished = kw("understand", "two.py:b", "--json")
    assert json.loads(finished.stdout)["name"] == "b"


def test_shapes_types_and_values_come_from_options(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    finished = kw(
        "understand", "norm.py", "--dtype", "x=f16", "--init", "eps=1e-5", "--shape", "x=rows:128,512", "--json"
    )
    assert finished.returncode == 0, finished.stdout
    decisions = json.loads(finished.stdout)["decisions"]
    assert decisions["type.T"] == "f16" and decisions["value.eps"] == "1e-5" and decisions["shape.x"].startswith("rows")


def test_with_json_there_is_one_object_and_nothing_else(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    finished = kw("understand", "norm.py", "--json")
    assert finished.stderr == ""
    assert json.loads(finished.stdout)["name"] == "rms_norm"


def test_progress_is_plain_lines_on_stderr_and_quiet_when_asked(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    assert "reading" in kw("understand", "norm.py").stderr
    assert kw("understand", "norm.py", "--quiet").stderr == ""


def test_reading_again_keeps_what_a_person_set(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    kw("understand", "norm.py")
    assert kw("set", "rms_norm", "casting=gemma").returncode == 0
    again = json.loads(kw("understand", "norm.py", "--json").stdout)
    assert again["kept"] == ["casting"] and again["decisions"]["casting"] == "gemma"
    anew = json.loads(kw("understand", "norm.py", "--replace", "--json").stdout)
    assert anew["kept"] == [] and anew["decisions"]["casting"] == "llama"


def test_a_kernel_from_another_source_is_not_overwritten(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    (tmp_path / "other.py").write_text(NORM.replace("ones", "zeros"))
    kw("understand", "norm.py")
    before = files_of(tmp_path / "kernels")
    assert_refused(kw("understand", "other.py", "--quiet"), "already", "norm.py", "--replace")
    assert files_of(tmp_path / "kernels") == before
    assert kw("understand", "other.py", "--replace").returncode == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(x:\n    return x\n", ["bad.py:1"]),
        ("import torch\n\n\ndef f(x):\n    return torch.rsqr(x)\n", ["bad.py:5", "torch.rsqrt", "^"]),
        ("import torch\n\n\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n", ["bad.py:5"]),
        ("def f(x):\n    return f(x)\n", ["bad.py:2"]),
        ("", ["bad.py"]),
    ],
    ids=["syntax error", "unknown call", "data-dependent control flow", "recursion", "empty file"],
)
def test_source_that_cannot_be_read_is_refused_at_its_place_and_leaves_nothing(kw, tmp_path, text, words):
    (tmp_path / "bad.py").write_text(text)
    assert_refused(kw("understand", "bad.py", "--quiet"), *words)
    assert_nothing_written(tmp_path)


def test_shapes_that_do_not_fit_are_refused_at_their_place(kw, tmp_path):
    (tmp_path / "bad.py").write_text(
        "import torch\n\n\ndef f(x, y):\n    return x + y\n\n\n"
        "def get_inputs():\n    return [torch.randn(4, 5), torch.randn(4, 6)]\n"
    )
    assert_refused(kw("understand", "bad.py", "--quiet"), "bad.py:5")
    assert_nothing_written(tmp_path)


def test_files_that_are_no_source_are_refused(kw, tmp_path):
    (tmp_path / "binary.py").write_bytes(bytes(range(256)))
    with open(tmp_path / "large.py", "wb") as file:
        file.truncate(100 << 20)
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    for name in ("missing.py", "binary.py", "large.py", "folder.py", "pipe.py", "missing.kw", "missing.json"):
        assert_refused(kw("understand", name, "--quiet"), name)
    assert_nothing_written(tmp_path)


@pytest.mark.parametrize("text", ["op", "op f(x: T[n])\n  y = nope(x)\nreturn y\n", "op f(x: T[n])\nreturn z\n", ""])
def test_bad_math_is_refused_and_leaves_nothing(kw, tmp_path, text):
    assert_refused(kw("understand", "--math", text, "--quiet"), "error")
    assert_nothing_written(tmp_path)


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"schema": 99}', "null"])
def test_a_bad_exported_graph_is_refused_and_leaves_nothing(kw, tmp_path, text):
    (tmp_path / "graph.json").write_text(text)
    assert_refused(kw("understand", "graph.json", "--quiet"), "graph.json")
    assert_nothing_written(tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["norm.py", "--math", MATH],
        ["norm.py", "--shape", "x"],
        ["norm.py", "--shape", "=3"],
        ["norm.py", "--shape", "x=4,,8"],
        ["norm.py", "--dtype", "x=bf17"],
        ["norm.py", "--dtype", "nothing=bf16"],
        ["norm.py", "--init", "nothing=1"],
        ["norm.py", "--init", "eps=1", "--init", "eps=2"],
        ["norm.py", "--name", "../up"],
        ["norm.py", "--name", "Upper Case"],
        ["norm.py:NoSuchName"],
        ["three words without meaning"],
    ],
)
def test_bad_options_are_refused_and_leave_nothing(kw, tmp_path, arguments):
    (tmp_path / "norm.py").write_text(NORM)
    assert_refused(kw("understand", *arguments, "--quiet"), "error")
    assert_nothing_written(tmp_path)


def test_a_phrase_that_could_mean_two_things_is_answered_with_the_choices(kw, tmp_path):
    assert_refused(kw("understand", "gelu", "--quiet"), "could mean 2 things", "gelu_erf", "gelu_tanh", code=3)
    assert_nothing_written(tmp_path)


def test_a_workspace_that_cannot_be_written_is_refused_and_left_alone(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    (tmp_path / "file").write_text("")
    assert_refused(kw("understand", "norm.py", "--quiet", "--workspace", "file"), "file")
    (tmp_path / "kernels").write_text("")
    assert_refused(kw("understand", "norm.py", "--quiet"), "kernels")
    assert (tmp_path / "kernels").read_text() == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_workspace_is_refused(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert_refused(kw("understand", "norm.py", "--quiet", "--workspace", "locked"), "locked")


def test_every_example_is_understood(kw, tmp_path):
    for path in sorted((ROOT / "examples").glob("*.py")):
        finished = kw("understand", path, "--quiet", "--json")
        assert finished.returncode == 0, (path.name, finished.stdout)
    assert len(json.loads(kw("list", "--json").stdout)["kernels"]) == len(list((ROOT / "examples").glob("*.py")))


def test_an_option_is_no_file_of_the_source(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    finished = kw("understand", "norm.py", "--init", "eps=1e-3")
    assert finished.returncode == 0, finished.stderr
    files = set(files_of(tmp_path / "kernels" / "rms_norm"))
    assert files == {"profile.yaml", "reference.py", "schedules.yaml", "source.py"}


def test_parameters_of_a_sequence_and_names_of_any_script_are_kept(kw, tmp_path):
    (tmp_path / "gate.py").write_text(
        "import torch\nfrom torch import nn\n\n\nclass Gate(nn.Module):\n    def __init__(self, dim: int = 64):\n"
        "        super().__init__()\n"
        "        self.net = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.LayerNorm(dim))\n\n"
        "    def forward(self, x, γ):\n        return x * self.net(x) * γ\n"
    )
    finished = kw("understand", "gate.py", "--json")
    assert finished.returncode == 0, finished.stdout
    decisions = json.loads(finished.stdout)["decisions"]
    assert "shape.net.0.weight" in decisions and "shape.net.2.bias" in decisions and "shape.γ" in decisions
