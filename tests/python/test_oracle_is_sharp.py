"""The rounded oracle's bound admits PyTorch eager on every element and nothing less careful: another casting order, a
narrow accumulator or a narrow statistic lies outside."""

import math

import pytest
import torch
import torch.nn.functional as F
from example_eval import NAMES, evaluate, outputs_of, tensor
from roundings_of_cuda import RoundingsOfCuda
from shrunk_examples import EXAMPLES, problem
from test_examples_match import argument_names

TIER_1 = "relu_squared silu gelu_erf gelu_tanh swiglu geglu softplus mish hardswish dyt".split()
TIER_2 = (
    "rms_norm_llama rms_norm_gemma rms_norm_none rms_norm_mixed fused_add_rms_norm layer_norm group_norm softmax "
    "group_norm_silu log_softmax l2_normalize poly_norm mean_middle instance_norm mse huber hinge kl_div jsd tvd"
).split()


def cast_problem(name, dtype):
    """The example at a type: its module, and its inputs by name. A parameter that the source keeps in fp32 stays so."""
    module, inputs = problem(EXAMPLES / f"{name}.py")
    if name != "rms_norm_mixed":
        module = module.to(dtype)
    inputs = [t.to(dtype) if t.is_floating_point() else t for t in inputs]
    return module, dict(zip(argument_names(module), inputs, strict=False))


def oracle(name, module, inputs, dtype):
    types = [f"T={NAMES[dtype]}"] + ([] if name == "rms_norm_mixed" else [f"W={NAMES[dtype]}"])
    tensors = {**inputs, **dict(module.named_parameters()), **dict(module.named_buffers())}
    result = evaluate(EXAMPLES / f"{name}.py", tensors, "rounded", types)
    return [(tensor(result["outputs"][n]), tensor(result["outputs"][n], "bounds")) for n in result["names"]]


def outside(value, bound, theirs):
    """How many elements lie outside the bound."""
    theirs = theirs.detach().double()
    assert value.shape == theirs.shape
    same = (value == theirs) | (value.isnan() & theirs.isnan())
    return int((~same & ~((value - theirs).abs() <= bound)).sum())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=lambda d: NAMES[d])
@pytest.mark.parametrize("name", TIER_1 + TIER_2)
def test_eager_lies_inside_the_bound_on_every_element(name, dtype):
    module, inputs = cast_problem(name, dtype)
    with torch.no_grad(), RoundingsOfCuda():
        results = outputs_of(module(*inputs.values()))
    for (value, bound), theirs in zip(oracle(name, module, inputs, dtype), results, strict=True):
        assert outside(value, bound, theirs) == 0
        assert not bound.isinf().any(), "a bound that admits everything proves nothing"


# ---- kernels that are not careful enough ----
def serial_sum(t, dtype):
    """A sum along the last axis in a running variable of the narrow type."""
    total = torch.zeros(t.shape[:-1], dtype=dtype)
    for i in range(t.shape[-1]):
        total = total + t[..., i].to(dtype)
    return total.unsqueeze(-1)


def rms(x, weight, eps=1e-6, *, accumulator=torch.float32, statistic=torch.float32, order="llama", offset=0.0):
    wide = x.float()
    square = wide * wide
    total = square.sum(-1, keepdim=True) if accumulator == torch.float32 else serial_sum(square, accumulator).float()
    rstd = torch.rsqrt(total / x.shape[-1] + eps).to(statistic).float()
    if order == "llama":
        return weight * (wide * rstd).to(x.dtype)
    return ((wide * rstd) * (offset + weight.float())).to(x.dtype)


def layer(x, weight, bias, eps, statistic):
    wide = x.float()
    mean = wide.mean(-1, keepdim=True).to(statistic).float()
    rstd = torch.rsqrt((wide - mean).square().mean(-1, keepdim=True) + eps).to(statistic).float()
    return ((wide - mean) * rstd * weight.float() + bias.float()).to(x.dtype)


def soft(x, statistic):
    wide = x.float()
    e = torch.exp(wide - wide.amax(-1, keepdim=True))
    return (e / e.sum(-1, keepdim=True).to(statistic).float()).to(x.dtype)


BF16, F16 = torch.bfloat16, torch.float16
CARELESS = {
    ("rms_norm_llama", "gemma's casting order"): lambda m, x: rms(x, m.weight, order="gemma"),
    ("rms_norm_llama", "bf16 accumulator"): lambda m, x: rms(x, m.weight, accumulator=BF16),
    ("rms_norm_llama", "bf16 statistic"): lambda m, x: rms(x, m.weight, statistic=BF16),
    ("rms_norm_gemma", "llama's casting order"): lambda m, x: (1.0 + m.weight) * rms(x, torch.ones(()).to(x.dtype)),
    ("rms_norm_gemma", "bf16 accumulator"): lambda m, x: rms(x, m.weight, order="gemma", offset=1.0, accumulator=BF16),
    ("rms_norm_gemma", "bf16 statistic"): lambda m, x: rms(x, m.weight, order="gemma", offset=1.0, statistic=BF16),
    ("layer_norm", "bf16 statistic"): lambda m, x, w, b: layer(x, w, b, 1e-5, BF16),
    ("softmax", "bf16 statistic"): lambda m, x: soft(x, BF16),
    ("swiglu", "product before rounding silu"): lambda m, gate, up: (F.silu(gate.float()) * up.float()).to(gate.dtype),
    ("silu", "sigmoid left unrounded"): lambda m, x: F.silu(x),
    ("mse", "bf16 accumulator"): lambda m, a, b: (
        serial_sum((a - b).square().flatten().unsqueeze(0), BF16).flatten()[0] / a.numel()
    ).to(a.dtype),
}


@pytest.mark.parametrize(("name", "fault"), CARELESS, ids=lambda v: v.replace(" ", "_"))
def test_what_is_less_careful_lies_outside_the_bound(name, fault):
    dtype = BF16
    module, inputs = cast_problem(name, dtype)
    with torch.no_grad():
        careless = outputs_of(CARELESS[name, fault](module, *inputs.values()))
    assert math.prod(careless[0].shape) >= 1
    wrong = sum(outside(v, b, t) for (v, b), t in zip(oracle(name, module, inputs, dtype), careless, strict=False))
    assert wrong > 0, f"{name} with {fault} passes for right"
