"""Every example, as it was read, matches PyTorch in float64: forward and gradients, casts as identity."""

import inspect

import pytest
import torch
from example_eval import CastsAreIdentity, evaluate, outputs_of, tensor
from shrunk_examples import FILES, FunctionModule, problem


def argument_names(module):
    function = module.function if isinstance(module, FunctionModule) else module.forward
    return [name for name in inspect.signature(function).parameters if name != "self"]


def relative_error(ours, theirs):
    theirs = theirs.double()
    assert ours.shape == theirs.shape, f"shape {tuple(ours.shape)}, PyTorch's is {tuple(theirs.shape)}"
    scale = theirs.abs().max().clamp(min=1e-30) if theirs.numel() else torch.tensor(1.0)
    return ((ours - theirs).abs().max() / scale).item() if theirs.numel() else 0.0


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_forward_and_gradients_match_pytorch_in_float64(path):
    module, inputs = problem(path)
    module = module.double()
    inputs = [t.double() if t.is_floating_point() else t for t in inputs]
    named = dict(zip(argument_names(module), inputs, strict=False))
    leaves = {name: t for name, t in named.items() if t.is_floating_point()}
    for t in leaves.values():
        t.requires_grad_(True)
    parameters = dict(module.named_parameters())
    buffers = dict(module.named_buffers())
    with CastsAreIdentity():
        results = outputs_of(module(*inputs))
        generator = torch.Generator().manual_seed(1)
        floating = [r for r in results if r.is_floating_point()]
        cotangents = [torch.randn(r.shape, generator=generator, dtype=torch.float64) for r in floating]
        wanted = {**leaves, **parameters}
        gradients = torch.autograd.grad(floating, list(wanted.values()), cotangents, allow_unused=True)

    first = evaluate(path, {**named, **parameters, **buffers}, "real")
    for name, theirs in zip(first["names"], results, strict=True):
        assert relative_error(tensor(first["outputs"][name]), theirs.detach()) <= 1e-10, name

    names = [n for n, r in zip(first["names"], results, strict=True) if r.is_floating_point()]
    call = {**named, **parameters, **buffers, **{f"d_{n}": c for n, c in zip(names, cotangents, strict=True)}}
    both = evaluate(path, call, "real")
    compared = 0
    for (name, leaf), theirs in zip(wanted.items(), gradients, strict=True):
        ours = both["outputs"].get(f"grad_{name}")
        if ours is None:
            assert theirs is None or not theirs.any(), f"no gradient of {name} was taken"
            continue
        theirs = torch.zeros_like(leaf) if theirs is None else theirs
        assert relative_error(tensor(ours), theirs) <= 1e-10, f"grad_{name}"
        compared += 1
    assert compared > 0
