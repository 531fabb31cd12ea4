"""Mutants of generated kernels, for cpu and for cuda in emulation, are caught: at most 2 % survive, and each that does
is proven to change nothing."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("BUILD", "build") / "mutants"
GOLDEN = ROOT / "tests/golden"
EQUIVALENT = yaml.safe_load((ROOT / "tests/gates/equivalent_mutants.yaml").read_text())
EXAMPLES = sorted(folder.name for folder in (GOLDEN / "cpu").iterdir())  # all that kernels are generated for


def run_mutants(count, seed):
    files = [str(ROOT / "examples" / f"{name}.py") for name in EXAMPLES]
    command = [TOOL, str(count), str(seed), str(os.cpu_count()), *files]
    run = subprocess.run(command, capture_output=True, text=True, timeout=5400)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def proves(entry, mutant):
    if entry.get("ahead", mutant["ahead"]) != mutant["ahead"]:
        return False
    found = {key: re.search(entry[key], mutant[key]) for key in ("function", "before", "after", "next") if key in entry}
    return all(found.values()) and found["before"].groupdict() == found["after"].groupdict()


def shown(mutants):
    return "\n".join(
        f"{m['target']} {m['example']} {m['file']}:{m['line']}\n  {m['before']}\n  {m['after']}" for m in mutants
    )


def judge(mutants, count):
    counted = [m for m in mutants if m["reached"] and not m["same_code"]]
    assert len(counted) == count
    survivors = [m for m in counted if not m["caught_by"]]
    unproven = [m for m in survivors if not any(proves(entry, m) for entry in EQUIVALENT)]
    assert not unproven, shown(unproven)
    assert len(survivors) <= max(1, 0.02 * count), shown(survivors)


def test_a_few_mutants_are_caught():
    judge(run_mutants(8, 5), 8)


@pytest.mark.slow
def test_two_hundred_mutants_are_caught():
    mutants = run_mutants(200, 20)
    judge(mutants, 200)
    assert {m["target"] for m in mutants} == {"cpu", "cuda"}
    assert {m["kind"] for m in mutants} >= {"operator", "comparison", "number", "name", "statement", "barrier"}


def test_every_equivalence_has_its_proof():
    for entry in EQUIVALENT:
        assert set(entry) - {"function", "ahead", "next"} == {"before", "after", "proof"} and len(entry["proof"]) > 80


def test_every_equivalence_speaks_of_lines_that_are_still_generated():
    lines = set()  # each with the one behind it
    for file in GOLDEN.rglob("*.c*"):
        text = [line.strip() for line in file.read_text().splitlines()]
        lines |= set(zip(text, text[1:] + [""]))
    for entry in EQUIVALENT:
        behind = entry.get("next", "")
        assert any(re.search(entry["before"], line) and re.search(behind, after) for line, after in lines), entry


def test_what_has_a_name_is_the_same_before_and_after():
    entry = {"before": r"^f\((?P<ahead>\w+, )count\);", "after": r"^f\((?P<ahead>\w+, )\w+\);"}
    mutant = {"ahead": False, "before": "f(x, count);"}
    assert proves(entry, mutant | {"after": "f(x, size);"})
    assert not proves(entry, mutant | {"after": "f(y, count);"})
