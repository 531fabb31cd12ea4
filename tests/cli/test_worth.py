"""`kw worth`: what a kernel could gain on this machine, before one is written."""

import json
import os

import pytest

SOURCE = """
import torch

rows, cols = 2048, 1024


def relu_squared(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x) ** 2


def get_inputs():
    return [torch.randn(rows, cols)]
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "relu_squared.py"
    path.write_text(SOURCE)
    return path


QUICK = dict(os.environ, TORCH_COMPILE_DISABLE="1")  # torch.compile gives back what it gets


@pytest.mark.parametrize("env", [QUICK, pytest.param(None, marks=pytest.mark.slow)], ids=["quick", "compiled"])
def test_the_three_times_give_the_largest_gain_in_seconds_and_nothing_is_left_behind(kw, source, tmp_path, env):
    run = kw("worth", source, "--json", env=env)
    assert run.returncode == 0, run.stderr
    worth = json.loads(run.stdout)
    assert worth["sizes"] == {"rows": 2048, "cols": 1024}
    assert worth["bytes"] == 5 * 2048 * 1024 * 4  # x, y; x, d_y, grad_x
    assert 0 < worth["limit_seconds"] < 1
    best = min(s for s in (worth["eager_seconds"], worth["compiled_seconds"]) if s)
    assert worth["gain"] == pytest.approx(best / worth["limit_seconds"])
    assert worth["saved_seconds"] == pytest.approx(best - worth["limit_seconds"])
    assert worth["worthwhile"] == (worth["gain"] >= 1.1)
    assert worth["advice"].startswith(("Not worth a kernel", "Not known")) == (not worth["worthwhile"])
    assert not (tmp_path / "kernels").exists()


def test_the_text_names_the_three_times_and_ends_with_the_advice(kw, source):
    run = kw("worth", source, env=QUICK)
    assert run.returncode == 0, run.stderr
    for word in ("limit", "eager", "torch.compile"):
        assert f"\n  {word} " in run.stdout
    assert run.stdout.splitlines()[-1].startswith(("A kernel can be up to", "Not worth a kernel", "Not known"))


def test_a_kernel_of_the_workspace_is_judged_by_its_name(kw, source):
    assert kw("understand", source, "--name", "softmax").returncode == 0  # which would be words otherwise
    run = kw("worth", "softmax", "--json", env=QUICK)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["sizes"] == {"rows": 2048, "cols": 1024}


def test_what_has_no_pytorch_source_or_raises_in_pytorch_is_refused_in_words(kw, source, tmp_path):
    (tmp_path / "relu.kw").write_text(
        "op relu(x: T[rows])\n  types T = f32\n  sizes rows = 64\n  y = max(x, 0.0)\nreturn y\n"
    )
    run = kw("worth", "relu.kw")
    assert run.returncode == 2
    assert "there is no PyTorch source to compare with" in run.stderr
    source.write_text("raise RuntimeError('not today')\n" + SOURCE)
    run = kw("worth", source)
    assert run.returncode != 0
    assert "not today" in run.stderr
    assert kw("worth", "no_such_file.py").returncode == 2
    assert kw("worth", source, "--target", "abacus").returncode == 2
