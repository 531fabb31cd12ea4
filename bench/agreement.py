"""Runs what the static reader read beside the original, on the same tensors.

In float32 and bfloat16 the judge is the interpreter's rounded semantics: it gives each element a value and a bound, and
the original run by PyTorch must lie within it on every element, in the same type; a cast at another place does not. In
float64 the casts are the identity, and the two agree to 2e-11.
"""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

from graph_eval import array  # noqa: E402


class Reader:
    """A resident reader: one request per line, one answer per line."""

    def __init__(self, program=None):
        program = program or ROOT / "build" / "read_graph"
        self.process = subprocess.Popen([program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, question, what):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the reader died on {what}")
        return json.loads(line)

    def read(self, *arguments):
        return self.ask([str(argument) for argument in arguments], arguments)

    def evaluate(self, tensors, sizes):
        """(value, bound, type) of each output of the graph last read, in the rounded semantics."""
        call = {"inputs": {name: array(tensor) for name, tensor in tensors.items()}, "sizes": sizes}
        answer = self.ask(call, "a call")
        if "error" in answer:
            raise Unsuitable("the graph does not admit the call: " + answer["error"].splitlines()[0])
        return [
            (numbers(entry, "values"), numbers(entry, "bounds"), getattr(torch, entry["dtype"]))
            for entry in answer["outputs"]
        ]


def numbers(entry, key):
    return torch.tensor([float(v) for v in entry[key]], dtype=torch.float64).reshape(entry["shape"])


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


def differs_in_form(got, wanted):
    """What shapes, types and number of outputs say; each is a list of (shape, type)."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs instead of {len(wanted)}"
    for index, ((shape, dtype), (wanted_shape, wanted_dtype)) in enumerate(zip(got, wanted)):
        if shape != wanted_shape:
            return f"output {index} has shape {tuple(shape)} instead of {tuple(wanted_shape)}"
        if dtype != wanted_dtype:
            return f"output {index} has type {dtype} instead of {wanted_dtype}"
    return None


def outside_the_bound(oracle, results):
    """What tensors say that are not what the oracle admits, or None; the oracle is Reader.evaluate's answer."""
    form = [(value.shape, dtype) for value, _, dtype in oracle]
    difference = differs_in_form(form, [(tensor.shape, tensor.dtype) for tensor in results])
    if difference:
        return difference
    for index, ((value, bound, _), result) in enumerate(zip(oracle, results)):
        theirs = result.double()
        same = (value == theirs) | (value.isnan() & theirs.isnan())
        wrong = ~same & ~((value - theirs).abs() <= bound)
        if wrong.any():
            most = ((value - theirs).abs() - bound)[wrong].max()
            return f"output {index}: {int(wrong.sum())} of {wrong.numel()} elements beyond their bound, by {most:.3g}"
    return None


def admits_anything(oracle):
    """A bound without end, at a jump of the math, proves nothing: other numbers must be drawn."""
    return any(bound.isinf().any() for _, bound, _ in oracle)


def differs_in_double(got, wanted):
    """What tells two lists of float64 tensors apart, or None."""
    form = [(tensor.shape, tensor.dtype) for tensor in got]
    difference = differs_in_form(form, [(tensor.shape, tensor.dtype) for tensor in wanted])
    if difference:
        return difference
    for index, (a, b) in enumerate(zip(got, wanted)):
        if not a.is_floating_point():
            if not torch.equal(a, b):
                return f"output {index} differs"
            continue
        finite = b[b.isfinite()].abs()
        scale = b.abs().clamp(min=finite.mean().item() if finite.numel() else 1)
        wrong = ~(((a - b).abs() <= 2e-11 * scale) | (a == b) | (a.isnan() & b.isnan()))
        if wrong.any():
            most = (a - b).abs().max()
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
