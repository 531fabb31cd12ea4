"""Random graphs from the engine, run by PyTorch: where the two disagree is said in words."""

import json
import os
import subprocess
from pathlib import Path

import torch

BUILD = Path(__file__).resolve().parents[2] / os.environ.get("BUILD", "build")
TOOL = BUILD / "random_graphs"


def graphs(mode, first, count, plant=""):
    """One graph after the other, as the tool makes them; it is ended when nobody asks for more."""
    command = [TOOL, mode, str(first), str(count), *([plant] if plant else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tool:
        try:
            yield from map(json.loads, tool.stdout)
            assert tool.wait() == 0
        finally:
            tool.kill()


def numbers(values):
    return torch.tensor([float(v) for v in values], dtype=torch.float64)


def tensor(described):
    return numbers(described["values"]).reshape(described["shape"]).to(getattr(torch, described["dtype"]))


def function_of(graph):
    namespace = {}
    exec(compile(graph["reference"], f"reference of seed {graph['seed']}", "exec"), namespace)
    return namespace[graph["function"]]


def outputs_of(result):
    return result if isinstance(result, tuple) else (result,)


def difference(what, actual, expected, bounds):
    """Nothing, or where the values lie apart by more than the bounds."""
    actual, expected = actual.double().flatten(), expected.flatten()
    apart = (actual - expected).abs()
    same = (actual == expected) | (actual.isnan() & expected.isnan()) | bounds.isposinf()
    wrong = ~(same | (apart <= bounds))
    if not wrong.any():
        return None
    at = int(wrong.nonzero()[0])
    return f"{what}[{at}]: torch {actual[at]!r}, the engine {expected[at]!r}, allowed {bounds[at]:.3g}"


def described_difference(name, actual, described, relative=None):
    """Against an output that the tool described: its type, its shape and its values. Without a relative tolerance the
    interpreter's own bounds hold."""
    if str(actual.dtype) != "torch." + described["dtype"]:
        return f"{name} is {actual.dtype}, in the graph {described['dtype']}"
    if list(actual.shape) != described["shape"]:
        return f"{name} has the shape {list(actual.shape)}, in the graph {described['shape']}"
    expected = numbers(described["values"])
    if relative is None:
        bounds = numbers(described["bounds"]) if described["bounds"] else torch.zeros_like(expected)
    else:
        scale = expected[expected.isfinite()].abs().max() if expected.isfinite().any() else torch.tensor(0.0)
        bounds = relative * torch.maximum(expected.abs().nan_to_num(0.0, 0.0, 0.0), scale.clamp(min=1e-3) * 0.1)
    return difference(name, actual, expected, bounds)


def forward_difference(graph, relative=None):
    """Where the reference and the interpreter disagree on one graph, or nothing."""
    if "refused" in graph:
        return graph["refused"]
    inputs = {name: tensor(described) for name, described in graph["inputs"].items()}
    try:
        with torch.no_grad():
            results = outputs_of(function_of(graph)(**inputs))
    except Exception as error:
        return f"the reference fails: {type(error).__name__}: {error}"
    for i, (actual, described) in enumerate(zip(results, graph["outputs"], strict=True)):
        if wrong := described_difference(f"output {i}", actual, described, relative):
            return wrong
    return None


def gradient_difference(graph, relative):
    """Where autograd and the derivative graph disagree, or nothing."""
    if "refused" in graph:
        return graph["refused"]
    inputs = {name: tensor(described) for name, described in graph["inputs"].items()}
    leaves = {name: inputs[name].requires_grad_() for name in graph["gradients"]}
    results = outputs_of(function_of(graph)(**inputs))
    pairs = [(results[int(i)], tensor(d)) for i, d in graph["cotangents"].items() if results[int(i)].requires_grad]
    found = [None] * len(leaves)
    if pairs:
        outputs, cotangents = zip(*pairs, strict=True)
        found = torch.autograd.grad(outputs, list(leaves.values()), cotangents, allow_unused=True)
    for (name, leaf), gradient in zip(leaves.items(), found, strict=True):
        actual = torch.zeros_like(leaf) if gradient is None else gradient
        if wrong := described_difference(f"the gradient of {name}", actual, graph["gradients"][name], relative):
            return wrong
    return None


def report(graph, wrong):
    return f"seed {graph['seed']}: {wrong}\n{graph.get('math', '')}\n{graph.get('reference', '')}"
