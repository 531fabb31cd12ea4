"""`kw act NAME --into liger:DIR` as a user calls it: where entries go in, and what is refused. The checkout is a small
one, written for these tests."""

import ast
import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from liger_fixture import commit, git, make_checkout  # noqa: E402

NEW = [
    "benchmark/scripts/benchmark_relu_squared.py",
    "src/liger_kernel/ops/relu_squared.py",
    "src/liger_kernel/transformers/relu_squared.py",
    "test/transformers/test_relu_squared.py",
]
EDITED = [
    "src/liger_kernel/ops/__init__.py",
    "src/liger_kernel/transformers/__init__.py",
    "src/liger_kernel/transformers/functional.py",
]


@pytest.fixture
def checkout(tmp_path):
    return make_checkout(tmp_path / "liger")


@pytest.fixture
def understood(kw):
    for name in ("relu_squared", "fused_add_rms_norm"):
        assert kw("understand", ROOT / "examples" / f"{name}.py").returncode == 0


def act(kw, name="relu_squared", into="liger:liger", *more):
    return kw("act", name, "--into", into, "--yes", *more)


def texts(folder):
    paths = (p for p in sorted(folder.rglob("*")) if p.is_file() and ".git" not in p.relative_to(folder).parts)
    return {str(p.relative_to(folder)): p.read_text() for p in paths}


def test_new_files_are_legal_and_no_other_file_changes(kw, understood, checkout):
    before = texts(checkout)
    run = act(kw, "relu_squared", "liger:liger", "--json")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert sorted(answer["files"]) == sorted([*NEW, *EDITED, "benchmark/data/all_benchmark_data.csv"])
    names = (answer["function"], answer["module"], answer["functional"])
    assert names == ("LigerReLUSquaredFunction", "LigerReLUSquared", "liger_relu_squared")
    after = texts(checkout)
    assert sorted(path for path in after if after[path] != before.get(path)) == sorted([*NEW, *EDITED])
    for path in NEW:
        ast.parse(after[path])
        assert "KW_" not in after[path] and after[path].startswith("# SPDX-License-Identifier: Apache-2.0\n")


def test_entries_go_into_their_alphabetical_place(kw, understood, checkout):
    assert act(kw).returncode == 0
    diff = git(checkout, "diff", "-U0").splitlines()
    added = [line[1:] for line in diff if line.startswith("+") and line[1:2] not in ("", "+")]
    assert added == [
        "from liger_kernel.ops.relu_squared import LigerReLUSquaredFunction  # noqa: F401",
        "from liger_kernel.ops.relu_squared import relu_squared_backward  # noqa: F401",
        "from liger_kernel.ops.relu_squared import relu_squared_forward  # noqa: F401",
        "from liger_kernel.transformers.relu_squared import LigerReLUSquared  # noqa: F401",
        '    "LigerReLUSquared",',
        "from liger_kernel.ops import LigerReLUSquaredFunction",
        "def liger_relu_squared(x):",
        "    return LigerReLUSquaredFunction.apply(x)",
    ]
    after = texts(checkout)
    assert '"LigerAlpha",\n    "LigerReLUSquared",\n    "LigerZeta",' in after[EDITED[1]]
    assert "(x)\n\n\ndef liger_relu_squared(x):" in after[EDITED[2]]
    assert ".apply(x)\n\n\n# This comment belongs to what follows.\ndef liger_zeta" in after[EDITED[2]]


def test_what_belongs_at_the_end_goes_to_the_end(kw, checkout, tmp_path):
    source = (ROOT / "examples" / "relu_squared.py").read_text().replace("ReLUSquared", "Zz")
    (tmp_path / "zz.py").write_text(source)
    assert kw("understand", tmp_path / "zz.py").returncode == 0
    run = act(kw, "zz")
    assert run.returncode == 0, run.stderr
    after = texts(checkout)
    assert after[EDITED[0]].index("ops.zeta") < after[EDITED[0]].index("ops.zz") < after[EDITED[0]].index("# Nothing")
    assert '"LigerBeta",\n    "LigerZz",\n]' in after[EDITED[1]]
    assert after[EDITED[2]].endswith("Pair()\n\n\ndef liger_zz(x):\n    return LigerZzFunction.apply(x)\n")


def test_a_second_run_changes_nothing(kw, understood, checkout):
    assert act(kw).returncode == 0
    before = texts(checkout)
    times = {path: (checkout / path).stat().st_mtime_ns for path in before}
    for _ in range(2):
        run = act(kw)
        assert run.returncode == 0, run.stderr
    assert texts(checkout) == before
    assert {path: (checkout / path).stat().st_mtime_ns for path in before} == times
    commit(checkout)
    assert act(kw).returncode == 0
    assert git(checkout, "status", "--porcelain") == ""


def test_two_kernels_one_after_the_other(kw, understood, checkout):
    for name in ("relu_squared", "fused_add_rms_norm", "relu_squared"):
        run = act(kw, name)
        assert run.returncode == 0, run.stderr
    names = [line.split()[1] for line in (checkout / EDITED[2]).read_text().splitlines() if line.startswith("def ")]
    assert [name.split("(")[0] for name in names] == [
        "liger_alpha", "liger_fused_add_rms_norm", "liger_relu_squared", "liger_zeta", "liger_beta",
    ]  # fmt: skip


def test_a_changed_profile_replaces_what_kw_wrote(kw, understood, checkout):
    assert act(kw, "fused_add_rms_norm").returncode == 0
    op = checkout / "src/liger_kernel/ops/fused_add_rms_norm.py"
    functional = (checkout / EDITED[2]).read_text()
    assert "eps=1e-6" in functional
    assert kw("set", "fused_add_rms_norm", "value.eps=1e-5").returncode == 0
    run = act(kw, "fused_add_rms_norm")
    assert run.returncode == 0, run.stderr
    assert (checkout / EDITED[2]).read_text() == functional.replace("eps=1e-6", "eps=1e-5")
    op.write_text(op.read_text() + "\n# by hand\n")
    run = act(kw, "fused_add_rms_norm")
    assert run.returncode == 2 and "another kernel of the name fused_add_rms_norm" in run.stderr
    assert op.read_text().endswith("# by hand\n")


def test_the_rows_of_a_benchmark_are_no_local_change(kw, understood, checkout):
    assert act(kw).returncode == 0
    data = checkout / "benchmark/data/all_benchmark_data.csv"
    data.write_text(data.read_text() + "relu_squared,liger\n")
    assert act(kw).returncode == 0
    assert data.read_text().endswith("relu_squared,liger\n")


def test_the_pull_request_lies_beside_the_kernel(kw, understood, checkout, tmp_path):
    assert act(kw).returncode == 0
    text = (tmp_path / "kernels/relu_squared/act/liger/pr.md").read_text()
    assert text.startswith("# Add LigerReLUSquared\n")
    for path in [*NEW, *EDITED, "benchmark/data/all_benchmark_data.csv"]:
        assert f"`{path}`" in text
    for words in ("## Decisions", "| saved | x |", "## Gates", "Not judged by kw yet", "None were measured yet"):
        assert words in text
    assert "pr.md" not in git(checkout, "status", "--porcelain")


def test_what_was_measured_is_plotted_beside_the_pull_request_and_goes_with_it(kw, understood, checkout, tmp_path):
    assert act(kw).returncode == 0
    kernel = tmp_path / "kernels/relu_squared"
    folder = kernel / "act/liger"
    approved = json.loads((kernel / "approvals.jsonl").read_text().splitlines()[-1])["hash"]
    times = {"milliseconds": 0.5, "limit_milliseconds": 0.25, "eager_milliseconds": 1.0, "compiled_milliseconds": 0}
    speeds = [{"pass": "forward", "sizes": f"rows={rows} & cols=64", "share": 0.5, **times} for rows in (8, 16)]
    report = {"target": "triton", "profile_hash": approved, "device": "a GPU", "cases": 3, "speeds": speeds}
    (kernel / "verify").mkdir(exist_ok=True)
    (kernel / "verify/report.json").write_text(json.dumps(report))
    assert act(kw).returncode == 0
    assert "![forward.svg](forward.svg)" in (folder / "pr.md").read_text()
    plot = ElementTree.parse(folder / "forward.svg").getroot()
    words = [text.text for text in plot.iter("{http://www.w3.org/2000/svg}text")]
    assert "rows=16 & cols=64" in words and words.count("1.000") == 2 and words.count("not timed") == 2
    widths = [float(bar.get("width")) for bar in plot.iter("{http://www.w3.org/2000/svg}rect")]
    assert widths.count(360) == 2 and widths.count(180) == 2 and widths.count(90) == 2  # as 1 ms, 0.5 and 0.25
    assert not (folder / "backward.svg").exists()
    before = (folder / "forward.svg").read_bytes()
    assert act(kw).returncode == 0 and (folder / "forward.svg").read_bytes() == before
    (kernel / "verify/report.json").write_text(json.dumps({**report, "profile_hash": "another"}))
    assert act(kw).returncode == 0
    assert "svg" not in (folder / "pr.md").read_text() and not (folder / "forward.svg").exists()


def break_checkout(checkout, what):
    if what == "no git":
        for path in sorted((checkout / ".git").rglob("*"), reverse=True):
            path.unlink() if not path.is_dir() else path.rmdir()
        (checkout / ".git").rmdir()
    elif what == "no functional":
        (checkout / EDITED[2]).unlink()
        commit(checkout)
    elif what == "changed":
        (checkout / "README").write_text("a note\n")
    elif what == "edited":
        (checkout / EDITED[0]).write_text("# mine\n" + (checkout / EDITED[0]).read_text())
    elif what == "other kernel":
        (checkout / NEW[1]).write_text("# somebody's\n")
        commit(checkout)
    elif what == "other function":
        path = checkout / EDITED[2]
        path.write_text(path.read_text() + "\n\ndef liger_relu_squared(y):\n    return y\n")
        commit(checkout)
    elif what == "no list":
        path = checkout / EDITED[1]
        path.write_text(path.read_text().replace("__all__ = [", "__all__ = tuple() or ["))
        commit(checkout)
    elif what == "folder":
        (checkout / NEW[1]).mkdir()


@pytest.mark.parametrize(
    "what, code, words",
    [
        ("no git", 2, "liger is no Liger checkout: git fatal"),
        ("no functional", 2, "liger is no Liger checkout: it has no src/liger_kernel/transformers/functional.py"),
        ("changed", 2, "liger has local changes: README"),
        ("edited", 2, "liger has local changes: src/liger_kernel/ops/__init__.py"),
        ("other kernel", 2, "another kernel of the name relu_squared: src/liger_kernel/ops/relu_squared.py is there"),
        ("other function", 2, "functional.py defines liger_relu_squared"),
        ("no list", 2, 'there is no place for "LigerReLUSquared"'),
        ("folder", 2, "src/liger_kernel/ops/relu_squared.py is a folder"),
    ],
)
def test_a_checkout_that_cannot_take_it_is_refused_and_keeps_every_byte(kw, understood, checkout, what, code, words):
    break_checkout(checkout, what)
    before = texts(checkout)
    run = act(kw)
    assert run.returncode == code and words in run.stderr, run.stderr
    assert texts(checkout) == before


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (("missing", "--into", "liger:liger", "--yes"), 2, "there is no kernel 'missing'"),
        (("relu_squared", "--into", "liger:", "--yes"), 2, "'liger:' names no folder"),
        (("relu_squared", "--into", "liger:nowhere", "--yes"), 2, "there is no folder nowhere"),
        (("relu_squared", "--into", "liger:liger"), 3, "the profile of relu_squared is not approved yet"),
        (("relu_squared", "fused_add_rms_norm", "--into", "liger:liger", "--yes"), 2, "is one kernel"),
        (("relu_squared", "--target", "cpu", "--into", "liger:liger", "--yes"), 2, "is in Triton, not for cpu"),
        (("relu_squared", "--into", "package", "--yes"), 2, "'package' is no place for a file set"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_writes_nothing(kw, understood, checkout, arguments, code, words):
    before = texts(checkout)
    run = kw("act", *arguments)
    assert run.returncode == code and words in run.stderr, run.stderr
    assert texts(checkout) == before


def test_a_module_that_cannot_be_made_anew_is_refused(kw, checkout, tmp_path):
    (tmp_path / "ramp.py").write_text(
        "import torch\nfrom torch import nn\n\n\nclass Ramp(nn.Module):\n    def __init__(self, n):\n"
        "        super().__init__()\n        self.weight = nn.Parameter(torch.linspace(0, 1, n))\n\n"
        "    def forward(self, x):\n        return x * self.weight\n\n\n"
        "def get_inputs():\n    return [torch.randn(8, 16)]\n\n\ndef get_init_inputs():\n    return [16]\n"
    )
    assert kw("understand", tmp_path / "ramp.py").returncode == 0
    before = texts(checkout)
    run = act(kw, "ramp")
    assert run.returncode == 2 and "its parameter weight begins as" in run.stderr, run.stderr
    assert texts(checkout) == before


@pytest.mark.parametrize(
    "example, lines",
    [
        ("dyt", ["def __init__(self, alpha_init, hidden):", "self.alpha = nn.Parameter(torch.full((1,), alpha_init))"]),
        ("group_norm", ["self.norm_weight = nn.Parameter(torch.ones(channels))"]),
        ("poly_norm", ["self.weight = nn.Parameter(torch.full((3,), 1.0))"]),
    ],
)
def test_modules_begin_their_parameters_as_the_source_does(kw, checkout, example, lines):
    assert kw("understand", ROOT / "examples" / f"{example}.py").returncode == 0
    run = act(kw, example)
    assert run.returncode == 0, run.stderr
    text = "".join((checkout / f"src/liger_kernel/{part}/{example}.py").read_text() for part in ("ops", "transformers"))
    assert all(line in text for line in lines), text


def test_where_one_file_cannot_be_written_none_is(kw, understood, checkout):
    (checkout / "test/transformers/test_alpha.py").unlink()
    (checkout / "test/transformers").rmdir()
    (checkout / "test/transformers").write_text("a file in the place of a folder\n")
    commit(checkout)
    before = texts(checkout)
    run = act(kw)
    assert run.returncode == 2 and "cannot make the folder" in run.stderr, run.stderr
    assert texts(checkout) == before


def test_without_git_the_answer_says_what_is_missing(kw, understood, checkout, tmp_path):
    (tmp_path / "bin").mkdir()
    run = kw("act", "relu_squared", "--into", "liger:liger", "--yes", env={**os.environ, "PATH": str(tmp_path / "bin")})
    assert run.returncode == 4 and "git is not installed" in run.stderr
