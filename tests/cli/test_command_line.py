import json
import os
import subprocess
import sys

import pytest
from conftest import BINARY


def test_help_goes_to_stdout_and_lists_the_commands(kw):
    finished = kw("--help")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "doctor" in finished.stdout and "--workspace" in finished.stdout


def test_no_command_is_a_usage_error_that_shows_the_help(kw):
    finished = kw()
    assert (finished.returncode, finished.stdout) == (2, "")
    assert "doctor" in finished.stderr


def test_an_unknown_command_is_answered_with_the_nearest(kw):
    finished = kw("docter")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr == "kw: error: there is no command docter\nhint: did you mean doctor?\n"


def test_an_unknown_command_that_is_near_none_is_answered_with_the_help(kw):
    finished = kw("frobnicate", "--json")
    assert finished.returncode == 2
    assert "kw --help" in json.loads(finished.stdout)["error"]["hint"]


@pytest.mark.parametrize("arguments", [["doctor", "--no-such-option"], ["doctor", "extra"], ["--workspace"]])
def test_bad_usage_exits_with_2_and_says_where_help_is(kw, arguments):
    finished = kw(*arguments)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr.startswith("kw: error: ") and "--help" in finished.stderr


def test_an_error_with_json_is_one_object_on_stdout_and_nothing_else(kw):
    finished = kw("doctor", "extra", "--json")
    assert (finished.returncode, finished.stderr) == (2, "")
    answer = json.loads(finished.stdout)
    assert answer["exit_code"] == 2
    assert answer["error"]["kind"] == "bad-input" and answer["error"]["message"]


def test_global_options_may_stand_before_or_behind_the_command(kw):
    assert (
        json.loads(kw("--json", "doctor", "--quick").stdout).keys()
        == json.loads(kw("doctor", "--json", "--quick").stdout).keys()
    )


def test_doctor_names_what_the_machine_has(kw):
    folder = os.path.dirname(sys.executable)
    finished = kw("doctor", "--json", env={"PATH": f"{folder}:/usr/bin:/bin"})
    assert (finished.returncode, finished.stderr) == (0, "")
    machine = json.loads(finished.stdout)
    assert machine["cpu"]["cores"] >= 1
    assert machine["tools"]["compiler"]["present"] and machine["tools"]["python"]["present"]
    assert machine["tools"]["torch"]["version"].startswith("2.13.0")


def test_doctor_measures_what_the_machine_reaches(kw):
    ceilings = json.loads(kw("doctor", "--json").stdout)["ceilings"]
    cpu = next(c for c in ceilings if c["device"].startswith("cpu"))
    assert {t["name"] for t in cpu["traffic"]} >= {"copy", "read"}
    assert all(t["bytes_per_second"] > 0 for t in cpu["traffic"])
    assert all(rate > 0 for rate in cpu["operations_per_second"].values())
    assert json.loads(kw("doctor", "--json", "--quick").stdout)["ceilings"] == []


def test_doctor_says_how_to_install_what_is_missing(kw):
    finished = kw("doctor", env={"PATH": "/nowhere"})
    assert finished.returncode == 0
    assert "apt-get install g++" in finished.stdout


def test_a_full_disk_behind_stdout_is_an_error():
    with open("/dev/full", "w") as full:
        finished = subprocess.run([BINARY, "doctor"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert finished.returncode == 2 and "cannot write to stdout" in finished.stderr
