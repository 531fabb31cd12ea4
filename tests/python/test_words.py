"""What phrases mean: the source that the words reader writes computes what the phrase's author expected.

tests/words/README.md says who wrote each list, and how its first run went.
"""

import contextlib
import json
import math
import os
import pathlib
import subprocess
import textwrap

import pytest
import torch
import torch.nn.functional as F
import yaml
from example_eval import CastsAreIdentity

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("BUILD", "build") / "words_of"
LISTS = sorted((ROOT / "tests" / "words").glob("*.yaml"))
MOST_REFUSED = {"phrases": 0, "second_list": 0, "third_list": 1, "fourth_list": 4, "own_phrases": 0}


def drawn(item, name, shape, generator):
    kind = torch.float32 if in_float32(item) else torch.float64
    uniform = torch.rand(shape, generator=generator, dtype=kind)
    domain = item.get("domain", {}).get(name, "")
    if name in item.get("ints", {}) or domain.startswith("int<"):
        bound = item["ints"][name] if name in item.get("ints", {}) else int(domain.removeprefix("int<"))
        return torch.randint(0, bound, shape, generator=generator)
    if name in item.get("ranges", {}):
        low, high = item["ranges"][name]
        return uniform * (high - low) + low
    if name in item.get("binary", []):
        values = (uniform < 0.5).to(kind)
        values[..., 0] = 1
        return values
    if name in item.get("signs", []) or domain == "sign":
        return (uniform < 0.5).to(kind) * 2 - 1
    if domain == "unit":
        return uniform * 0.98 + 0.01
    if domain == "positive":
        return uniform + 0.5
    if domain.startswith("bool"):
        return uniform < 0.5
    values = torch.randn(shape, generator=generator, dtype=kind)
    return values.to(getattr(torch, domain)) if domain in ("bfloat16", "float16") else values


def in_float32(item):
    """Lists whose answers are function bodies are drawn in their own types; the others in float64."""
    return "python" in item or "domain" in item


def draw(item, seed):
    generator = torch.Generator().manual_seed(seed)
    return {name: drawn(item, name, shape, generator) for name, shape in item.get("inputs", {}).items()}


def as_tuple(result):
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def expected(meaning, tensors):
    space = {"torch": torch, "F": F, "math": math}
    if "return" not in meaning:
        meaning = "return " + meaning
    exec(f"def author({', '.join(tensors)}):\n" + textwrap.indent(meaning, "    "), space)
    return as_tuple(space["author"](**tensors))


def computed(reading, tensors, item):
    """The reading's own source, run by PyTorch; arguments by name where the names agree, else by position."""
    space = {}
    exec(reading["source"], space)
    function = next(v for k, v in space.items() if k != "get_inputs" and hasattr(v, "__code__"))
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if len(names) != len(tensors):
        raise TypeError(f"it takes {names}, the author gave {list(tensors)}")
    with contextlib.nullcontext() if in_float32(item) else CastsAreIdentity():
        if set(names) == set(tensors):
            return as_tuple(function(**tensors))
        return as_tuple(function(*tensors.values()))


def agrees(reading, expression, item):
    tolerance = float(item.get("rtol", 1e-5 if in_float32(item) else 1e-6))
    absolute = 1e-6 if in_float32(item) else 1e-9
    for seed in (1, 2):
        tensors = draw(item, seed)
        try:
            ours, theirs = computed(reading, tensors, item), expected(expression, tensors)
        except (TypeError, RuntimeError, IndexError):
            return False
        if len(ours) != len(theirs):
            return False
        for a, b in zip(ours, theirs, strict=True):
            same_type = a.dtype == b.dtype or not in_float32(item)
            close = a.shape == b.shape and torch.allclose(a.double(), b.double(), tolerance, absolute, equal_nan=True)
            if not close or not same_type:
                return False
    return True


def verdict(item, answer):
    if "error" in answer:
        return "right" if item.get("not_an_op") else "refused"
    readings = answer["readings"]
    if item.get("not_an_op"):
        return "wrong"
    if "ambiguous" in item:
        if len(readings) == 1:
            return "wrong"
        found = all(any(agrees(r, meaning, item) for r in readings) for meaning in item["ambiguous"])
        return "right" if found else "refused"
    if len(readings) > 1:
        return "refused"
    return "right" if agrees(readings[0], item.get("expect") or item["python"], item) else "wrong"


def judged(path):
    """Each phrase of a list with its verdict and the reader's answer."""
    items = yaml.safe_load(path.read_text())
    phrases = "".join(item["phrase"].replace("\n", " ") + "\n" for item in items)
    run = subprocess.run([TOOL], input=phrases, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    return [(item, verdict(item, answer), answer) for item, answer in zip(items, answers, strict=True)]


@pytest.mark.parametrize("path", LISTS, ids=lambda p: p.stem)
def test_phrases_are_understood_and_none_is_misunderstood(path):
    verdicts = judged(path)
    wrong = [item["phrase"] for item, v, _ in verdicts if v == "wrong"]
    refused = [item["phrase"] for item, v, _ in verdicts if v == "refused"]
    assert not wrong
    assert len(refused) <= MOST_REFUSED[path.stem], refused
