"""`kw act NAME... --into package:DIR` as a user calls it: the folder, and what is refused."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def understood(kw):
    for name in ("swiglu", "softmax"):
        assert kw("understand", ROOT / "examples" / f"{name}.py").returncode == 0


def files_in(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_several_kernels_make_one_package_of_legal_files(kw, understood, tmp_path):
    run = kw("act", "swiglu", "softmax", "--into", "package:out/my-kernels", "--yes", "--json")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert (answer["package"], answer["kernels"]) == ("my_kernels", ["swiglu", "softmax"])
    files = files_in(tmp_path / "out" / "my-kernels")
    assert sorted(files) == sorted(answer["files"])
    assert {"pyproject.toml", "csrc/swiglu.cpp", "csrc/cuda/softmax_forward.cu", "my_kernels/softmax.py"} <= set(files)
    for path, text in files.items():
        assert b"KW_NAME" not in text and b"KW_STATEMENTS" not in text, path
        if path.endswith(".py"):
            ast.parse(text)


def test_the_same_profiles_give_the_same_bytes(kw, understood, tmp_path):
    for folder in ("a/same", "b/same"):
        assert kw("act", "swiglu", "softmax", "--into", f"package:{folder}", "--yes").returncode == 0
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


def test_a_package_for_the_cpu_alone_has_no_cuda(kw, understood, tmp_path):
    assert kw("act", "swiglu", "--target", "cpu", "--into", "package:cpu_only", "--yes").returncode == 0
    assert not (tmp_path / "cpu_only" / "csrc" / "cuda").exists()


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (("swiglu", "softmax"), 2, "several kernels at once can only become a package or a library"),
        (("swiglu", "--into", "wheel:out", "--yes"), 2, "'wheel:out' is no place for a file set"),
        (("swiglu", "--into", "package:2fast", "--yes"), 2, "'2fast' is no name for a Python package"),
        (("swiglu", "swiglu", "--into", "package:out", "--yes"), 2, "two kernels are called swiglu"),
        (("missing", "--into", "package:out", "--yes"), 2, "there is no kernel 'missing'"),
        (("swiglu", "--target", "cpu,gpu", "--into", "package:out", "--yes"), 2, "gpu"),
        (("swiglu", "--into", "package:out"), 3, "the profile of swiglu is not approved yet"),
    ],
)
def test_what_cannot_become_a_package_is_refused_and_writes_nothing(kw, understood, tmp_path, arguments, code, words):
    run = kw("act", *arguments)
    assert run.returncode == code
    assert words in run.stderr
    assert not (tmp_path / "out").exists()


SCALED = """
import torch
class Scaled(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * FACTOR
def get_inputs():
    return [torch.randn(8, 6)]
"""


def test_two_modules_of_one_name_are_refused_until_one_has_another(kw, tmp_path):
    for name, factor in (("twice", "2"), ("thrice", "3")):
        (tmp_path / f"{name}.py").write_text(SCALED.replace("FACTOR", factor))
        assert kw("understand", f"{name}.py", "--name", name).returncode == 0
    package = ("act", "twice", "thrice", "--into", "package:out", "--target", "cpu", "--yes")
    run = kw(*package)
    assert run.returncode == 2 and "two kernels have a module Scaled, the second is thrice" in run.stderr
    assert "kw set thrice name.module=" in run.stderr and not (tmp_path / "out").exists()
    assert kw("set", "thrice", "name.module=Thrice").returncode == 0
    assert kw(*package).returncode == 0
    text = (tmp_path / "out/out/__init__.py").read_text()
    assert "import Scaled, twice" in text and "import Thrice, thrice" in text


def test_a_folder_that_holds_something_else_keeps_it(kw, understood, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/pyproject.toml").write_text("[project]\n")
    run = kw("act", "swiglu", "--into", "package:mine", "--yes")
    assert run.returncode == 2 and "mine/pyproject.toml is there already" in run.stderr
    assert [path.name for path in (tmp_path / "mine").rglob("*")] == ["pyproject.toml"]
    assert (tmp_path / "mine/pyproject.toml").read_text() == "[project]\n"


def test_a_package_is_written_again_over_itself(kw, understood, tmp_path):
    for _ in range(2):
        run = kw("act", "swiglu", "--into", "package:again", "--yes")
        assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("into", ["package:out", "cpp:out"])
def test_a_gradient_in_the_memory_of_another_is_refused_and_the_hint_is_the_way_out(kw, understood, tmp_path, into):
    assert kw("set", "swiglu", "aliases=grad_gate in d_y").returncode == 0
    run = kw("act", "swiglu", "--into", into, "--yes")
    assert run.returncode == 2 and "grad_gate takes the memory of d_y" in run.stderr
    hint = next(line for line in run.stderr.splitlines() if line.startswith("hint: kw "))
    assert not (tmp_path / "out").exists()
    assert kw(*hint.removeprefix("hint: kw ").split()).returncode == 0
    assert kw("act", "swiglu", "--into", into, "--yes").returncode == 0


BIASED = """import torch
from torch import nn


class Biased(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(hidden, dtype=torch.bfloat16))

    def forward(self, x):
        return torch.relu(x + self.bias)


def get_init_inputs():
    return [64]


def get_inputs():
    return [torch.randn(8, 64, dtype=torch.bfloat16)]
"""


def test_a_backward_pass_that_shows_no_type_of_a_weight_is_handed_the_weight(kw, tmp_path):
    (tmp_path / "biased.py").write_text(BIASED)
    assert kw("understand", "biased.py").returncode == 0
    assert kw("act", "biased", "--into", "package:out", "--yes").returncode == 0
    op = (tmp_path / "out/out/biased.py").read_text()
    assert re.search(r"def _backward_shapes\(.*, bias\):", op)
    assert "bias.dtype" in op[op.index("def _backward_shapes") : op.index("class ")]


HELD = """schema: 1
schedules:
  - {target: cuda, machine: sm_90, pass: forward, family: row, parameters: {rare_kernels: 1}, evidence: none}
"""


def test_a_package_leaves_out_kernels_that_compile_for_long_unless_a_schedule_asks_for_them(kw, understood, tmp_path):
    def ragged():
        assert kw("act", "softmax", "--into", "package:lean", "--yes").returncode == 0
        text = (tmp_path / "lean" / "csrc" / "cuda" / "softmax_forward.cu").read_text()
        return re.findall(r"void softmax_forward(\w*)_ragged\(", text)

    assert ragged() == ["_short", "_streamed"]
    (tmp_path / "kernels" / "softmax" / "schedules.yaml").write_text(HELD)
    assert ragged() == ["_short", "", "_long", "_longest", "_wide", "_streamed"]


def test_a_package_has_kernels_for_rows_that_begin_anywhere_where_all_tensors_are_of_one_width(kw, tmp_path):
    assert kw("understand", ROOT / "examples/layer_norm.py").returncode == 0
    assert kw("act", "layer_norm", "--into", "package:lean", "--yes").returncode == 0
    text = (tmp_path / "lean" / "csrc" / "cuda" / "layer_norm_backward.cu").read_text()
    bodies = dict(re.findall(r"^void layer_norm_backward(\w*)\(.*?\{\n(.*?)^\}", text, re.M | re.S))
    asks = {name for name, body in bodies.items() if re.search(r"if constexpr \(.*sizeof\(T\) == sizeof\(W\)\)", body)}
    assert asks == {name for name in bodies if name.endswith("_ragged")} == {"_short_ragged", "_streamed_ragged"}
    calls = (tmp_path / "lean" / "csrc" / "layer_norm.cpp").read_text()
    for name in asks:
        condition = calls[: calls.index(f"// layer_norm_backward{name}\n")].rsplit("if (", 1)[1]
        assert re.search(r"kw_host::bytes\(\w+\) == kw_host::bytes\(weight\)", re.sub(r"\s+", " ", condition))


def test_a_kernel_that_is_not_verified_as_it_is_now_is_named(kw, understood, tmp_path):
    run = kw("act", "softmax", "--into", "package:out", "--target", "cpu", "--yes")
    assert run.returncode == 0
    assert "note: softmax is not verified as it is now: kw verify softmax\nnext: " in run.stdout
    assert kw("act", "softmax").returncode == 0
    assert kw("verify", "softmax", "--own-types", "--no-timing").returncode == 0
    for into in ("package:out", "cpp:library"):
        run = kw("act", "softmax", "--into", into, "--target", "cpu", "--json")
        assert json.loads(run.stdout)["unverified"] == []
