"""The checkpoint after understanding: review, set, diff, approve, list, status."""

import json

import pytest
from test_understand import NORM, files_of


@pytest.fixture
def norm(kw, tmp_path):
    """A workspace with one understood kernel, rms_norm; gives its folder."""
    (tmp_path / "norm.py").write_text(NORM)
    assert kw("understand", "norm.py").returncode == 0
    return tmp_path / "kernels" / "rms_norm"


def edit(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_the_review_fits_a_page_and_says_what_matters_first(kw, norm):
    page = kw("review", "rms_norm").stdout
    lines = page.splitlines()
    assert max(len(line) for line in lines) <= 120
    assert len(lines) <= 70
    order = [page.index(word) for word in ("DECIDE", "MATH", "MEMORY", "TESTED", "ENGINE", "NEXT")]
    assert order == sorted(order)
    assert "casting         llama" in page
    assert "source.py:14  return self.weight * y.to(x.dtype)" in page
    assert "if wrong:" in page and "Instead: gemma | none" in page
    assert "kw set rms_norm casting=gemma" in page and "kw approve rms_norm" in page
    assert "\x1b" not in page


def test_forward_and_backward_stand_side_by_side(kw, norm):
    rows = [line for line in kw("review", "rms_norm").stdout.splitlines() if " │ " in line]
    assert len({line.index("│") for line in rows}) == 1
    assert "op RMSNorm" in rows[0] and "_backward" in rows[0]


def test_the_engines_own_choices_are_folded_until_asked_for(kw, norm):
    folded, whole = kw("review", "rms_norm").stdout, kw("review", "rms_norm", "--all").stdout
    decisions = json.loads(kw("review", "rms_norm", "--json").stdout)["decisions"]
    assert len(decisions) > 25
    for decision in decisions:
        assert f"  {decision['id']} " in whole
        assert decision["because"] and decision["if_wrong"]
    assert "plan.forward" not in folded and "shapes.measure" not in folded


def test_what_will_be_generated_is_listed_on_request(kw, norm):
    assert "act/cpu/rms_norm_forward.cpp" not in kw("review", "rms_norm").stdout
    assert "act/cpu/rms_norm_forward.cpp" in kw("review", "rms_norm", "--files").stdout


def test_set_changes_a_decision_and_what_follows_and_shows_it(kw, norm):
    finished = kw("set", "rms_norm", "casting=gemma", "--quiet")
    assert finished.returncode == 0, finished.stderr
    assert "casting: llama → gemma" in finished.stdout
    assert "forward math:" in finished.stdout and "backward math:" in finished.stdout
    decision = {d["id"]: d for d in json.loads(kw("review", "rms_norm", "--json").stdout)["decisions"]}["casting"]
    assert decision["value"] == "gemma" and decision["set_by"] == "user"
    assert "(set by you)" in kw("review", "rms_norm").stdout


def test_set_takes_the_end_of_an_id(kw, norm):
    assert "type.T: bf16 → f16" in kw("set", "rms_norm", "T=f16").stdout
    assert "name.module: RMSNorm → Norm" in kw("set", "rms_norm", "module=Norm").stdout


def test_settings_are_kept_when_another_is_changed(kw, norm):
    kw("set", "rms_norm", "casting=gemma")
    kw("set", "rms_norm", "name.module=Norm")
    decisions = {d["id"]: d["value"] for d in json.loads(kw("review", "rms_norm", "--json").stdout)["decisions"]}
    assert decisions["casting"] == "gemma" and decisions["name.module"] == "Norm"


def test_set_to_the_same_value_says_so(kw, norm):
    assert "casting set by: engine → user" in kw("set", "rms_norm", "casting=llama").stdout


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("castng=gemma", ["castng", "did you mean casting"]),
        ("casting=mistral", ["llama, gemma or none"]),
        ("tier=1", ["follows from the math"]),
        ("casting", ["NAME=VALUE"]),
        ("casting=", ["the engine's own choice already"]),
        ("plan.forward=pointwise", ["row", "joins elements"]),
        ("plan.forward=rows", ["row"]),
        ("reduce.weight=atomic", ["deterministic"]),
        ("deterministic=perhaps", ["yes or no"]),
        ("wider=nothing_like_it", ["wider"]),
        ("aliases=y in x", ["aliases"]),
        ("shapes.test=rows=1", ["shapes.test"]),
        ("limits.variants=many", ["whole number"]),
        ("limits.targets=fpga", ["cpu, cuda or triton"]),
        ("closest=swigl", ["did you mean swiglu"]),
        ("type.T=bf17", ["bf17"]),
        ("name.module=not a name", ["Python name"]),
        ("mode=sleeping", ["train or eval"]),
    ],
)
def test_a_value_that_cannot_be_is_refused_and_changes_nothing(kw, norm, assignment, words):
    before = files_of(norm)
    finished = kw("set", "rms_norm", assignment, "--quiet")
    assert (finished.returncode, finished.stdout) == (2, ""), finished.stdout
    for word in words:
        assert word in finished.stderr, finished.stderr
    assert files_of(norm) == before


def test_a_source_that_was_edited_is_not_taken_for_the_old_one(kw, norm):
    edit(norm / "source.py", "pow(2)", "pow(4)")
    finished = kw("set", "rms_norm", "casting=gemma", "--quiet")
    assert finished.returncode == 2 and "edited" in finished.stderr


def test_approval_is_recorded_with_who_and_when_and_what(kw, norm):
    finished = kw("approve", "rms_norm", "--json")
    assert finished.returncode == 0, finished.stdout
    line = json.loads((norm / "approvals.jsonl").read_text())
    assert line == {key: json.loads(finished.stdout)[key] for key in ("stage", "hash", "by", "when")}
    assert line["stage"] == "profile" and len(line["hash"]) == 64
    assert kw("approve", "rms_norm", "--yes").returncode == 0
    assert json.loads((norm / "approvals.jsonl").read_text().splitlines()[1])["by"] == "--yes"


def test_an_edited_comment_keeps_the_approval_and_an_edited_decision_voids_it(kw, norm):
    def state():
        return json.loads(kw("status", "rms_norm", "--json").stdout)["kernels"][0]["approval"]

    assert state() == "missing"
    kw("approve", "rms_norm", "--yes")
    assert state() == "current"
    edit(norm / "profile.yaml", "# The profile of", "# In my own words, the profile of")
    assert state() == "current"
    kw("set", "rms_norm", "casting=gemma")
    assert state() == "void"
    assert "changed since approval" in kw("review", "rms_norm").stdout
    kw("set", "rms_norm", "casting=llama")
    kw("approve", "rms_norm", "--yes")
    assert state() == "current"


def test_diff_shows_what_changed_since_approval(kw, norm):
    finished = kw("diff", "rms_norm")
    assert finished.returncode == 3 and "kw approve rms_norm" in finished.stderr
    kw("approve", "rms_norm", "--yes")
    assert kw("diff", "rms_norm").stdout == "nothing changed since approval\n"
    kw("set", "rms_norm", "casting=gemma")
    assert "casting: llama → gemma" in kw("diff", "rms_norm").stdout
    changes = json.loads(kw("diff", "rms_norm", "--json").stdout)["changes"]
    assert {"what": "casting", "before": "llama", "after": "gemma"} in changes


def test_stages_that_have_not_come_yet_cannot_be_approved(kw, norm):
    for stage in ("files", "report", "perf"):
        assert kw("approve", "rms_norm", "--stage", stage, "--yes").returncode == 3
    assert kw("approve", "rms_norm", "--stage", "nothing").returncode == 2
    assert not (norm / "approvals.jsonl").exists()


def test_list_and_status_say_what_is_there_and_what_goes_on(kw, tmp_path):
    assert "kw understand" in kw("list").stdout and "kw understand" in kw("status").stdout
    (tmp_path / "norm.py").write_text(NORM)
    kw("understand", "norm.py")
    assert kw("list").stdout.startswith("rms_norm ")
    assert "kw review rms_norm" in kw("status").stdout
    kw("approve", "rms_norm", "--yes")
    assert "kw act rms_norm" in kw("status").stdout


@pytest.mark.parametrize("command", ["review", "set", "diff", "approve", "status"])
def test_a_kernel_that_is_not_there_is_answered_with_the_nearest(kw, norm, command):
    extra = ["casting=gemma"] if command == "set" else []
    finished = kw(command, "rms_nrom", *extra, "--quiet")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "did you mean rms_norm" in finished.stderr
    assert kw(command, "../rms_norm", *extra).returncode == 2


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("\ntier: 2", "\ntier: 2\ncolour: red", ["profile.yaml:", "unknown key 'colour'"]),
        ("\ntier: 2", "\nteir: 2", ["unknown key 'teir'", "did you mean tier"]),
        ("\ntier: 2\n", "\n", ["'tier' is missing"]),
        ("schema: 1", "schema: 2", ["schema 2", "newer"]),
        ("schema: 1", "schema: [", ["not YAML", "kw remove"]),
        ("  casting: llama", "  casting: gemma", ["decision 'casting' says 'llama', but its field says 'gemma'"]),
        ("rsqrt(", "rsqr(", ["rsqr"]),
        ("kind: value, type: f32", "kind: value, type: T", ["in the math"]),
    ],
)
def test_a_profile_that_is_wrong_is_refused_with_its_line(kw, norm, before, after, words):
    edit(norm / "profile.yaml", before, after)
    finished = kw("review", "rms_norm")
    assert (finished.returncode, finished.stdout) == (2, ""), finished.stdout
    assert "profile.yaml:" in finished.stderr
    for word in words:
        assert word in finished.stderr, finished.stderr
    assert "broken" in kw("list").stdout


def test_a_broken_log_of_approvals_is_refused_with_its_line(kw, norm):
    (norm / "approvals.jsonl").write_text("{}\n")
    finished = kw("approve", "rms_norm", "--yes")
    assert finished.returncode == 2 and "approvals.jsonl:1" in finished.stderr


def test_the_reference_follows_a_casting_mode_that_was_set(kw, norm):
    before = (norm / "reference.py").read_text()
    kw("set", "rms_norm", "casting=gemma")
    after = (norm / "reference.py").read_text()
    assert before != after
    kw("set", "rms_norm", "casting=llama")
    assert (norm / "reference.py").read_text() == before


CONFIGURED = """\
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    dim: int = 512
    groups: int = 4
    norm_eps: float = 1e-5


class GroupedNorm(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.dim) * 0.5)
        self.groups = config.groups
        self.eps = config.norm_eps

    def forward(self, x):
        h = x.float().unflatten(-1, (self.groups, -1))
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * h.flatten(-2).to(x.dtype)
"""


@pytest.fixture
def configured(kw, tmp_path):
    (tmp_path / "grouped.py").write_text(CONFIGURED)
    assert kw("understand", "grouped.py").returncode == 0
    return tmp_path / "kernels" / "grouped_norm"


def decisions_of(kw, name):
    return {d["id"]: d for d in json.loads(kw("review", name, "--json").stdout)["decisions"]}


@pytest.mark.parametrize(
    ("assignment", "decision", "value"),
    [
        ("assumed.config.groups=8", "assumed.config.groups", "8"),
        ("assumed.config.dim=1024", "assumed.config.dim", "1024"),
        ("assumed.config.groups=4", "assumed.config.groups", "4"),  # confirmed as it is
        ("value.norm_eps=1e-6", "value.norm_eps", "1e-6"),
    ],
)
def test_what_was_assumed_can_be_set_and_stays_decided(kw, configured, assignment, decision, value):
    finished = kw("set", "grouped_norm", assignment, "--quiet")
    assert finished.returncode == 0, finished.stderr
    decided = decisions_of(kw, "grouped_norm")[decision]
    assert (decided["value"], decided["set_by"]) == (value, "user")
    again = kw("set", "grouped_norm", "type.T=bf16", "--quiet")  # and it is kept
    assert again.returncode == 0, again.stderr
    assert decisions_of(kw, "grouped_norm")[decision]["value"] == value


def test_what_the_program_needs_as_a_number_says_how_it_is_changed(kw, configured):
    finished = kw("set", "grouped_norm", "assumed.size_groups=8", "--quiet")
    assert finished.returncode == 2 and "set what it comes from" in finished.stderr


def test_setting_a_value_moves_no_evidence(kw, configured):
    before = decisions_of(kw, "grouped_norm")
    assert kw("set", "grouped_norm", "casting=gemma").returncode == 0
    after = decisions_of(kw, "grouped_norm")
    for name in ("type.W", "shape.weight", "value.norm_eps", "parameters", "tier"):
        assert after[name]["at"] == before[name]["at"], name
    assert before["value.norm_eps"]["at"] == "source.py:19"  # where the source names it
    assert before["parameters"]["value"].endswith("nn.Parameter(torch.ones(config.dim) * 0.5)")  # and not "ones"


def test_one_broken_profile_does_not_hide_the_status_of_the_others(kw, configured, norm):
    (configured / "profile.yaml").write_text("")
    finished = kw("status")
    assert finished.returncode == 0, finished.stderr
    assert "grouped_norm" in finished.stdout and "broken: the file is empty" in finished.stdout
    assert "the profile waits for review" in finished.stdout
    assert kw("status", "grouped_norm").returncode == 2


def test_a_decision_is_given_back_to_the_engine(kw, norm):
    before = files_of(norm)
    kw("set", "rms_norm", "casting=gemma", "T=f16")
    assert "casting: gemma → llama" in kw("set", "rms_norm", "casting=").stdout
    assert "type.T: f16 → bf16" in kw("set", "rms_norm", "type.T=").stdout
    assert files_of(norm) == before


def test_a_kernel_is_removed_when_a_flag_says_so(kw, norm):
    asked = kw("remove", "rms_norm")
    assert asked.returncode == 3 and "kw remove rms_norm --yes" in asked.stderr and norm.exists()
    assert json.loads(kw("remove", "rms_norm", "--yes", "--json").stdout) == {"name": "rms_norm", "removed": True}
    assert not norm.exists() and "no kernels here" in kw("list").stdout


@pytest.mark.parametrize("name", ["rms_nrom", "../kernels/rms_norm", ".", ""])
def test_nothing_else_is_removed(kw, norm, name):
    assert kw("remove", name, "--yes").returncode == 2
    assert norm.exists()


CHOSEN = """
import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self, reduction="mean", squared=True, floor=0.5):
        super().__init__()
        self.reduction, self.squared, self.floor = reduction, squared, floor

    def forward(self, x, y):
        loss = (x - y).pow(2) if self.squared else (x - y).abs()
        if self.floor > 0:
            loss = loss.clamp(min=self.floor)
        return loss.mean() if self.reduction == "mean" else loss
"""


def test_words_truths_and_numbers_that_choose_what_is_computed_are_decisions(kw, tmp_path):
    (tmp_path / "loss.py").write_text(CHOSEN)
    decisions = json.loads(kw("understand", "loss.py", "--json").stdout)["decisions"]
    assert decisions["assumed.reduction"] == "mean" and decisions["assumed.squared"] == "True"
    assert decisions["assumed.scalar_floor"] == "0.5"
    assert kw("set", "loss", "reduction=none").returncode == 0
    assert kw("set", "loss", "squared=False").returncode == 0
    math = (tmp_path / "kernels" / "loss" / "profile.yaml").read_text()
    assert "abs(" in math and "mean(" not in math
    assert kw("set", "loss", "reduction=", "squared=").returncode == 0
    assert "mean(" in (tmp_path / "kernels" / "loss" / "profile.yaml").read_text()
