"""Every cheat on the list is tried by a kernel of wrong/, which names the gate that must catch it, or by a test."""

from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parent
CHEATS = yaml.safe_load((FOLDER / "cheats.yaml").read_text())
SEEN_IN_THE_WILD = {
    "reused output memory", "side streams", "cached results", "constant outputs", "patched timers",
    "a kernel that is never called", "lower precision", "an inherited forward",
}  # fmt: skip


def test_every_cheat_is_tried():
    assert set(CHEATS) >= SEEN_IN_THE_WILD
    for cheat, by in CHEATS.items():
        named = [FOLDER / by["test"]] if "test" in by else (FOLDER / "wrong").glob(f"{by['kernel']}.c[cu]")
        paths = [path for path in named if path.is_file()]
        assert len(paths) == 1, f"nothing tries: {cheat}"
        if "kernel" in by:
            assert "\n// gate: " in paths[0].read_text(), cheat


def test_there_are_at_least_twenty_five_wrong_kernels_each_with_its_gate():
    wrong = sorted((FOLDER / "wrong").iterdir())
    assert len(wrong) >= 25
    for path in wrong:
        lines = path.read_text().splitlines()
        assert lines[0].startswith("// op: ") and lines[1].startswith("// gate: "), path.name


@pytest.mark.parametrize("gate", ["fresh", "inputs-intact", "casting", "strides"])
def test_a_gate_that_kernels_of_both_languages_can_fail_is_failed_by_both(gate):
    for extension in ("cc", "cu"):
        texts = [path.read_text() for path in (FOLDER / "wrong").glob(f"*.{extension}")]
        assert any(f"\n// gate: {gate}\n" in text for text in texts), extension
