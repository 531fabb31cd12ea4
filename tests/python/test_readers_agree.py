"""The static reader and the exported graph of every example are the same graph, at the example's own configuration."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("BUILD", "build") / "compare_readers"
sys.path.insert(0, str(ROOT / "python"))

from kernelwright.export_graph import export_graph, load  # noqa: E402

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def differences(path, document, folder):
    graph = folder / "graph.json"
    graph.write_text(json.dumps(document))
    environment = os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    run = subprocess.run([TOOL, path, document["name"], graph], capture_output=True, text=True, env=environment)
    assert run.returncode in (0, 1), run.stderr
    return run.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_both_readers_give_the_same_graph(path, tmp_path):
    target, inputs, name = load(str(path), None)
    assert differences(path, export_graph(target, inputs, name), tmp_path) == ""


def test_a_different_program_gives_a_different_graph(tmp_path):
    target, inputs, name = load(str(ROOT / "examples" / "silu.py"), None)
    document = export_graph(target, inputs, name)
    path = tmp_path / "silu.py"
    text = (ROOT / "examples" / "silu.py").read_text()
    assert "torch.sigmoid(" in text
    path.write_text(text.replace("torch.sigmoid(", "torch.tanh("))
    assert "differs" in differences(path, document, tmp_path)
