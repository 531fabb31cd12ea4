"""What phrases mean: the source that the words reader writes computes what the phrase's author expected.

The lists under tests/words/ were written by someone who had not seen the lexicon, and were frozen before their first
run. On its first run phrases.yaml gave 14 right, none wrong and 36 refused; the reader has been developed on it since.
"""

import json
import math
import os
import pathlib
import subprocess

import pytest
import torch
import torch.nn.functional as F
import yaml
from example_eval import CastsAreIdentity

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("BUILD", "build") / "words_of"
LISTS = sorted((ROOT / "tests" / "words").glob("*.yaml"))
FEWEST_RIGHT = 45


def draw(item, seed):
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, shape in item.get("inputs", {}).items():
        uniform = torch.rand(shape, generator=generator, dtype=torch.float64)
        if name in item.get("ints", {}):
            tensors[name] = torch.randint(0, item["ints"][name], shape, generator=generator)
        elif name in item.get("ranges", {}):
            low, high = item["ranges"][name]
            tensors[name] = uniform * (high - low) + low
        elif name in item.get("binary", []):
            tensors[name] = (uniform < 0.5).double()
            tensors[name][..., 0] = 1
        elif name in item.get("signs", []):
            tensors[name] = (uniform < 0.5).double() * 2 - 1
        else:
            tensors[name] = torch.randn(shape, generator=generator, dtype=torch.float64)
    return tensors


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def expected(expression, tensors):
    return as_tuple(eval(expression, {"torch": torch, "F": F, "math": math}, dict(tensors)))


def computed(reading, tensors):
    """The reading's own source, run by PyTorch; arguments by name where the names agree, else by position."""
    space = {}
    exec(reading["source"], space)
    function = next(v for k, v in space.items() if k != "get_inputs" and hasattr(v, "__code__"))
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if len(names) != len(tensors):
        raise TypeError(f"it takes {names}, the author gave {list(tensors)}")
    with CastsAreIdentity():
        if set(names) == set(tensors):
            return as_tuple(function(**tensors))
        return as_tuple(function(*tensors.values()))


def agrees(reading, expression, item):
    tolerance = float(item.get("rtol", 1e-6))
    for seed in (1, 2):
        tensors = draw(item, seed)
        try:
            ours, theirs = computed(reading, tensors), expected(expression, tensors)
        except (TypeError, RuntimeError, IndexError):
            return False
        if len(ours) != len(theirs):
            return False
        for a, b in zip(ours, theirs, strict=True):
            close = a.shape == b.shape and torch.allclose(a.double(), b.double(), tolerance, 1e-9, equal_nan=True)
            if not close:
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
    return "right" if agrees(readings[0], item["expect"], item) else "wrong"


@pytest.mark.parametrize("path", LISTS, ids=lambda p: p.stem)
def test_phrases_are_understood_and_none_is_misunderstood(path):
    items = yaml.safe_load(path.read_text())
    phrases = "".join(item["phrase"].replace("\n", " ") + "\n" for item in items)
    run = subprocess.run([TOOL], input=phrases, capture_output=True, text=True, check=True)
    verdicts = [verdict(i, json.loads(line)) for i, line in zip(items, run.stdout.splitlines(), strict=True)]
    wrong = [i["phrase"] for i, v in zip(items, verdicts, strict=True) if v == "wrong"]
    refused = [i["phrase"] for i, v in zip(items, verdicts, strict=True) if v == "refused"]
    assert not wrong
    assert verdicts.count("right") >= FEWEST_RIGHT, refused
