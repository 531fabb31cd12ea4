"""The exporter: what it writes fits its schema, and what it cannot write it refuses with a reason."""

import json
import pathlib
import sys

import jsonschema
import pytest
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kernelwright.export_graph import ExportError, export_graph, main  # noqa: E402

SCHEMA = json.loads((ROOT / "schema" / "exported_graph.schema.json").read_text())


def scaled(x, factor: float = 2.0):
    half = x.shape[-1] // 2
    table = torch.tensor([1.0, float("inf")], dtype=x.dtype)
    return torch.cat((x[..., :half].float(), x[..., half:]), -1).masked_fill(x > 0, -float("inf")), table * factor


def test_what_is_written_fits_the_schema():
    for function, inputs in ((scaled, [torch.randn(3, 4)]), (torch.nn.BatchNorm1d(4), [torch.randn(3, 4)])):
        document = json.loads(json.dumps(export_graph(function, inputs), allow_nan=False))
        jsonschema.validate(document, SCHEMA)
    document["version"] = 2
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_sizes_stay_symbolic_and_parameters_have_their_numbers():
    document = export_graph(torch.nn.Linear(4, 2), [torch.randn(3, 4)])
    shapes = {entry["name"]: entry["shape"] for entry in document["inputs"]}
    assert shapes == {"input": ["s0", 4], "weight": [2, 4], "bias": [2]}
    assert document["symbols"] == {"s0": 3}


def test_composite_operations_stay_whole():
    document = export_graph(lambda x: torch.nn.functional.layer_norm(x, (4,)).softmax(-1), [torch.randn(3, 4)], "f")
    assert [node["target"] for node in document["nodes"]] == ["aten.layer_norm.default", "aten.softmax.int"]


def test_inputs_keep_the_names_of_the_source():
    document = export_graph(lambda A, maskIds: A * maskIds, [torch.randn(3, 4), torch.ones(3, 4)], "f")
    assert [entry["name"] for entry in document["inputs"]] == ["A", "maskIds"]


@pytest.mark.parametrize("training", [True, False], ids=["training", "eval"])
def test_modules_are_exported_in_the_mode_that_is_asked_for(training):
    module = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.ReLU())
    document = export_graph(module, [torch.randn(3)], training=training)
    assert [n["args"][2] for n in document["nodes"] if n["target"] == "aten.dropout.default"] == [training]


def test_a_program_that_branches_on_data_is_refused():
    with pytest.raises(ExportError, match="torch.export failed"):
        export_graph(lambda x: x * 2 if x.sum() > 0 else x, [torch.randn(3)], "f")


PROBLEM = """
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, n, factor=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.factor = factor
    def forward(self, x):
        return x * self.weight * self.factor

def get_inputs():
    return [torch.randn(2, 4)]

def get_init_inputs():
    return [4, 0.5]
"""


def test_a_file_with_one_module_needs_no_name(tmp_path):
    source, target = tmp_path / "scale.py", tmp_path / "graph.json"
    source.write_text(PROBLEM)
    assert main([str(source), "-o", str(target)]) == 0
    document = json.loads(target.read_text())
    assert document["name"] == "Scale"
    assert all(node["at"]["file"].endswith("scale.py") for node in document["nodes"])


@pytest.mark.parametrize(
    "source, message",
    [
        ("scale.py:Missing", "has no Missing"),
        ("absent.py", "absent.py"),
        ("two.py", "has 2 candidates"),
        ("bare.py:f", "has no get_inputs()"),
    ],
)
def test_what_cannot_be_exported_is_told(source, message, tmp_path, capsys):
    (tmp_path / "scale.py").write_text(PROBLEM)
    (tmp_path / "two.py").write_text("def f(x): return x\ndef g(x): return x\ndef get_inputs(): return []\n")
    (tmp_path / "bare.py").write_text("def f(x): return x\n")
    assert main([str(tmp_path / source)]) == 2
    assert message in capsys.readouterr().err
