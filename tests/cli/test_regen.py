"""`kw regen`: the same decisions, generated, judged and timed again."""

import json

import pytest

RELU = "op relu(x: no_grad T[rows, cols])\n  types T = f32\n  sizes rows = 64, cols = 48\n  y = max(x, 0.0)\nreturn y\n"


@pytest.fixture
def relu(kw, tmp_path):
    (tmp_path / "relu.kw").write_text(RELU)
    assert kw("dev", "relu.kw", "--yes", "--own-types").returncode == 0
    return tmp_path / "kernels/relu/act/cpu/relu_forward.cpp"


def regen(kw, *arguments):
    run = kw("regen", *arguments, "--own-types", "--json")
    return run.returncode, json.loads(run.stdout).get("kernels")


def test_the_same_version_gives_the_same_code_and_judges_it_again(kw, relu):
    code, (kernel,) = regen(kw, "--all")
    assert code == 0 and kernel["diff"] == "" and kernel["report"]["passed"]
    assert "relu on cpu: the same code, verified" in kw("regen", "relu", "--own-types").stdout


def test_code_of_another_version_is_replaced_and_the_difference_shown(kw, relu):
    now = relu.read_text()
    relu.write_text(now.replace("kw::maximum(", "kw::old_maximum("))
    (relu.parents[2] / "made/cpu.json").unlink()  # which a kw of that time did not write
    code, (kernel,) = regen(kw, "relu")
    assert code == 0 and relu.read_text() == now
    removed = [line for line in kernel["diff"].splitlines() if line.startswith("-") and "old_maximum" in line]
    added = [line for line in kernel["diff"].splitlines() if line.startswith("+") and "kw::maximum(" in line]
    assert removed and len(removed) == len(added)


def test_a_kernel_that_waits_for_approval_does_not_stop_the_others(kw, relu, tmp_path):
    (tmp_path / "abs.kw").write_text(RELU.replace("relu", "aaa").replace("max(x, 0.0)", "abs(x)"))
    assert kw("understand", "abs.kw").returncode == 0
    code, (waiting, done) = regen(kw, "--all")
    assert code == 3
    assert waiting["name"] == "aaa" and "kw act aaa" in waiting["hint"]
    assert done["name"] == "relu" and done["report"]["passed"]


@pytest.mark.parametrize("arguments", [[], ["relu", "--all"], ["nothing"]])
def test_what_is_to_be_made_again_must_be_said(kw, relu, arguments):
    run = kw("regen", *arguments)
    assert run.returncode == 2


@pytest.mark.parametrize(
    "report", ["", "{", "[]", '{"target": 3, "passed": "x"}', '{"target": "cpu", "speeds": [{"pass": 1}]}']
)
def test_a_broken_report_is_no_report(kw, relu, report):
    (relu.parents[2] / "verify/report.json").write_text(report)
    run = kw("status")
    assert run.returncode == 0 and "kw verify relu" in run.stdout
    code, (kernel,) = regen(kw, "relu")
    assert code == 0 and kernel["report"]["passed"]
