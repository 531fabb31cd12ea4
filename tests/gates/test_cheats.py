"""Every cheat on the list is tried by a kernel of wrong/, which names the gate that must catch it, or by a test."""

from pathlib import Path

import yaml

FOLDER = Path(__file__).parent
CHEATS = yaml.safe_load((FOLDER / "cheats.yaml").read_text())


def test_every_cheat_is_tried():
    assert len(CHEATS) >= 8
    for cheat, by in CHEATS.items():
        path = FOLDER / by["test"] if "test" in by else FOLDER / "wrong" / f"{by['kernel']}.cc"
        assert path.is_file(), f"nothing tries: {cheat}"
        if "kernel" in by:
            assert "\n// gate: " in path.read_text(), cheat


def test_there_are_at_least_twenty_five_wrong_kernels_each_with_its_gate():
    wrong = sorted((FOLDER / "wrong").iterdir())
    assert len(wrong) >= 25
    for path in wrong:
        lines = path.read_text().splitlines()
        assert lines[0].startswith("// op: ") and lines[1].startswith("// gate: "), path.name
