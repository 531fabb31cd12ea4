"""Runs what the static reader read beside the original: reference.py against PyTorch, on the same tensors."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent


class Reader:
    """A resident reader: one request per line, one answer per line."""

    def __init__(self, program=None):
        program = program or ROOT / "build" / "read_graph"
        self.process = subprocess.Popen([program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, *arguments):
        self.process.stdin.write(json.dumps([str(argument) for argument in arguments]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the reader died on {arguments}")
        return json.loads(line)


class Misread(Exception):
    """The graph and the original disagree."""


class Unsuitable(Exception):
    """The sizes that were tried do not fit the original."""


def size(text, sizes):
    """The number that a size expression of the reader has."""
    return eval(text, {"__builtins__": {}}, sizes)  # an expression of names, + - * // and numbers


def choose_sizes(answer, seed, largest=12, smallest=2):
    """A small number for every size, within what the graph demands of them."""
    rng = random.Random(seed)
    names = list(answer["sizes"])
    for _ in range(4000):
        sizes = {}
        for name in names:
            hint = answer["sizes"][name] or largest
            sizes[name] = rng.randint(min(smallest, hint), min(hint, largest))
        for text in answer["constraints"]:
            multiple = re.fullmatch(r"\((\w+)\) % \((\d+)\) == 0", text)
            if multiple and sizes[multiple[1]] % int(multiple[2]):
                sizes[multiple[1]] = int(multiple[2]) * rng.randint(1, 3)
        if all(eval(text, {"__builtins__": {}}, sizes) for text in answer["constraints"]):
            dims = [size(dim, sizes) for row in answer["inputs"] for dim in row["dims"]]
            if all(dim >= 1 for dim in dims):
                return sizes
    raise Unsuitable("no small sizes fit the constraints")


def load_reference(answer):
    if "reference" not in answer:
        raise Misread("no reference.py: " + answer["reference_error"])
    namespace = {"__name__": "reference"}
    exec(compile(answer["reference"], f"<reference of {answer['name']}>", "exec"), namespace)
    return namespace[answer["function"]]


def flatten(value):
    if value is None:
        return []
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    return [tensor for item in value for tensor in flatten(item)]


def randomise(module, seed=0):
    """Parameters and buffers with values that nothing hides behind: not 0 and 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            if not tensor.is_floating_point():
                continue
            values = torch.rand(tensor.shape, generator=generator, dtype=torch.float64)
            positive = "var" in name.rsplit(".", 1)[-1]
            tensor.copy_(values + 0.5 if positive else values * 2 - 1)


def draws_random_numbers(answer):
    return any(row["name"] == "seed" for row in answer["inputs"])


def compare(got, wanted):
    """None if the tensors agree as far as two orders of summation may differ, else what differs."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs instead of {len(wanted)}"
    for index, (a, b) in enumerate(zip(got, wanted)):
        if a.shape != b.shape:
            return f"output {index} has shape {tuple(a.shape)} instead of {tuple(b.shape)}"
        if a.dtype != b.dtype:
            return f"output {index} has type {a.dtype} instead of {b.dtype}"
        if not a.is_floating_point():
            if not torch.equal(a, b):
                return f"output {index} differs"
            continue
        x, y = a.double(), b.double()
        finite = y[y.isfinite()].abs()
        scale = torch.maximum(y.abs(), torch.full_like(y, finite.mean().item() if finite.numel() else 1))
        units = {torch.float64: 1e5, torch.float32: 256}.get(a.dtype, 2)
        close = (x - y).abs() <= units * torch.finfo(a.dtype).eps * scale
        wrong = ~(close | (x == y) | (x.isnan() & y.isnan()))
        # A rounding that falls the other way after another order of summation moves single elements of a narrow type; a
        # cast at another place moves many.
        allowed = 0 if a.dtype in (torch.float32, torch.float64) else max(1, wrong.numel() // 50)
        if int(wrong.sum()) > allowed:
            most = (x - y).abs().max()
            return f"output {index}: {int(wrong.sum())} of {wrong.numel()} elements differ, at most by {most:.3g}"
    return None


def summarise(title, total, read, refused, misread):
    print(f"{title}: {read} of {total} read ({100 * read / max(total, 1):.1f}%), {len(misread)} misread")
    for name, text in refused:
        first = re.sub(r"\s+", " ", text.strip().splitlines()[0])
        print(f"  refused {name}: {first}")
    for name, text in misread:
        print(f"  MISREAD {name}: {text}")
    sys.stdout.flush()
