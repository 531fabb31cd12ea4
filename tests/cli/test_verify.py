"""`kw verify` as a user calls it: generated kernels, kernels by hand, three strikes, exit codes."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
REPORT = json.loads((ROOT / "schema" / "report.schema.json").read_text())

RELU = "op relu(x: no_grad T[rows, cols])\n  types T = f32\n  sizes rows = 64, cols = 48\n  y = max(x, 0.0)\nreturn y\n"
RIGHT = """#include <cstdint>
void relu_forward(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = x[i] <= 0 ? 0 : x[i];
}
"""
WRONG = RIGHT.replace("x[i] <= 0 ? 0 : x[i]", "x[i] > 0 ? x[i] : 0")  # loses NaN
REFERENCE = """import torch
def relu(x):
    return torch.relu(x)
def get_inputs():
    return [torch.randn(64, 48)]
"""


@pytest.fixture
def relu(kw, tmp_path):
    """A workspace with the approved profile of relu."""
    (tmp_path / "relu.kw").write_text(RELU)
    assert kw("understand", "relu.kw").returncode == 0
    assert kw("approve", "relu", "--yes").returncode == 0
    return tmp_path


def gates(report):
    return {gate["name"]: gate["outcome"] for gate in report["gates"]}


def test_generated_kernels_are_verified_and_the_report_fits_its_schema(kw, relu):
    run = kw("verify", "relu", "--own-types", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(run.stdout)["passed"]
    report = json.loads((relu / "kernels/relu/verify/report.json").read_text())
    jsonschema.validate(report, REPORT)
    assert set(gates(report).values()) <= {"passed", "skipped", "flagged"}
    assert gates(report)["error"] == gates(report)["outside"] == gates(report)["deterministic"] == "passed"
    assert "# relu on cpu: verified" in (relu / "kernels/relu/verify/report.md").read_text()


def test_every_run_draws_values_of_its_own_and_a_seed_draws_the_same_again(kw, relu):
    def seed_of(*options):
        return json.loads(kw("verify", "relu", "--own-types", "--no-timing", "--json", *options).stdout)["seed"]

    first = seed_of()
    assert seed_of() != first
    assert seed_of("--seed", first) == first


def test_a_profile_that_is_not_approved_is_not_verified(kw, tmp_path):
    (tmp_path / "relu.kw").write_text(RELU)
    kw("understand", "relu.kw")
    run = kw("verify", "relu")
    assert run.returncode == 3
    assert "is not approved yet" in run.stderr and "kw approve relu" in run.stderr


def test_a_kernel_by_hand_is_verified_against_a_profile(kw, relu):
    (relu / "relu.cpp").write_text(RIGHT)
    run = kw("verify", "relu", "--kernel", "relu.cpp", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "the contract is from the signature" in json.loads(run.stdout)["notes"]


def test_a_kernel_by_hand_is_verified_against_a_reference_alone(kw, tmp_path):
    (tmp_path / "relu.cpp").write_text(
        RIGHT.replace("relu_forward", "relu_forward")
        + """
void relu_backward(const float* x, const float* d_y, float* grad_x, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows * cols; ++i) grad_x[i] = x[i] <= 0 ? 0 : d_y[i];
}
"""
    )
    (tmp_path / "ref.py").write_text(REFERENCE)
    run = kw("verify", "--kernel", "relu.cpp", "--reference", "ref.py", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads((tmp_path / "verify/relu/report.json").read_text())
    jsonschema.validate(report, REPORT)
    assert gates(report)["gradient"] == "passed"


def test_after_three_failures_nothing_more_is_tried_until_the_kernel_changes(kw, relu):
    (relu / "relu.cpp").write_text(WRONG)
    for attempt in (1, 2, 3):
        run = kw("verify", "relu", "--kernel", "relu.cpp", "--json")
        assert run.returncode == 1
        report = json.loads(run.stdout)
        assert report["attempt"] == attempt and gates(report)["error"] == "failed"
    run = kw("verify", "relu", "--kernel", "relu.cpp")
    assert run.returncode == 1
    assert "failed 3 times on cpu (error the last time)" in run.stderr
    assert len((relu / "kernels/relu/verify/attempts.jsonl").read_text().splitlines()) == 3
    (relu / "relu.cpp").write_text(RIGHT)
    assert kw("verify", "relu", "--kernel", "relu.cpp").returncode == 0


def test_after_three_failures_another_profile_is_tried_anew(kw, relu):
    (relu / "relu.cpp").write_text(WRONG)
    verify = ("verify", "relu", "--kernel", "relu.cpp", "--own-types", "--no-timing", "--json")
    for attempt in (1, 2, 3):
        assert json.loads(kw(*verify).stdout)["attempt"] == attempt
    assert "failed 3 times on cpu" in kw(*verify).stdout
    assert kw("set", "relu", "deterministic=no").returncode == 0
    assert kw("approve", "relu", "--yes").returncode == 0
    again = kw(*verify)
    assert again.returncode == 1 and json.loads(again.stdout)["attempt"] == 1, again.stderr
    tried = [json.loads(line) for line in (relu / "kernels/relu/verify/attempts.jsonl").read_text().splitlines()]
    assert len(tried) == 4 and len({attempt["kernel"] for attempt in tried}) == 1


def test_a_failure_names_the_gate_and_the_case(kw, relu):
    (relu / "relu.cpp").write_text(WRONG)
    run = kw("verify", "relu", "--kernel", "relu.cpp")
    assert run.returncode == 1
    assert "NOT verified" in run.stdout and "FAIL error" in run.stdout and "NaN values" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["verify"], 2, "what is to be verified?"),
        (["verify", "nothing"], 2, "there is no kernel"),
        (["verify", "relu", "--target", "tpu"], 2, "there is no target tpu"),
        (["verify", "relu", "--kernel", "absent.cpp"], 2, "absent.cpp"),
        (["verify", "relu", "--manifest", "m.json"], 2, "--manifest needs --kernel"),
        (["verify", "--reference", "ref.py"], 2, "--reference needs --kernel"),
        (["verify", "relu", "--kernel", "relu.cpp", "--reference", "ref.py"], 2, "not both"),
        (["verify", "relu", "--seed", "xyz"], 2, "hexadecimal"),
    ],
)
def test_bad_usage_is_told(kw, relu, arguments, code, words):
    (relu / "relu.cpp").write_text(RIGHT)
    run = kw(*arguments)
    assert run.returncode == code
    assert words in run.stderr


def test_a_manifest_that_is_wrong_is_blamed_by_line(kw, relu):
    (relu / "relu.cpp").write_text(RIGHT)
    (relu / "m.json").write_text('{\n  "schema": 1,\n  "name": "relu",\n  "target": "abacus"\n}\n')
    run = kw("verify", "relu", "--kernel", "relu.cpp", "--manifest", "m.json")
    assert run.returncode == 2
    assert "m.json:4" in run.stderr


def test_a_manifest_in_a_file_of_its_own_says_how_the_kernel_is_called(kw, relu):
    (relu / "relu.cpp").write_text(RIGHT.replace("void relu_forward", 'extern "C" void rectified'))
    matrix = {"type": "T", "shape": ["rows", "cols"]}
    arguments = [
        {"kind": "read", "of": "x"}, {"kind": "write", "of": "y"},
        {"kind": "size", "of": "rows"}, {"kind": "size", "of": "cols"},
    ]  # fmt: skip
    entry = {"symbol": "rectified", "file": "relu.cpp", "arguments": arguments, "guards": ["dense(x)"]}
    forward = {
        "name": "forward",
        "buffers": [{"name": "x", "role": "input", **matrix}, {"name": "y", "role": "output", **matrix}],
        "steps": [{"kind": "kernel", "entries": [entry]}],
    }
    manifest = {"schema": 1, "name": "relu", "target": "cpu", "sizes": ["rows", "cols"], "types": {"T": ["f32"]}}
    (relu / "contract.json").write_text(json.dumps(manifest | {"passes": [forward]}))
    verify = ("verify", "relu", "--kernel", "relu.cpp", "--own-types", "--no-timing", "--json")
    run = kw(*verify, "--manifest", "contract.json")
    assert run.returncode == 0, run.stdout + run.stderr
    assert any("the contract is from" in note and "contract.json" in note for note in json.loads(run.stdout)["notes"])
    without = kw(*verify)
    assert without.returncode == 2 and "relu.cpp has no function relu_forward" in without.stdout


def test_a_misread_source_is_caught_by_torch(kw, relu):
    """The profile says one thing, the source that it was read from another."""
    pytest.importorskip("torch")
    (relu / "ref.py").write_text(REFERENCE)
    kw("understand", "ref.py", "--name", "ramp")
    kw("approve", "ramp", "--yes")
    source = relu / "kernels/ramp/source.py"
    source.write_text(source.read_text().replace("torch.relu(x)", "torch.nn.functional.leaky_relu(x)"))
    run = kw("verify", "ramp", "--own-types", "--json")
    assert run.returncode == 1, run.stdout + run.stderr
    assert gates(json.loads(run.stdout))["torch"] == "failed"


def test_files_that_were_edited_are_judged_as_they_are(kw, relu):
    assert kw("act", "relu").returncode == 0
    path = relu / "kernels/relu/act/cpu/relu_forward.cpp"
    text = path.read_text()
    changed = text.replace("(tile, end, [", "(tile, end - 1, [", 1)
    assert changed != text
    path.write_text(changed)
    run = kw("verify", "relu", "--own-types", "--json")
    assert run.returncode == 1, run.stdout
    report = json.loads(run.stdout)
    assert report["notes"] == ["the files in act/cpu are not what the profile generates"]
    assert gates(report)["written"] == "failed"


SLOW = """// Right, and slower than any library: every element is computed many times.
#include <cstdint>
void relu_forward(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows * cols; ++i)
    for (volatile int again = 0; again < 20; again = again + 1) y[i] = x[i] <= 0 ? 0 : x[i];
}
void relu_backward(const float* x, const float* d_y, float* grad_x, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows * cols; ++i)
    for (volatile int again = 0; again < 20; again = again + 1) grad_x[i] = x[i] <= 0 ? 0 : d_y[i];
}
"""


def gate(report, name):
    return next(gate for gate in report["gates"] if gate["name"] == name)


def test_a_kernel_that_gains_nothing_over_eager_is_flagged_and_verified(kw, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "relu.cpp").write_text(SLOW)
    (tmp_path / "ref.py").write_text(REFERENCE.replace("64, 48", "512, 1024"))
    run = kw("verify", "--kernel", "relu.cpp", "--reference", "ref.py", "--time-limit", "60", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads((tmp_path / "verify/relu/report.json").read_text())
    jsonschema.validate(report, REPORT)
    gain = gate(report, "gain")
    assert gain["outcome"] == "flagged" and "no gain over eager" in gain["line"], gain
    assert all(row["eager_milliseconds"] > 0 for row in report["speeds"])
    # One result of 512 × 1024 floats, and the gradient of as many; the reference makes nothing else.
    assert [(row["bytes"], row["eager_bytes"]) for row in report["speeds"]] == [(2 << 20, 2 << 20)] * 2
    assert all(row["compiled_milliseconds"] == row["compiled_bytes"] == 0 for row in report["speeds"])


def test_files_of_an_earlier_profile_are_not_judged_for_the_new_one(kw, relu):
    assert kw("act", "relu").returncode == 0
    assert kw("verify", "relu", "--own-types", "--no-timing").returncode == 0
    (relu / "relu.kw").write_text(RELU.replace("0.0", "1.0"))
    assert kw("understand", "relu.kw").returncode == 0
    assert kw("approve", "relu", "--yes").returncode == 0
    status = kw("status", "relu").stdout
    assert "the files for cpu are of an earlier profile; next: kw act relu" in status
    run = kw("verify", "relu", "--own-types", "--no-timing")
    assert run.returncode != 0 and "are of an earlier profile of relu" in run.stderr and "kw act relu" in run.stderr
    assert kw("act", "relu").returncode == 0
    assert kw("verify", "relu", "--own-types", "--no-timing").returncode == 0


CONFIGURED = """
from dataclasses import dataclass
import torch
from torch import nn
@dataclass
class Config:
    width: int = 48
    eps: float = 1e-6
class Norm(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.eps = config.eps
        self.weight = nn.Parameter(torch.ones(config.width))
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight
def get_inputs():
    return [torch.randn(64, 48)]
"""


def test_a_module_that_is_made_from_a_configuration_is_run_in_pytorch_too(kw, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "norm.py").write_text(CONFIGURED)
    run = kw("dev", "norm.py:Norm", "--name", "norm", "--yes", "--own-types", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads((tmp_path / "kernels/norm/verify/report.json").read_text())
    assert gate(report, "torch")["outcome"] == "passed", gate(report, "torch")
    assert gate(report, "gain")["outcome"] in ("passed", "flagged"), gate(report, "gain")


WANTS_A_SIZE = """
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, hidden_size: int):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(hidden_size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * self.gain
"""


def test_a_module_whose_constructor_wants_a_size_is_run_in_pytorch_too(kw, tmp_path):
    (tmp_path / "scaled.py").write_text(WANTS_A_SIZE)
    assert kw("understand", "scaled.py").returncode == 0
    assert kw("approve", "scaled", "--yes").returncode == 0
    assert kw("act", "scaled").returncode == 0
    run = kw("verify", "scaled", "--own-types", "--no-timing")
    assert run.returncode == 0, run.stdout
    report = json.loads((tmp_path / "kernels/scaled/verify/report.json").read_text())
    assert gate(report, "torch")["outcome"] == "passed", gate(report, "torch")


def test_torch_compile_is_timed_where_it_is_asked_for(kw, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "relu.py").write_text(REFERENCE)
    run = kw("dev", "relu.py", "--yes", "--own-types", "--torch-compile", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads((tmp_path / "kernels/relu/verify/report.json").read_text())
    jsonschema.validate(report, REPORT)
    assert all(row["compiled_milliseconds"] > 0 and row["compiled_bytes"] > 0 for row in report["speeds"])
    assert gate(report, "gain")["outcome"] in ("passed", "flagged")


def test_without_a_source_or_timing_there_is_no_word_on_gain(kw, relu):
    for arguments in (["verify", "relu", "--own-types"], ["verify", "relu", "--own-types", "--no-timing"]):
        run = kw(*arguments, "--json")
        assert run.returncode == 0, run.stdout + run.stderr
        assert gate(json.loads(run.stdout), "gain")["outcome"] == "skipped"


def test_what_the_generator_writes_has_no_flaw_of_style(kw, relu):
    report = json.loads(kw("verify", "relu", "--own-types", "--no-timing", "--json").stdout)
    assert gate(report, "style")["outcome"] == "passed", gate(report, "style")


MATRIX = {"type": "T", "shape": ["rows", "cols"]}
DENSE = {
    "schema": 1, "name": "relu", "target": "cpu", "sizes": ["rows", "cols"], "types": {"T": ["f32"]},
    "passes": [
        {
            "name": name,
            "buffers": [
                {"name": "x", "role": "input", **MATRIX},
                *([{"name": "d_y", "role": "input", "gradient_of": "y", **MATRIX}] * back),
                {"name": out, "role": "output", **MATRIX, **of},
            ],
            "steps": [{"kind": "kernel", "entries": [{"symbol": f"relu_{name}", "file": "relu.cpp", "arguments": [
                {"kind": "read", "of": "x"}, *([{"kind": "read", "of": "d_y"}] * back), {"kind": "write", "of": out},
                {"kind": "size", "of": "rows"}, {"kind": "size", "of": "cols"},
                {"kind": "stride", "of": "x", "dimension": 0}, {"kind": "stride", "of": "x", "dimension": 1},
                *([{"kind": "stride", "of": "d_y", "dimension": d} for d in (0, 1)] * back),
            ]}]}],
        }
        for name, back, out, of in (
            ("forward", False, "y", {}), ("backward", True, "grad_x", {"gradient_of": "x"}),
        )
    ],
}  # fmt: skip
STRIDED = """// Reads any strides, and writes densely.
#include <cstdint>
using I = std::int64_t;
void relu_forward(const float* x, float* y, I rows, I cols, I x0, I x1) {
  for (I r = 0; r < rows; ++r)
    for (I c = 0; c < cols; ++c) y[r * cols + c] = x[r * x0 + c * x1] <= 0 ? 0 : x[r * x0 + c * x1];
}
void relu_backward(const float* x, const float* d_y, float* grad_x, I rows, I cols, I x0, I x1, I d0, I d1) {
  for (I r = 0; r < rows; ++r)
    for (I c = 0; c < cols; ++c) grad_x[r * cols + c] = x[r * x0 + c * x1] <= 0 ? 0 : d_y[r * d0 + c * d1];
}
"""


def test_output_strides_other_than_pytorchs_own_are_a_failure(kw, tmp_path):
    """A dense result of a transposed input: PyTorch's lies as the input does."""
    pytest.importorskip("torch")
    (tmp_path / "relu.cpp").write_text(STRIDED)
    (tmp_path / "relu.manifest.json").write_text(json.dumps(DENSE))
    (tmp_path / "ref.py").write_text(REFERENCE)
    run = kw("verify", "--kernel", "relu.cpp", "--reference", "ref.py", "--no-timing", "--json")
    assert run.returncode == 1, run.stdout + run.stderr
    strides = gate(json.loads(run.stdout), "strides")
    assert strides["outcome"] == "failed" and "and in PyTorch" in strides["line"], strides


SOFT = """op soft(x: no_grad T[rows, cols])
  types T = f32
  sizes rows = 8, cols = 64
  e = exp(wide(x) - reduce_max(wide(x), cols))
  y = T(e / sum(e, cols))
return y
"""


def test_after_a_failure_the_next_fallback_is_another_kernel(kw, tmp_path):
    """A schedule that holds more of a row than registers can makes the planned kernels spill, which is a failure."""
    (tmp_path / "soft.kw").write_text(SOFT)
    understood = kw("understand", "soft.kw")
    assert understood.returncode == 0, understood.stderr
    rows = [
        {"target": "cuda", "machine": "sm_90", "pass": "forward", "family": "row", "evidence": "a test",
         "parameters": {"row_elements": "128", "row_threads": "1024", "row_blocks": "2"}}
    ]  # fmt: skip
    (tmp_path / "kernels/soft/schedules.yaml").write_text(json.dumps({"schema": 1, "schedules": rows}))
    assert kw("approve", "soft", "--yes").returncode == 0
    run = kw("verify", "soft", "--target", "cuda", "--own-types", "--no-timing", "--json")
    report = json.loads(run.stdout)
    attempts = [json.loads(line) for line in (tmp_path / "kernels/soft/verify/attempts.jsonl").read_text().splitlines()]
    assert run.returncode == 0 and report["attempt"] == len(attempts) == 3, run.stdout
    assert [attempt["variant"] for attempt in attempts] == ["as planned", "fallback: column", "fallback: composed"]
    assert [attempt["failed"] for attempt in attempts] == [["builds"], ["builds"], []]
    assert len({attempt["kernel"] for attempt in attempts}) == 3
    assert any("takes the fallback composed" in note for note in report["notes"])
    for page in ("report.json", "report.md", "report.html"):
        assert "takes the fallback composed" in (tmp_path / "kernels/soft/verify" / page).read_text(), page

    # From now on it is the fallback that is made, and that a second verify finds right at once.
    assert kw("act", "soft", "--target", "cuda").returncode == 0
    assert kw("status", "soft", "--json").returncode == 0
    again = json.loads(kw("verify", "soft", "--target", "cuda", "--own-types", "--no-timing", "--json").stdout)
    assert again["passed"] and again["attempt"] == 1 and again["kernel_hash"] == report["kernel_hash"]
    assert "the forward is the fallback composed: the plan's kernels did not pass builds" in again["notes"]


def test_a_fallback_that_is_verified_is_what_there_is_from_then_on(kw, tmp_path):
    """Its files lie where the plan's lay, dev approves them, packages are made of them; another plan is tried anew."""
    (tmp_path / "soft.kw").write_text(SOFT)
    assert kw("understand", "soft.kw").returncode == 0
    rows = [
        {"target": "cuda", "machine": "sm_90", "pass": "forward", "family": "row", "evidence": "a test",
         "parameters": {"row_elements": "128", "row_threads": "1024", "row_blocks": "2"}}
    ]  # fmt: skip
    folder = tmp_path / "kernels/soft"
    (folder / "schedules.yaml").write_text(json.dumps({"schema": 1, "schedules": rows}))
    assert kw("dev", "soft", "--target", "cuda", "--yes").returncode == 0
    assert "done on cuda" in kw("status", "soft", "--json").stdout
    assert "instead_of" in (folder / "schedules.yaml").read_text()
    plain = (folder / "act/cuda/soft_forward.cu").read_text()
    assert "soft_forward_short" not in plain

    made = kw("act", "soft", "--target", "cuda", "--into", "package:soft_kernels")
    assert made.returncode == 0, made.stderr
    packaged = "".join(path.read_text() for path in (tmp_path / "soft_kernels/csrc").rglob("*.cu"))
    assert "soft_forward" in packaged and "soft_forward_short" not in packaged

    adopted = (folder / "schedules.yaml").read_text()
    (folder / "schedules.yaml").write_text(adopted.replace("family: composed", "family: fastest"))
    refused = kw("act", "soft", "--target", "cuda")
    assert refused.returncode == 2 and "'fastest'" in refused.stderr, refused.stderr
    assert (folder / "act/cuda/soft_forward.cu").read_text() == plain  # nothing is lost
    (folder / "schedules.yaml").write_text(adopted)

    assert kw("set", "soft", "plan.forward=column").returncode == 0
    assert kw("act", "soft", "--target", "cuda", "--yes").returncode == 0
    assert (folder / "act/cuda/soft_forward.cu").read_text() != plain


def test_after_three_failures_another_schedule_is_tried_anew(kw, tmp_path):
    """It makes other kernels of the same profile."""
    (tmp_path / "soft.kw").write_text(SOFT)
    assert kw("understand", "soft.kw").returncode == 0
    folder = tmp_path / "kernels/soft"
    spilling = {"target": "cuda", "machine": "sm_90", "pass": "forward", "family": "row", "evidence": "a test",
                "parameters": {"row_elements": "128", "row_threads": "1024", "row_blocks": "2"}}  # fmt: skip
    (folder / "schedules.yaml").write_text(json.dumps({"schema": 1, "schedules": [spilling]}))
    assert kw("approve", "soft", "--yes").returncode == 0
    verify = ("verify", "soft", "--target", "cuda", "--own-types", "--no-timing")
    assert (
        kw(*verify).returncode == 0
    )  # by the third attempt's fallback: make it a failure, and the schedule what it was
    log = folder / "verify/attempts.jsonl"
    lines = [json.loads(line) | {"failed": ["builds"]} for line in log.read_text().splitlines()]
    assert len(lines) == 3 and len({line["subject"] for line in lines}) == 1
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "schedules.yaml").write_text(json.dumps({"schema": 1, "schedules": [spilling]}))
    refused = kw(*verify)
    assert refused.returncode == 1 and "soft failed 3 times on cuda (builds the last time)" in refused.stderr
    assert len(log.read_text().splitlines()) == 3
    (folder / "schedules.yaml").write_text(json.dumps({"schema": 1, "schedules": []}))
    assert kw(*verify).returncode == 0
    assert json.loads(log.read_text().splitlines()[-1])["failed"] == []


FIVE_SUMS = f"""op five_sums({", ".join(f"{name}: i64[rows, cols]" for name in "abcde")})
  sa = sum(a, cols)
  sb = sum(b, cols)
  sc = sum(c, cols)
  sd = sum(d, cols)
  se = sum(e, cols)
  y = a * sa + b * sb + c * sc + d * sd + e * se
return y
"""


def test_where_first_kernels_only_spill_the_same_family_is_tried_with_fewer_registers(kw, tmp_path):
    """No formula knows all that an op keeps in registers. A plan that is changed is tried anew."""
    (tmp_path / "five_sums.kw").write_text(FIVE_SUMS)
    assert kw("understand", "five_sums.kw").returncode == 0
    assert kw("approve", "five_sums", "--yes").returncode == 0
    verify = ("verify", "five_sums", "--target", "cuda", "--own-types", "--no-timing", "--json")
    report = json.loads(kw(*verify).stdout)
    folder = tmp_path / "kernels/five_sums"
    attempts = [json.loads(line) for line in (folder / "verify/attempts.jsonl").read_text().splitlines()]
    assert [(a["variant"], a["failed"]) for a in attempts] == [("as planned", ["builds"]), ("fewer registers", [])]
    assert report["passed"] and not any(row["spill_stored"] for row in report["kernels"])
    rows = yaml.safe_load((folder / "schedules.yaml").read_text())["schedules"]
    assert [(row["pass"], row["family"]) for row in rows] == [("forward", "row")] and rows[0]["parameters"]

    again = json.loads(kw(*verify).stdout)
    assert again["passed"] and again["kernel_hash"] == report["kernel_hash"]
    assert "the forward takes fewer registers: the plan's kernels did not pass builds" in again["notes"]

    assert kw("set", "five_sums", "plan.forward=composed").returncode == 0
    assert kw("act", "five_sums", "--target", "cuda", "--yes").returncode == 0
    composed = (folder / "act/cuda/five_sums_forward.cu").read_text()
    (folder / "schedules.yaml").unlink()
    assert kw("act", "five_sums", "--target", "cuda", "--yes").returncode == 0
    assert (folder / "act/cuda/five_sums_forward.cu").read_text() == composed


def test_a_row_that_tunes_another_family_is_no_fallback(kw, tmp_path):
    (tmp_path / "soft.kw").write_text(SOFT)
    assert kw("understand", "soft.kw").returncode == 0
    row = {"target": "cuda", "machine": "sm_90", "pass": "forward", "family": "composed", "evidence": "a test",
           "parameters": {"row_elements": "16"}}  # fmt: skip
    folder = tmp_path / "kernels/soft"
    (folder / "schedules.yaml").write_text(json.dumps({"schema": 1, "schedules": [row]}))
    assert kw("act", "soft", "--target", "cuda", "--yes").returncode == 0
    assert "soft_forward_short" in (folder / "act/cuda/soft_forward.cu").read_text()


@pytest.mark.parametrize(
    ("told", "gate_name"), [("blocks(0) + 1", "outside"), ("max(1, blocks(0) - 1)", "error")], ids=["more", "fewer"]
)
def test_a_kernel_that_is_told_another_number_of_blocks_than_there_were_is_caught(kw, tmp_path, told, gate_name):
    assert kw("understand", ROOT / "examples/rms_norm_none.py").returncode == 0
    assert kw("act", "rms_norm_none", "--target", "cuda", "--yes").returncode == 0
    path = tmp_path / "kernels/rms_norm_none/act/cuda/manifest.json"
    manifest = json.loads(path.read_text())
    backward = next(p for p in manifest["passes"] if p["name"] == "backward")
    counts = [a for e in backward["steps"][1]["entries"] for a in e["arguments"] if a["of"] == "blocks(0)"]
    assert counts
    for argument in counts:
        argument["of"] = told
    path.write_text(json.dumps(manifest))
    assert kw("verify", "rms_norm_none", "--target", "cuda", "--own-types", "--no-timing").returncode == 1
    report = json.loads((tmp_path / "kernels/rms_norm_none/verify/report.json").read_text())
    assert gate(report, gate_name)["outcome"] == "failed", report["gates"]


# An eps of a millionth hides it: the sum of both is rounded to the same number.
def test_a_rounding_that_is_left_out_before_an_eps_is_caught(kw, tmp_path):
    assert kw("understand", ROOT / "examples/rms_norm_none.py").returncode == 0
    assert kw("act", "rms_norm_none", "--yes").returncode == 0
    path = tmp_path / "kernels/rms_norm_none/act/cpu/rms_norm_none_forward.cpp"
    right = path.read_text()
    wrong = re.sub(r"mean_square = kw::round_\w+<T>\((.*)\);$", r"mean_square = \1;", right, flags=re.MULTILINE)
    assert wrong != right
    path.write_text(wrong)
    assert kw("verify", "rms_norm_none", "--own-types", "--no-timing").returncode == 1
    report = json.loads((tmp_path / "kernels/rms_norm_none/verify/report.json").read_text())
    assert gate(report, "error")["outcome"] == "failed", report["gates"]
