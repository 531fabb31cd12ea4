"""`kw verify` as a user calls it: generated kernels, kernels by hand, three strikes, exit codes."""

import json
from pathlib import Path

import jsonschema
import pytest

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
    changed = text.replace(" < end;", " < end - 1;", 1)
    assert changed != text
    path.write_text(changed)
    run = kw("verify", "relu", "--own-types", "--json")
    assert run.returncode == 1, run.stdout
    report = json.loads(run.stdout)
    assert report["notes"] == ["the files in act/cpu are not what the profile generates"]
    assert gates(report)["written"] == "failed"
