"""What the script of the verified rates (bench/verify_rates.py) counts, and what it says of an op that is left out."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from verify_rates import EXAMPLES, Run, Task, Verdict, approved, run, summary  # noqa: E402


def test_the_examples_are_those_with_golden_files():
    assert sorted(path.name for path in (ROOT / "tests" / "golden" / "cpu").iterdir()) == sorted(EXAMPLES)


def test_both_denominators_are_shown_and_what_keeps_ops_out():
    verdicts = [Verdict("verified")] * 3 + [Verdict("WRONG"), Verdict("unread")]
    verdicts += [Verdict("tier 3", construct="contract")] * 2 + [Verdict("tier 3", construct="window")]
    assert summary("level 1", verdicts) == [
        "level 1: 3 of 4 of tiers 1 and 2 verified (75.0%); 3 of 8 in all (37.5%)",
        "  3 of tier 3 (contract 2, window 1), 1 unread, 0 refused, 1 WRONG",
    ]


def test_an_op_of_tier_3_is_named_with_its_construct_and_line(tmp_path):
    task = Task("examples", "cumulative_sum", str(ROOT / "examples" / "cumulative_sum.py"))
    verdict = approved(task, tmp_path)
    assert (verdict.word, verdict.construct) == ("tier 3", "cumsum")
    assert verdict.detail.startswith("cumsum: ") and "torch.cumsum(" in verdict.detail


def test_an_op_that_is_not_read_is_named_with_the_readers_answer(tmp_path):
    source = tmp_path / "norm.py"
    source.write_text("import torch\n\n\ndef norm(x):\n    return torch.linalg.unheard_of(x)\n")
    verdict = approved(Task("level 1", "norm", str(source)), tmp_path)
    assert verdict.word == "unread" and verdict.detail.startswith("norm.py:5:") and "unheard_of" in verdict.detail
    assert approved(Task("level 2", "norm", "", "there is no product"), tmp_path).detail == "there is no product"


def test_an_op_of_tiers_1_and_2_goes_on(tmp_path):
    assert approved(Task("examples", "swiglu", str(ROOT / "examples" / "swiglu.py")), tmp_path) is None


def test_a_command_that_does_not_end_is_no_refusal():
    assert run("sleep", "5", timeout=0.1) == Run(-1, "", "out of time after 0.1 s")
