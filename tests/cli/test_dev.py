"""`kw dev`: from a source to a verified kernel, with a checkpoint after each stage."""

import json
import os
import pty
import subprocess

import pytest
from conftest import BINARY

RELU = "op relu(x: no_grad T[rows, cols])\n  types T = f32\n  sizes rows = 64, cols = 48\n  y = max(x, 0.0)\nreturn y\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "relu.kw"
    path.write_text(RELU)
    return path


def approvals(folder):
    lines = (folder / "kernels/relu/approvals.jsonl").read_text().splitlines()
    return [(entry["stage"], entry["by"]) for entry in map(json.loads, lines)]


def dev(kw, *arguments):
    run = kw("dev", *arguments, "--own-types", "--json")
    return run.returncode, json.loads(run.stdout)


def test_yes_goes_through_every_stage_and_the_record_says_that_a_flag_did_it(kw, source, tmp_path):
    code, answer = dev(kw, source, "--yes")
    assert (code, answer["stage"]) == (0, "done")
    assert answer["verify"]["passed"] and answer["act"]["files"]
    assert approvals(tmp_path) == [("profile", "--yes"), ("files", "--yes"), ("report", "--yes")]
    assert "done on cpu" in kw("status").stdout


def test_without_a_terminal_it_stops_at_each_checkpoint_and_goes_on_from_there(kw, source, tmp_path):
    for stage in ["profile", "files", "report"]:
        code, answer = dev(kw, source)
        assert (code, answer["stage"]) == (3, stage)
        approve, again = answer["next"]
        assert kw(*approve.split()[1:]).returncode == 0
        assert again == "kw dev relu"
    code, answer = dev(kw, "relu")
    assert (code, answer["stage"]) == (0, "done")
    assert "verify" not in answer, "what was verified and approved is not verified again"


def test_the_page_to_be_judged_is_shown_before_it_stops(kw, source):
    run = kw("dev", source)
    assert run.returncode == 3
    assert "MATH" in run.stdout and "the profile of relu waits for approval" in run.stdout


def test_a_changed_source_shows_what_changed_and_keeps_what_a_person_set(kw, source, tmp_path):
    assert dev(kw, source, "--yes")[0] == 0
    assert kw("set", "relu", "deterministic=no").returncode == 0
    assert kw("approve", "relu").returncode == 0
    source.write_text(RELU.replace("max(x, 0.0)", "max(x, 0.5)"))
    code, answer = dev(kw, source)
    assert (code, answer["stage"]) == (3, "profile")
    assert any("0.5" in change["after"] for change in answer["diff"])
    assert "deterministic" in answer["understand"]["kept"]
    code, answer = dev(kw, source, "--yes")
    assert code == 0 and answer["act"]["files"] and answer["verify"]["passed"]


def test_files_that_a_person_changed_and_approved_are_judged_and_not_overwritten(kw, source, tmp_path):
    assert dev(kw, source, "--yes")[0] == 0
    kernel = tmp_path / "kernels/relu/act/cpu/relu_forward.cpp"
    wrong = kernel.read_text().replace("kw::maximum(", "kw::minimum(")
    assert wrong != kernel.read_text()
    kernel.write_text(wrong)
    assert kw("approve", "relu", "--stage", "files").returncode == 0
    code, answer = dev(kw, "relu", "--yes")
    assert (code, answer["stage"]) == (1, "failed")
    assert kernel.read_text() == wrong
    run = kw("approve", "relu", "--stage", "report")
    assert run.returncode == 1 and "no approval can change" in run.stderr


def test_an_old_report_is_no_report_of_other_files(kw, source, tmp_path):
    assert dev(kw, source, "--yes")[0] == 0
    kernel = tmp_path / "kernels/relu/act/cpu/relu_forward.cpp"
    kernel.write_text(kernel.read_text() + "// a note\n")
    run = kw("approve", "relu", "--stage", "report")
    assert run.returncode == 3 and "not about the files that there are now" in run.stderr
    assert "kw verify relu" in kw("status").stdout


@pytest.mark.parametrize(("typed", "code"), [("y\ny\ny\n", 0), ("y\nn\n", 3), ("", 3)])
def test_at_a_terminal_it_asks(source, tmp_path, typed, code):
    controller, terminal = pty.openpty()
    command = [BINARY, "dev", source, "--own-types", "--quiet"]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, cwd=tmp_path) as process:
        os.close(terminal)
        os.write(controller, (typed or "\x04").encode())
        shown = b""
        while True:
            try:
                block = os.read(controller, 4096)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            shown += block
        assert process.wait() == code, shown.decode()
    assert b"approve the profile of relu? [y/N]" in shown


def test_it_ends_with_a_set_of_files_where_one_is_asked_for(kw, source, tmp_path):
    run = kw("dev", source, "--yes", "--own-types", "--into", "cpp:library", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    answer = json.loads(run.stdout)
    assert answer["stage"] == "done"
    assert all((tmp_path / "library" / path).is_file() for path in answer["into"]["files"])
    assert not any(path.endswith(".cu") for path in answer["into"]["files"])  # only what was judged


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--into", "wheel:x"], "'wheel:x' is no set of files"),
        (["--into", "liger:x"], "liger:x takes kernels for triton, and the target is cpu"),
        (["--into", "package:x", "--target", "triton"], "package:x takes kernels for cpu and cuda"),
    ],
)
def test_a_set_of_files_that_cannot_be_is_refused_before_anything_is_judged(kw, source, tmp_path, arguments, says):
    run = kw("dev", source, "--yes", *arguments)
    assert run.returncode == 2 and says in run.stderr, run.stderr
    assert not (tmp_path / "kernels").exists()


def test_a_source_that_cannot_be_read_leaves_nothing(kw, tmp_path):
    (tmp_path / "bad.kw").write_text("op bad(x: T[rows])\n  y = frobnicate(x)\nreturn y\n")
    run = kw("dev", "bad.kw", "--yes")
    assert run.returncode == 2 and "bad.kw:2" in run.stderr
    assert not (tmp_path / "kernels").exists()
