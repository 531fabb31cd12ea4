"""kw act: from an approved profile to files and their manifest, whole or not at all."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_understand import NORM, files_of


@pytest.fixture
def norm(kw, tmp_path):
    """A workspace with one approved kernel, rms_norm; gives its folder."""
    (tmp_path / "norm.py").write_text(NORM)
    assert kw("understand", "norm.py").returncode == 0
    assert kw("approve", "rms_norm", "--yes").returncode == 0
    return tmp_path / "kernels" / "rms_norm"


def test_an_approved_profile_becomes_kernels_headers_and_a_manifest(kw, norm):
    finished = kw("act", "rms_norm", "--quiet")
    assert (finished.returncode, finished.stderr) == (0, "")
    folder = norm / "act" / "cpu"
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"rms_norm_forward.cpp", "rms_norm_backward.cpp", "manifest.json", "kw/element.h"} <= names
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["name"] == "rms_norm" and manifest["target"] == "cpu"
    assert "kw verify rms_norm" in finished.stdout
    assert "kw verify rms_norm" in kw("status", "rms_norm").stdout


def test_the_files_compile_where_they_lie(kw, norm):
    kw("act", "rms_norm")
    for name in ("rms_norm_forward.cpp", "rms_norm_backward.cpp"):
        compiled = subprocess.run(
            ["g++", "-std=c++20", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-DKW_T=kw::bf16", "-DKW_W=float",
             "-include", "kw/element.h", "-I", ".", "-fsyntax-only", name],
            cwd=norm / "act" / "cpu", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert compiled.returncode == 0, compiled.stderr


def test_the_json_answer_lists_what_was_written(kw, norm):
    answer = json.loads(kw("act", "rms_norm", "--json").stdout)
    assert answer["name"] == "rms_norm" and answer["target"] == "cpu"
    written = {path.relative_to(norm).as_posix() for path in (norm / "act").rglob("*") if path.is_file()}
    assert set(answer["files"]) == written


def test_the_review_lists_exactly_what_act_writes(kw, norm):
    listed = json.loads(kw("review", "rms_norm", "--json").stdout)["files"]
    for target in ("cpu", "triton"):
        answer = json.loads(kw("act", "rms_norm", "--target", target, "--json").stdout)
        written = {path for path in answer["files"] if "/kw/" not in path}
        assert written == {path for path in listed if path.startswith(f"act/{target}/")}


@pytest.mark.parametrize(
    "env",
    [{"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}, {"OMP_NUM_THREADS": "1"}, {"TZ": "Asia/Tokyo"}],
)
def test_the_same_profile_gives_the_same_bytes_anywhere(kw, norm, env):
    kw("act", "rms_norm")
    before = files_of(norm)
    assert kw("generate", "rms_norm", env={**os.environ, **env}).returncode == 0
    assert files_of(norm) == before


def test_the_list_of_shapes_does_not_reach_the_bytes(kw, norm):
    kw("act", "rms_norm")
    before = {path.name: path.read_bytes() for path in (norm / "act" / "cpu").glob("*.*")}
    assert kw("set", "rms_norm", "shapes.test=x_0=3 hidden=5").returncode == 0
    assert kw("act", "rms_norm", "--yes").returncode == 0
    assert {path.name: path.read_bytes() for path in (norm / "act" / "cpu").glob("*.*")} == before


def test_a_profile_that_no_one_approved_is_not_acted_on(kw, tmp_path):
    (tmp_path / "norm.py").write_text(NORM)
    kw("understand", "norm.py")
    finished = kw("act", "rms_norm", "--quiet")
    assert (finished.returncode, finished.stdout) == (3, "")
    assert "not approved" in finished.stderr and "kw approve rms_norm" in finished.stderr
    assert not (tmp_path / "kernels" / "rms_norm" / "act").exists()


def test_a_stale_approval_is_not_enough_and_yes_renews_it(kw, norm):
    kw("act", "rms_norm")
    before = files_of(norm / "act")
    kw("set", "rms_norm", "casting=gemma")
    finished = kw("act", "rms_norm", "--quiet")
    assert finished.returncode == 3 and "changed since it was approved" in finished.stderr
    assert files_of(norm / "act") == before
    assert kw("act", "rms_norm", "--yes").returncode == 0
    assert files_of(norm / "act") != before
    assert json.loads((norm / "approvals.jsonl").read_text().splitlines()[-1])["by"] == "--yes"


def test_what_an_earlier_act_wrote_and_this_one_does_not_is_removed(kw, norm):
    kw("act", "rms_norm")
    (norm / "act" / "cpu" / "notes.txt").write_text("mine")
    assert kw("set", "rms_norm", "name.function=other_norm").returncode == 0
    kw("act", "rms_norm", "--yes")
    names = {path.name for path in (norm / "act" / "cpu").iterdir()}
    assert {"other_norm_forward.cpp", "other_norm_backward.cpp", "notes.txt"} <= names
    assert "rms_norm_forward.cpp" not in names


def test_an_op_that_is_not_generated_yet_is_refused_with_its_line(kw, tmp_path):
    (tmp_path / "scan.py").write_text("import torch\n\n\ndef scan(x: torch.Tensor):\n    return x.cumsum(-1)\n")
    understood = kw("understand", "scan.py")
    assert understood.returncode == 0 and "no kernels are generated for tier 3 yet" in understood.stdout
    kw("approve", "scan", "--yes")
    finished = kw("act", "scan", "--quiet")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "rule scan" in finished.stderr and "profile.yaml:" in finished.stderr and "cumsum" in finished.stderr
    assert not (tmp_path / "kernels" / "scan" / "act").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["act"], 2, ["NAME"]),
        (["act", "rms_nrom"], 2, ["did you mean rms_norm"]),
        (["act", "../rms_norm"], 2, ["cannot be a kernel's name"]),
        (["act", "rms_norm", "--target", "fpga"], 2, ["there is no target fpga", "cpu, cuda or triton"]),
        (["act", "rms_norm", "--taget", "cpu"], 2, ["--taget"]),
    ],
)
def test_bad_usage_is_answered_and_writes_nothing(kw, norm, arguments, code, words):
    finished = kw(*arguments, "--quiet")
    assert (finished.returncode, finished.stdout) == (code, "")
    for word in words:
        assert word in finished.stderr
    assert not (norm / "act").exists()


def test_a_folder_that_cannot_be_written_is_an_error_and_nothing_changes(kw, norm):
    (norm / "act").write_text("a file where the folder should be")
    finished = kw("act", "rms_norm", "--quiet")
    assert finished.returncode == 2 and "cannot write here" in finished.stderr
    assert (norm / "act").read_text() == "a file where the folder should be"


def test_a_schedule_that_makes_no_sense_is_refused(kw, norm):
    row = {
        "target": "cpu", "machine": "x86-64", "types": {}, "guard": "", "pass": "forward", "family": "row",
        "parameters": {"tiel": "512"}, "evidence": "",
    }  # fmt: skip
    lines = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in row.items())
    (norm / "schedules.yaml").write_text("schema: 1\nschedules:\n" + lines.replace("    target", "  - target", 1))
    finished = kw("act", "rms_norm", "--quiet")
    assert finished.returncode == 2, finished.stdout
    assert "tile" in finished.stderr


def test_files_are_approved_as_they_stand(kw, norm):
    assert kw("approve", "rms_norm", "--stage", "files").returncode == 3
    kw("act", "rms_norm")
    first = json.loads(kw("approve", "rms_norm", "--stage", "files", "--json").stdout)
    assert first["stage"] == "files" and len(first["hash"]) == 64
    with (norm / "act" / "cpu" / "rms_norm_forward.cpp").open("a") as file:
        file.write("// edited\n")
    assert json.loads(kw("approve", "rms_norm", "--stage", "files", "--json").stdout)["hash"] != first["hash"]


def test_files_that_someone_edited_are_not_written_over_without_a_word(kw, norm):
    kw("act", "rms_norm")
    file = norm / "act" / "cpu" / "rms_norm_forward.cpp"
    made = file.read_text()
    file.write_text(made + "// mine\n")
    refused = kw("act", "rms_norm", "--quiet")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "edited since kw act made them" in refused.stderr and "kw act rms_norm --replace" in refused.stderr
    assert kw("regen", "rms_norm", "--quiet").returncode == 2
    assert file.read_text().endswith("// mine\n")
    assert kw("act", "rms_norm", "--replace").returncode == 0
    assert file.read_text() == made
    assert kw("act", "rms_norm").returncode == 0  # what act made itself it may make again


@pytest.mark.parametrize("break_it", [lambda path: path.write_text("{"), lambda path: path.unlink()])
@pytest.mark.parametrize("name", ["manifest.json", "rms_norm_backward.cpp"])
def test_an_edit_beside_a_broken_or_missing_file_is_kept(kw, norm, name, break_it):
    kw("act", "rms_norm")
    folder = norm / "act" / "cpu"
    made = files_of(folder)
    with (folder / "rms_norm_forward.cpp").open("a") as file:
        file.write("// mine\n")
    break_it(folder / name)
    before = files_of(folder)
    refused = kw("act", "rms_norm", "--quiet")
    assert refused.returncode == 2 and "--replace" in refused.stderr
    assert files_of(folder) == before
    assert kw("act", "rms_norm", "--replace").returncode == 0 and files_of(folder) == made


def test_a_folder_that_someone_removed_is_written_again(kw, norm):
    kw("act", "rms_norm")
    made = files_of(norm / "act")
    shutil.rmtree(norm / "act" / "cpu")
    assert kw("act", "rms_norm").returncode == 0 and files_of(norm / "act") == made


def test_an_approval_says_what_comes_next(kw, norm):
    assert "next: kw act rms_norm\n" in kw("approve", "rms_norm", "--yes").stdout
    kw("act", "rms_norm")
    assert "next: kw verify rms_norm\n" in kw("approve", "rms_norm", "--stage", "files", "--yes").stdout


def test_kernels_of_one_triton_pass_may_have_sums_of_the_same_name(kw):
    example = Path(__file__).resolve().parents[2] / "examples/rope_half.py"
    assert kw("understand", str(example)).returncode == 0
    done = kw("act", "rope_half", "--target", "triton", "--yes")
    assert done.returncode == 0, done.stderr


CHOSEN = "  m = reduce_max(v, cols)\n  y = T(select(m <= v, v, 0))\nreturn y\n"
COMPARED = {
    # In T itself; by another kernel, for which the extreme was saved; of three factors; chosen by a combine.
    "own": ("x: T[rows, cols], w: T[rows, cols]", "  v = x*w + x\n" + CHOSEN),
    "saved": ("x: T[rows, cols], w: T[cols]", "  v = wide(x)*wide(w) + wide(x)\n" + CHOSEN),
    "factors": (
        "x: T[rows, cols], p: T[rows], q: T[rows]",
        "  v = wide(x)*wide(p)*wide(q)\n  m = reduce_max(v, cols)\nreturn m\n",
    ),
    "combined": (
        "x: no_grad T[rows, cols], w: no_grad T[cols]",
        "  combine larger(a: f32, b: f32) from (-inf)\n    m = max(a, b)\n  return m\n"
        "  v = f32(x)*f32(w) + f32(x)\n  m = reduce(larger, v, cols)\nreturn m\n",
    ),
}


@pytest.mark.parametrize("name", COMPARED)
def test_products_that_are_compared_are_the_same_number_in_every_kernel(kw, tmp_path, name):
    """Fused with a sum in one loop and not in the other, or multiplied in another order, no value is the extreme."""
    inputs, math = COMPARED[name]
    head = f"op {name}({inputs})\n  types T = f32\n  sizes rows = 64, cols = 512\n"
    (tmp_path / "op.kw").write_text(head + math)
    assert kw("understand", "op.kw", "--name", name).returncode == 0
    assert kw("act", name, "--target", "cuda", "--yes").returncode == 0
    folder = tmp_path / f"kernels/{name}/act/cuda"
    forward = (folder / f"{name}_forward.cu").read_text()
    if name == "combined":
        assert "kw::unfused(x_i * float(w_v[k])) + x_i" in forward  # whoever compares may be another kernel
        return
    backward = (folder / f"{name}_backward.cu").read_text()
    if name == "own":
        assert "kw::products" not in forward and "kw::unfused(T32(x_v[v][k]) * T32(w_v[v][k]))" in forward
    elif name == "saved":
        assert "m_i <= v" in backward and "kw::unfused(x_i * w_i) + " in backward
        assert "kw::unfused(x_i * T32(w_v[k])) + x_i" in forward
    else:
        assert "kw::unfused(kw::unfused(T32(x_v[v][k]) * p_i) * q_i)" in forward
        assert "kw::unfused(x_i * p_i)" in backward and "kw::unfused(product * q_i)" in backward


def test_only_a_two_is_multiplied_with_a_row_ahead_of_its_elements(kw, tmp_path):
    """p * q and 4.0 * q may overflow, or lose bits below the type's range, where x * p * q does neither."""
    factors = ", ".join(f"{name}: f32[rows]" for name in "pqrs")
    head = f"op scaled(x: f32[rows, cols], {factors})\n  sizes rows = 64, cols = 512\n"
    math = "  d = x - sum(x, cols)\n  y = d*p*q + 2.0*(d*r)\n  z = 4.0*(d*s)\nreturn y, z\n"
    (tmp_path / "op.kw").write_text(head + math)
    assert kw("understand", "op.kw", "--name", "scaled").returncode == 0
    assert kw("act", "scaled", "--target", "cuda", "--yes").returncode == 0
    forward = (tmp_path / "kernels/scaled/act/cuda/scaled_forward.cu").read_text()
    assert "d * p_i * q_i" in forward, forward
    assert "factor = 2.0f * r_i;" in forward and forward.count("factor") == 2 and "4.0f * s_i" not in forward, forward


GATED = """import torch
from torch import nn


class GatedTanh(nn.Module):
    def __init__(self, hidden=512, eps=1e-5):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(hidden))
        self.eps = eps

    def forward(self, x, gate):
        h = torch.tanh(x * self.scale) * torch.sigmoid(gate)
        rms = torch.sqrt(h.float().pow(2).mean(dim=-1, keepdim=True) + self.eps)
        return (h.float() / rms).to(x.dtype), rms.squeeze(-1)
"""


def test_where_registers_hold_no_vector_of_every_tensor_no_kernel_is_made_of_none(kw, tmp_path):
    (tmp_path / "gated.py").write_text(GATED)
    assert kw("understand", "gated.py", "--name", "gated").returncode == 0
    assert kw("act", "gated", "--target", "cuda", "--yes").returncode == 0
    folder = tmp_path / "kernels/gated/act/cuda"
    assert not re.search(r"\b0//", (folder / "manifest.json").read_text())
    assert "most_in<32, 0" not in (folder / "gated_backward.cu").read_text()
    run = kw("verify", "gated", "--target", "cuda", "--own-types", "--no-timing", "--json")
    report = json.loads(run.stdout)
    assert run.returncode == 0 and report["attempt"] == 1
    assert not any("does not pass" in note for note in report["notes"]), report["notes"]
