"""Runs a PyTorch function through its exported graph in the engine's interpreter."""

import json
import math
import os
import pathlib
import subprocess
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kernelwright.export_graph import export_graph  # noqa: E402

TOOL = ROOT / os.environ.get("BUILD", "build") / "graph_eval"


def number(value):
    return value if isinstance(value, (bool, int)) or math.isfinite(value) else str(value)


def array(tensor):
    values = tensor.detach()
    values = values.double() if values.is_floating_point() else values
    return {"shape": list(tensor.shape), "values": [number(v) for v in values.flatten().tolist()]}


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, (list, tuple)) or not isinstance(value, (int, float, str, bool, type(None))):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []


def evaluate(document, inputs, semantics, folder):
    """The outputs of an exported graph as tensors of their own types; updates of buffers by name."""
    path = pathlib.Path(folder) / "graph.json"
    path.write_text(json.dumps(document, allow_nan=False))
    given = {name: array(tensor) for name, tensor in inputs.items()}
    run = subprocess.run([TOOL, path, semantics], input=json.dumps(given), capture_output=True, text=True)
    if run.returncode != 0:
        raise AssertionError(f"graph_eval: {run.stderr}")
    outputs, updates = [], {}
    for entry in json.loads(run.stdout):
        dtype = getattr(torch, entry["dtype"])
        wide = torch.float64 if dtype.is_floating_point else dtype
        values = [float(v) if isinstance(v, str) else v for v in entry["values"]]
        tensor = torch.tensor(values, dtype=torch.float64).to(wide).reshape(entry["shape"])
        if semantics == "rounded":
            tensor = tensor.to(dtype)
        tensor.exported_dtype = dtype
        if "updates" in entry:
            updates[entry["updates"]] = tensor
        else:
            outputs.append(tensor)
    return outputs, updates


def inputs_by_name(document, module, arguments):
    """What the graph's inputs are at these arguments."""
    names = [entry["name"] for entry in document["inputs"] if entry["kind"] == "tensor"]
    given = dict(zip(names, tensors_in(list(arguments))))
    if isinstance(module, torch.nn.Module):
        given |= dict(module.named_parameters()) | dict(module.named_buffers())
    return {entry["name"]: given[entry["name"]].clone() for entry in document["inputs"] if entry["name"] in given}


def run_both(function, arguments, semantics, folder, training=True):
    """(the interpreter's outputs and updates, PyTorch's outputs and updates)"""
    document = export_graph(function, arguments, "case", training)
    inputs = inputs_by_name(document, function, arguments)
    ours = evaluate(document, inputs, semantics, folder)
    theirs = tensors_in(function(*arguments))
    updates = {}
    if isinstance(function, torch.nn.Module):
        updates = {k: v for k, v in function.named_buffers() if k in inputs and not torch.equal(v, inputs[k])}
    return ours, (theirs, updates)
