"""`kw` as a user calls it."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / os.environ.get("BUILD", "build") / "kw"


@pytest.fixture
def kw(tmp_path):
    """Runs kw in an empty folder; gives what subprocess.run gives."""

    def call(*arguments, stdin="", cwd=None, env=None):
        return subprocess.run(
            [BINARY, *map(str, arguments)],
            input=stdin, capture_output=True, text=True, check=False, cwd=cwd or tmp_path, env=env, timeout=120,
        )  # fmt: skip

    return call
