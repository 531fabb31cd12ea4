"""The kernels of every example, whole, to the byte. tools/codegen_diff.py shows differences and updates."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import codegen_diff


@pytest.mark.parametrize("example", codegen_diff.EXAMPLES)
def test_the_kernels_are_as_recorded_to_the_byte(example):
    diffs = codegen_diff.difference(codegen_diff.golden(example), codegen_diff.generate(example))
    text = "\n".join(line for lines in diffs.values() for line in lines)
    assert not diffs, f"{text}\nif that is right: tools/codegen_diff.py --update"


def test_every_golden_folder_is_of_an_example():
    for target in codegen_diff.TARGETS:
        assert sorted(path.name for path in (codegen_diff.GOLDEN / target).iterdir()) == codegen_diff.EXAMPLES


@pytest.mark.parametrize("example", ["layer_norm", "jsd"])
@pytest.mark.parametrize(
    "env", [{"LC_ALL": "de_DE.UTF-8"}, {"LC_ALL": "C", "OMP_NUM_THREADS": "7", "TZ": "Asia/Tokyo"}]
)
def test_neither_locale_nor_threads_nor_time_zone_reach_the_bytes(example, env):
    assert codegen_diff.generate(example, env={**os.environ, **env}) == codegen_diff.golden(example)


@pytest.mark.parametrize(
    ("example", "change"),
    [("rms_norm_llama", "shapes.test=batch=3 seq=5 hidden=7"), ("softmax", "shapes.measure=rows=64 cols=128")],
)
def test_a_list_of_shapes_does_not_reach_the_bytes(example, change):
    assert codegen_diff.generate(example, changes=[change]) == codegen_diff.golden(example)
