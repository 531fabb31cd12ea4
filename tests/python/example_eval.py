"""Runs an example as the static reader understood it, in the engine's interpreter."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import torch
from graph_eval import array
from shrunk_examples import SMALL
from torch.overrides import TorchFunctionMode

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("BUILD", "build") / "example_eval"
NAMES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32", torch.float64: "f64"}


class CastsAreIdentity(TorchFunctionMode):
    """Every cast to a floating type keeps float64: the math without its roundings."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        widen = lambda v: torch.float64 if isinstance(v, torch.dtype) and v.is_floating_point else v  # noqa: E731
        if function in (torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16, torch.Tensor.double):
            return args[0].to(torch.float64)
        return function(*[widen(a) for a in args], **{name: widen(value) for name, value in kwargs.items()})


def outputs_of(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def shrunk_source(path, folder):
    """A copy of the example with the small sizes: what is fixed while reading (a stride) is read small too."""
    text = path.read_text()
    own = [name for name in SMALL if re.search(rf"^[\w, ]*\b{name}\b[\w, ]* = ", text, re.MULTILINE)]
    start = re.search(r"^(def|class|@)", text, re.MULTILINE).start()
    lines = "".join(f"{name} = {SMALL[name]}\n" for name in own)
    copy = pathlib.Path(folder) / path.name
    copy.write_text(text[:start] + lines + "\n\n" + text[start:])
    return copy


def evaluate(path, named_tensors, semantics, types=()):
    """The interpreter's outputs by name, in order; `named_tensors` are inputs, parameters, buffers and cotangents."""
    call = {"inputs": {name: array(tensor) for name, tensor in named_tensors.items()}, "sizes": SMALL}
    with tempfile.TemporaryDirectory() as folder:
        command = [TOOL, shrunk_source(path, folder), semantics, *types]
        run = subprocess.run(command, input=json.dumps(call), capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def tensor(document, key="values"):
    return torch.tensor([float(v) for v in document[key]], dtype=torch.float64).reshape(document["shape"])
