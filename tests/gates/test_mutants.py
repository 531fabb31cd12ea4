"""Mutants of generated kernels are caught: at most 2 % survive, and each that does is proven to change nothing."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("BUILD", "build") / "mutants"
EQUIVALENT = yaml.safe_load((ROOT / "tests/gates/equivalent_mutants.yaml").read_text())
EXAMPLES = (
    "rms_norm_llama layer_norm softmax swiglu group_norm fused_add_rms_norm mse mean_middle gelu_tanh kl_div "
    "l2_normalize huber log_softmax dyt instance_norm"
).split()


def run_mutants(count, seed, examples):
    files = [str(ROOT / "examples" / f"{name}.py") for name in examples]
    run = subprocess.run([TOOL, str(count), str(seed), *files], capture_output=True, text=True, timeout=5400)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def is_proven(mutant):
    return any(re.search(e["before"], mutant["before"]) and re.search(e["after"], mutant["after"]) for e in EQUIVALENT)


def judge(mutants, count):
    assert len(mutants) == count
    survivors = [m for m in mutants if not m["caught_by"]]
    unproven = [m for m in survivors if not is_proven(m)]
    shown = "\n".join(f"{m['example']} {m['file']}:{m['line']}\n  {m['before']}\n  {m['after']}" for m in unproven)
    assert not unproven, shown
    assert len(survivors) <= max(1, 0.02 * count)


def test_a_few_mutants_are_caught():
    judge(run_mutants(6, 5, ["rms_norm_llama", "softmax", "mse"]), 6)


@pytest.mark.slow
def test_two_hundred_mutants_are_caught():
    judge(run_mutants(200, 20, EXAMPLES), 200)


def test_every_equivalence_has_its_proof():
    for entry in EQUIVALENT:
        assert set(entry) == {"before", "after", "proof"} and len(entry["proof"]) > 80
        re.compile(entry["before"]), re.compile(entry["after"])
