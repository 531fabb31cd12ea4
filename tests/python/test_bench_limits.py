"""What the benchmarks take for the limit of a pass, and how large they make it."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from cpu_limit import LEAST_CACHE, MOST_CACHE, last_level_cache, shown_cache  # noqa: E402
from pass_limit import bytes_moved, share_of, values_returned  # noqa: E402

PROFILE = """
math:
  read: |
    op Sum(x: T[rows, cols])
    return y
  forward: |
    op Sum(x: T[rows, cols], z: T[rows, cols])
    return y, total = s[rows]
  backward: |
    op Sum_backward(d_y: T[rows, cols])
    return grad_x = d[rows, cols], grad_z = d[rows, cols],
           grad_norm.weight
  rule: derivative
"""


def test_outputs_that_are_one_value_are_told_by_the_graph():
    assert values_returned(PROFILE, "forward") == ["y", "s[rows]"]
    assert values_returned(PROFILE, "backward") == ["d[rows, cols]", "d[rows, cols]", "grad_norm.weight"]


def test_inputs_are_read_and_values_written_once_and_workspaces_do_not_count():
    roles = {"d_y": "input", "grad_x": "output", "grad_z": "output", "grad_norm_weight": "output", "parts": "workspace"}
    buffers = [{"name": name, "role": role} for name, role in roles.items()]
    sizes = {"d_y": 800, "grad_x": 800, "grad_z": 800, "grad_norm_weight": 8, "parts": 64}
    moved = bytes_moved(buffers, values_returned(PROFILE, "backward"), lambda b: sizes[b["name"]])
    assert moved == ([800], [800, 8])


def test_a_share_counts_at_most_all():
    assert share_of(2.0, 4.0) == 0.5
    assert share_of(4.0, 2.0) == 1.0


def cache(folder, index, level, kind, size):
    (folder / f"index{index}").mkdir()
    for name, text in (("level", level), ("type", kind), ("size", size)):
        (folder / f"index{index}" / name).write_text(f"{text}\n")


def test_the_cache_is_that_of_the_last_level(tmp_path):
    cache(tmp_path, 0, 1, "Data", "32K")
    cache(tmp_path, 1, 1, "Instruction", "64K")
    cache(tmp_path, 2, 3, "Unified", "96M")
    cache(tmp_path, 3, 2, "Unified", "1024K")
    assert shown_cache(tmp_path) == 96 << 20


def test_a_cache_that_is_not_shown_or_cannot_be_is_kept_within_bounds(tmp_path):
    assert shown_cache(tmp_path) == 0
    assert last_level_cache(0) == LEAST_CACHE
    assert last_level_cache(48 << 20) == 48 << 20
    assert last_level_cache(1 << 31) == MOST_CACHE


def test_passes_are_as_large_as_asked_without_their_weights():
    torch = pytest.importorskip("torch")
    from cpu_vs_torch import Example, Kernels

    kernels, example, least = Kernels("layer_norm", torch), Example("layer_norm", torch), 4 << 20

    def passes_of(given):
        sizes = kernels.sizes(kernels.manifest["passes"][0], given)
        return [sum(kernels.bytes_moved(run, sizes)) for run in kernels.manifest["passes"]]

    rows = example.count_for(least, passes_of)
    inputs = example.inputs(rows)
    assert rows == inputs["x"].shape[0]
    assert inputs["x"].nbytes <= least <= sum(t.nbytes for t in inputs.values()) < least + inputs["x"][0].nbytes
    assert min(passes_of(example.given(inputs))) >= least
