"""Small PyTorch functions, one for each operation that the readers know: name, function, example inputs.

Inputs are given as shapes, or as `ints(high, *shape)`; `positive` and `unit` say where a function is defined.
"""

import inspect
import math
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

CASES = []


class Case(NamedTuple):
    name: str
    function: Callable
    specs: tuple
    exact_in: tuple
    real: bool


def ints(high, *shape):
    return ("ints", high, shape)


def bools(*shape):
    return ("bools", 2, shape)


def positive(*shape):
    return ("positive", 0, shape)


def unit(*shape):
    return ("unit", 0, shape)


def with_signature(function, count):
    """PyTorch's built-in functions have no signature that torch.export could read."""
    if inspect.isfunction(function):
        return function
    return [None, lambda x: function(x), lambda x, y: function(x, y), lambda x, y, z: function(x, y, z)][count]


def case(name, function, *inputs, exact=False, real=True):
    """`exact`: in bf16 and f16 the rounded interpreter agrees with PyTorch on the CPU to the bit.

    The number of elements is then a whole number of PyTorch's vectors where its code for the rest rounds otherwise.
    `real`: false if the function rounds to a narrower type on its way, which real semantics do not.
    """
    exact_in = {False: (), True: (torch.bfloat16, torch.float16)}.get(exact, exact)
    CASES.append(Case(name, with_signature(function, len(inputs)), inputs, exact_in, real))


def make(spec, dtype, generator):
    kind, high, shape = spec if spec and isinstance(spec[0], str) else ("normal", 0, spec)
    if kind == "ints":
        return torch.randint(0, high, shape, generator=generator)
    if kind == "bools":
        return torch.randint(0, 2, shape, generator=generator).bool()
    # Made in double and rounded, so that every type sees the same numbers.
    if kind == "normal":
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
    values = torch.rand(shape, generator=generator, dtype=torch.float64)
    return (values * 3 + 0.1 if kind == "positive" else values * 0.9 + 0.05).to(dtype)


# ---- pointwise ----
for op in (
    "exp exp2 expm1 sin cos tan sinh cosh tanh asinh atan erf erfc sigmoid neg abs sign floor ceil round trunc".split()
):
    case(op, getattr(torch, op), (3, 5), exact=True)
for op in "sqrt rsqrt log log2 log1p reciprocal".split():
    case(op, getattr(torch, op), positive(4, 32), exact=True)
for op in "asin acos atanh erfinv".split():
    case(op, getattr(torch, op), unit(3, 5), exact=True)
case("acosh", lambda x: torch.acosh(x + 1), positive(3, 5))
case("log10", torch.log10, positive(3, 5))
case("square", torch.square, (3, 5), exact=True)
case("frac", torch.frac, (3, 5), exact=True)
case("add", lambda x, y: x + y, (3, 5), (5,), exact=True)
case("sub", lambda x, y: x - y, (3, 5), (3, 1), exact=True)
case("mul", lambda x, y: x * y, (3, 5), (1, 5), exact=True)
case("div", lambda x, y: x / y, (3, 5), positive(3, 5), exact=True)
case("self_transposed", lambda x: x + x.T, (4, 4), exact=True)
case("outer_sum", lambda x: x[:, None] + x[None, :], (4,), exact=True)
case("mul_number", lambda x: x * 0.3, (3, 5), exact=True)
case("div_number", lambda x: x / 0.3, (3, 5), exact=True)
case("add_exact_number", lambda x: x + 0.5, (3, 5), exact=True)
case("rsub", lambda x: 1.0 - x, (3, 5), exact=True)
case("rdiv", lambda x: 1.0 / x, positive(3, 5), exact=True)
case("floor_divide", lambda x, y: x // y, (3, 5), positive(3, 5))
case("remainder", lambda x, y: x % y, (3, 5), positive(3, 5))
case("fmod", torch.fmod, (3, 5), positive(3, 5))
case("div_trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc"), (3, 5), positive(3, 5))
case("pow2", lambda x: x**2, (3, 5), exact=True)
case("pow3", lambda x: x**3, (4, 32), exact=(torch.bfloat16,))
case("pow_half", lambda x: x**0.5, positive(3, 5), exact=True)
case("pow_minus_one", lambda x: x**-1, positive(3, 5), exact=True)
case("pow_tensor", lambda x, y: x**y, positive(3, 5), (3, 5))
case("rpow", lambda x: 2.0**x, (3, 5), exact=True)
case("maximum", torch.maximum, (3, 5), (3, 5), exact=True)
case("minimum", torch.minimum, (3, 5), (3, 5), exact=True)
case("clamp", lambda x: torch.clamp(x, -0.3, 0.3), (3, 5), exact=True)
case("clamp_min", lambda x: x.clamp_min(0.1), (3, 5), exact=True)
case("clamp_tensor", lambda x, lo: torch.clamp(x, min=lo), (3, 5), (5,), exact=True)
case("atan2", torch.atan2, (3, 5), (3, 5), exact=True)
case("hypot", torch.hypot, (3, 5), (3, 5))
case("logaddexp", torch.logaddexp, (3, 5), (3, 5))
case("lerp", lambda x, y: torch.lerp(x, y, 0.3), (3, 5), (3, 5))
case("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.3), (3, 5), (3, 5), (3, 5))
case("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z), (3, 5), (3, 5), positive(3, 5))
case("xlogy", torch.xlogy, unit(4, 32), unit(4, 32), exact=(torch.bfloat16,))
case("logit", torch.logit, unit(4, 32), exact=(torch.bfloat16,))
case("sinc", torch.sinc, (3, 5))
case("nan_to_num", lambda x: torch.nan_to_num(x / 0.0, 0.5, 2.0, -2.0), (3, 5))
case("deg2rad", torch.deg2rad, (3, 5))
# ---- comparisons, logic, selection ----
case("compare", lambda x, y: (x < y, x <= y, x > 0.3, x >= y, x == y, x != 0), (3, 5), (3, 5), exact=True)
case("logical", lambda x, y: ((x > 0) & (y > 0), (x > 0) | ~(y > 0), (x > 0) ^ (y > 0)), (3, 5), (3, 5), exact=True)
case("where", lambda x, y: torch.where(x > 0, x, y), (3, 5), (5,), exact=True)
case("where_number", lambda x: torch.where(x > 0, x, 0.3), (3, 5), exact=True)
case("where_numbers", lambda x: torch.where(x > 0, 1.0, 0.25), (3, 5), exact=True)
case("masked_fill", lambda x, m: x.masked_fill(m, -math.inf), (3, 5), bools(3, 5), exact=True)
case("isnan", lambda x: torch.isnan(x / x), (3, 5), exact=True)
case("isfinite", lambda x: torch.isfinite(x / 0.0), (3, 5), exact=True)
# ---- types ----
case("int_times_float", lambda x, i: x * i, (3, 5), ints(1000, 3, 5), exact=True)
case("int_division", lambda i: i / 3, ints(1000, 3, 5), exact=True, real=False)
case("bool_times_float", lambda x, m: x * m, (3, 5), bools(3, 5), exact=True)
case("casts", lambda x: (x.float() * 3).to(x.dtype) + x.to(torch.bfloat16).to(x.dtype), (3, 5), exact=True, real=False)
case("type_as", lambda x, i: i.type_as(x) * x, (3, 5), ints(10, 3, 5), exact=True)
case("float_to_int", lambda x: (x * 10).long() + (x * 10).int(), (3, 5), exact=True)
case("rank_zero", lambda x, s: x * s + s, (3, 5), (), exact=True)
case("sum_of_bools", lambda x: (x > 0).sum(-1), (3, 5), exact=True)
case(
    "wide_inside",
    lambda x, w: w * (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, True) + 1e-6)).to(x.dtype),
    (3, 8),
    (8,),
    real=False,
)
# ---- activations ----
ACTIVATIONS = """silu gelu relu relu6 leaky_relu elu selu celu softplus mish hardswish hardsigmoid hardtanh logsigmoid
    softsign tanhshrink softshrink hardshrink"""
for op in ACTIVATIONS.split():
    case(op, getattr(F, op), (4, 6), exact=True)
case("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), (4, 6), exact=True)
case("leaky_relu_slope", lambda x: F.leaky_relu(x, 0.3), (4, 6), exact=True)
case("elu_alpha", lambda x: F.elu(x, 0.7), (4, 6), exact=True)
case("celu_alpha", lambda x: F.celu(x, 0.7), (4, 6))
case("softplus_beta", lambda x: F.softplus(x, 2.0, 1.0), (4, 6))
case("threshold", lambda x: F.threshold(x, 0.3, 0.7), (4, 6), exact=True)
case("prelu", F.prelu, (2, 3, 4), (3,))
case("glu", F.glu, (4, 6), exact=True)
# ---- reductions ----
case("sum", lambda x: (x.sum(), x.sum(-1), x.sum((0, 2), keepdim=True)), (3, 4, 5))
case("mean", lambda x: (x.mean(), x.mean(1), x.mean((0, 2), keepdim=True)), (3, 4, 5))
case("prod", lambda x: x.prod(1), (3, 4))
case("max", lambda x: (x.max(), *x.max(1), x.amax((0, 1))), (3, 4, 5), exact=True)
case("min", lambda x: (x.min(), *x.min(-1, keepdim=True), x.amin(0)), (3, 4, 5), exact=True)
case("argmax", lambda x: (x.argmax(), x.argmax(1), x.argmin(0, keepdim=True)), (3, 4, 5), exact=True)
case("any_all", lambda x: ((x > 1).any(1), (x > -1).all(0), (x > 0).any()), (3, 4), exact=True)
case("logsumexp", lambda x: (torch.logsumexp(x, 1), torch.logsumexp(x, (0, 1), keepdim=True)), (3, 4))
case("var", lambda x: (x.var(-1), x.var(1, unbiased=False), x.var(), x.var(0, correction=0, keepdim=True)), (3, 4, 5))
case("std", lambda x: (x.std(-1), torch.std_mean(x, 1)[1], torch.var_mean(x, 1)[0]), (3, 4, 5))
case(
    "norm",
    lambda x: (x.norm(), torch.norm(x, p=1, dim=1), torch.linalg.vector_norm(x, 3, dim=-1), x.norm(math.inf, 1)),
    (3, 4),
)
case("norm_fro", lambda x: torch.norm(x, p="fro"), (3, 4))
case("count_nonzero", lambda x: torch.count_nonzero(x > 0, 1), (3, 4), exact=True)
case("softmax", lambda x: (F.softmax(x, -1), torch.softmax(x, 0), F.softmax(x, 1, dtype=torch.float64)), (3, 4))
case("log_softmax", lambda x: (F.log_softmax(x, -1), x.log_softmax(0)), (3, 4))
case("softmin", lambda x: F.softmin(x, 1), (3, 4))
# ---- views ----
case("transpose", lambda x: (x.transpose(0, 2), x.permute(2, 0, 1), x.mT, x.movedim(0, -1)), (2, 3, 4), exact=True)
case(
    "view",
    lambda x: (x.view(6, 4), x.view(2, -1), x.reshape(-1), x.view(2, 3, 2, 2), x.reshape(4, 6)),
    (2, 3, 4),
    exact=True,
)
case(
    "view_sizes",
    lambda x: x.view(x.shape[0], x.shape[1], 2, -1).transpose(1, 2).reshape(x.shape[0], -1),
    (2, 3, 4),
    exact=True,
)
case("flatten", lambda x: (x.flatten(), x.flatten(1), x.flatten(0, 1), x.unflatten(2, (2, -1))), (2, 3, 4), exact=True)
case("squeeze", lambda x: (x.unsqueeze(1).squeeze(1), x.unsqueeze(-1), x[None].squeeze()), (2, 3), exact=True)
case(
    "expand",
    lambda x: (x[:, None].expand(2, 4, 3), x.expand(5, -1, -1), x.sum(0, keepdim=True).expand_as(x)),
    (2, 3),
    exact=True,
)
case(
    "repeat",
    lambda x: (x.repeat(2, 3), x.repeat(2, 1, 1), x.repeat_interleave(2, 1), torch.tile(x, (2,))),
    (2, 3),
    exact=True,
)
case("slice", lambda x: (x[1:], x[:, ::2], x[..., -2:], x[0], x[:, -1], x[:, 1:2], x[:, None, 1:3]), (3, 6), exact=True)
case("narrow", lambda x: (x.narrow(1, 2, 3), x.select(0, 1), torch.select(x, 1, -1)), (3, 6), exact=True)
case("chunk", lambda x: (*x.chunk(2, -1), *x.chunk(4, 1)), (3, 6), exact=True)
case("split", lambda x: (*x.split(4, 1), *x.split([1, 2, 3], dim=1)), (3, 6), exact=True)
case("unbind", lambda x: x.unbind(0), (3, 6), exact=True)
case("cat", lambda x, y: (torch.cat((x, y), 1), torch.cat([x, x, y], dim=-1)), (3, 4), (3, 2), exact=True)
case("cat_units", lambda x: torch.cat((x[:, :1], x, x[:, 1:2]), 1), (3, 4), exact=True)
case("stack", lambda x, y: (torch.stack((x, y)), torch.stack((x, y), -1).flatten(-2)), (3, 4), (3, 4), exact=True)
case(
    "rotate_half",
    lambda x: torch.cat((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1) + x,
    (3, 8),
    exact=True,
)
case("flip", lambda x: (x.flip(0), x.flip(0, 1)), (3, 4), exact=True)
case("roll", lambda x: (x.roll(1, 0), torch.roll(x, (1, -2), (0, 1))), (3, 4), exact=True)
case("unfold", lambda x: x.unfold(1, 3, 2), (2, 7), exact=True)
case(
    "pixel_shuffle",
    lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2)),
    (2, 8, 3, 4),
    exact=True,
)
case("pad", lambda x: (F.pad(x, (1, 2)), F.pad(x, (0, 1, 2, 0), value=0.5), F.pad(x, (-1, 1))), (3, 4), exact=True)
case(
    "pad_modes",
    lambda x: (F.pad(x, (1, 2), mode="reflect"), F.pad(x, (2, 1), mode="replicate"), F.pad(x, (1, 2), mode="circular")),
    (2, 3, 4),
    exact=True,
)
case("interpolate", lambda x: F.interpolate(x, scale_factor=2), (2, 3, 4, 5), exact=True)
# ---- indexing ----
case("gather", lambda x, i: (x.gather(1, i), torch.gather(x, 0, i[:2])), (3, 5), ints(3, 3, 5), exact=True)
case("gather_shorter", lambda x, i: torch.gather(x, 1, i), (4, 5), ints(5, 2, 3), exact=True)
case("index_select", lambda x, i: x.index_select(1, i), (3, 5), ints(5, 4), exact=True)
case("index_tensor", lambda x, i: (x[i], x[:, i], x[i, i], x[i[:, None], i]), (5, 5), ints(5, 4), exact=True)
case("index_apart", lambda x, i: x[i, :, i], (5, 2, 5), ints(5, 4), exact=True)
case("embedding", lambda i, w: F.embedding(i, w), ints(7, 2, 3), (7, 4), exact=True)
case("embedding_padding", lambda i, w: F.embedding(i, w, padding_idx=-2), ints(7, 2, 3), (7, 4), exact=True)
case("one_hot", lambda i: F.one_hot(i, 7), ints(7, 2, 3), exact=True)
case("scatter_add", lambda x, i, y: x.scatter_add(1, i, y), (3, 5), ints(5, 3, 4), (3, 4))
case("scatter", lambda x, i: torch.scatter(x, 1, i.argsort(1), 1.5), (3, 4), ints(4, 3, 4), exact=True)
case("index_add", lambda x, i, y: x.index_add(0, i, y), (3, 5), ints(3, 4), (4, 5))
case("take_along_dim", lambda x: torch.take_along_dim(x, x.argsort(1), 1), (3, 5), exact=True)
case("assign_slice", lambda x, y: torch.zeros_like(x).slice_scatter(y, 1, 1, 3), (3, 5), (3, 2), exact=True)
case("assign_select", lambda x, y: x.select_scatter(y, 1, 2), (3, 5), (3,), exact=True)
case("segment_reduce", lambda x: torch.segment_reduce(x, "mean", offsets=torch.tensor([0, 2, 3, 6]), axis=0), (6, 4))
case("segment_max", lambda x: torch.segment_reduce(x, "max", offsets=torch.tensor([0, 2, 3, 6]), axis=0), (6, 4))
case("segment_lengths", lambda x: torch.segment_reduce(x, "sum", lengths=torch.tensor([2, 1, 3]), axis=0), (6, 4))
# ---- order and scans ----
case("sort", lambda x: (*x.sort(1), *torch.sort(x, 0, descending=True), x.argsort(-1)), (3, 5), exact=True)
case("topk", lambda x: (*x.topk(2), *torch.topk(x, 3, dim=0, largest=False), *x.topk(1, -1)), (4, 5), exact=True)
case("cumsum", lambda x: (x.cumsum(1), torch.cumsum(x, 0)), (3, 5))
case("cumprod", lambda x: x.cumprod(1), (3, 5))
case("cummax", lambda x: (*x.cummax(1), *x.cummin(0)), (4, 5), exact=True)
case("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), (3, 5))
case("cumsum_reverse", lambda x: torch.cumsum(x.flip(1), 1).flip(1) * x, (3, 5))
case(
    "cumsum_exclusive",
    lambda x: torch.cumsum(torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), x), 1)[:, :-1], 1),
    (3, 5),
)
case("diff", lambda x: torch.diff(x, dim=1), (3, 5), exact=True)
# ---- products ----
case("matmul", lambda x, y: (x @ y, x[0] @ y, x @ y[:, 0], x[0] @ y[:, 0]), (3, 4), (4, 5))
case("matmul_batched", lambda x, y: (torch.matmul(x, y), x @ y[0]), (2, 1, 3, 4), (5, 4, 2))
case("matmul_self", lambda x: x @ x.T + x.T @ x, (4, 4))
case("bmm", torch.bmm, (2, 3, 4), (2, 4, 5))
case("addmm", lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2), (5,), (3, 4), (4, 5))
case("baddbmm", torch.baddbmm, (2, 3, 5), (2, 3, 4), (2, 4, 5))
case("linear", F.linear, (2, 3, 4), (5, 4), (5,))
case("outer", torch.outer, (3,), (4,))
case("einsum", lambda x, y: torch.einsum("bij,bjk->bik", x, y), (2, 3, 4), (2, 4, 5))
case("einsum_reduced", lambda x, y: torch.einsum("bij,kj->k", x, y), (2, 3, 4), (5, 4))
case("einsum_batch", lambda x, y: torch.einsum("...d,ed->...e", x, y), (2, 3, 4), (5, 4))
case("diag", lambda x, v: (torch.diag(v) @ x, torch.diag(x @ x.T), torch.trace(x @ x.T)), (4, 3), (4,))
# ---- convolutions and poolings ----
case("conv1d", lambda x, w: F.conv1d(x, w, stride=2, padding=1, dilation=2), (2, 3, 10), (4, 3, 3))
case("conv2d", lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=(1, 2)), (2, 3, 7, 6), (4, 3, 3, 2), (4,))
case("conv2d_same", lambda x, w: F.conv2d(x, w, padding="same"), (2, 3, 7, 6), (4, 3, 3, 2))
case("conv2d_groups", lambda x, w, b: F.conv2d(x, w, b, groups=2), (2, 4, 5, 5), (6, 2, 3, 3), (6,))
case("conv2d_depthwise", lambda x, w: F.conv2d(x, w, groups=4, padding=1), (2, 4, 5, 5), (4, 1, 3, 3))
case("conv2d_multiplier", lambda x, w: F.conv2d(x, w, groups=3), (2, 3, 5, 5), (6, 1, 2, 2))
case(
    "conv2d_pointwise",
    lambda x, w: (F.conv2d(x, w), F.conv2d(x, w, stride=2), F.conv2d(x, w, padding=1)),
    (2, 3, 5, 5),
    (4, 3, 1, 1),
)
case("conv3d", lambda x, w: F.conv3d(x, w, padding=1), (1, 2, 4, 5, 3), (3, 2, 3, 2, 3))
case("conv_unbatched", F.conv2d, (3, 5, 5), (4, 3, 2, 2))
case(
    "conv_transpose1d",
    lambda x, w, b: F.conv_transpose1d(x, w, b, stride=2, padding=1, output_padding=1, dilation=2),
    (2, 3, 5),
    (3, 4, 3),
    (4,),
)
case("conv_transpose2d", lambda x, w: F.conv_transpose2d(x, w, stride=(2, 3), padding=1), (2, 3, 4, 3), (3, 2, 3, 4))
case("conv_transpose2d_groups", lambda x, w, b: F.conv_transpose2d(x, w, b, groups=2), (2, 4, 3, 3), (4, 3, 2, 2), (6,))
case("conv_transpose3d", lambda x, w: F.conv_transpose3d(x, w, stride=2, padding=1), (1, 2, 3, 2, 3), (2, 3, 3, 3, 2))
case("max_pool1d", lambda x: F.max_pool1d(x, 3, 2, 1), (2, 3, 8), exact=True)
case(
    "max_pool2d",
    lambda x: (F.max_pool2d(x, 2), F.max_pool2d(x, 3, 2, 1, dilation=2), F.max_pool2d(x, 3, 2, ceil_mode=True)),
    (2, 3, 8, 7),
    exact=True,
)
case("max_pool3d", lambda x: F.max_pool3d(x, 2, 1), (1, 2, 4, 3, 4), exact=True)
case("avg_pool1d", lambda x: F.avg_pool1d(x, 3, 2, 1), (2, 3, 8))
case(
    "avg_pool2d",
    lambda x: (
        F.avg_pool2d(x, 2),
        F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        F.avg_pool2d(x, 2, divisor_override=3),
    ),
    (2, 3, 8, 7),
)
case("avg_pool2d_ceil", lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True), (2, 3, 8, 7))
case("avg_pool3d", lambda x: F.avg_pool3d(x, 2), (1, 2, 4, 4, 4))
case("adaptive_avg_pool", lambda x: (F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (2, 3))), (2, 3, 4, 6))
case("adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x, (1, 1, 1)), (2, 3, 4, 2, 3))
# ---- norms ----
case("layer_norm", lambda x, w, b: F.layer_norm(x, (5,), w, b), (3, 5), (5,), (5,))
case("layer_norm_two", lambda x, w: F.layer_norm(x, (4, 5), w), (3, 4, 5), (4, 5))
case("rms_norm", lambda x, w: F.rms_norm(x, (5,), w, 1e-6), (3, 5), (5,))
case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), (2, 6, 3, 3), (6,), (6,))
case("group_norm_each", lambda x: F.group_norm(x, 6), (2, 6, 3, 3))
case("instance_norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), (2, 3, 4, 4), (3,), (3,))
case("batch_norm_batch", lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (4, 3, 5), (3,), (3,))
case("batch_norm_running", lambda x, m, v: F.batch_norm(x, m, v), (4, 3, 5), (3,), positive(3))
case("normalize", lambda x: (F.normalize(x, dim=-1), F.normalize(x, p=1, dim=0)), (3, 5))
case("cosine_similarity", lambda x, y: F.cosine_similarity(x, y, dim=1), (3, 5), (3, 5))
# ---- losses ----
for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
    for mode in ("mean", "sum", "none"):
        case(f"{loss.__name__}_{mode}", lambda x, y, f=loss, m=mode: f(x, y, reduction=m), (3, 5), (3, 5))
case("smooth_l1_beta", lambda x, y: F.smooth_l1_loss(x, y, beta=0.3), (3, 5), (3, 5))
case("huber_delta", lambda x, y: F.huber_loss(x, y, delta=0.3), (3, 5), (3, 5))
case(
    "kl_div",
    lambda x, y: (
        F.kl_div(x, y, reduction="batchmean"),
        F.kl_div(x, y, reduction="sum"),
        F.kl_div(x, y, reduction="none", log_target=True),
    ),
    (3, 5),
    unit(3, 5),
)
case("bce", lambda x, y: F.binary_cross_entropy(x, y), unit(3, 5), unit(3, 5))
case(
    "bce_logits",
    lambda x, y, w: (
        F.binary_cross_entropy_with_logits(x, y),
        F.binary_cross_entropy_with_logits(x, y, pos_weight=w, reduction="none"),
    ),
    (3, 5),
    unit(3, 5),
    positive(5),
)
case(
    "cross_entropy",
    lambda x, t: (
        F.cross_entropy(x, t),
        F.cross_entropy(x, t, reduction="none"),
        F.cross_entropy(x, t, reduction="sum", ignore_index=2),
    ),
    (4, 5),
    ints(5, 4),
)
case("cross_entropy_weight", lambda x, t, w: F.cross_entropy(x, t, w, ignore_index=1), (4, 5), ints(5, 4), positive(5))
case(
    "cross_entropy_smooth", lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1, ignore_index=2), (4, 5), ints(5, 4)
)
case(
    "cross_entropy_smooth_weight",
    lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.1),
    (4, 5),
    ints(5, 4),
    positive(5),
)
case("cross_entropy_images", lambda x, t: F.cross_entropy(x, t), (2, 5, 3, 4), ints(5, 2, 3, 4))
case(
    "cross_entropy_soft",
    lambda x, t: (F.cross_entropy(x, t), F.cross_entropy(x, t, label_smoothing=0.2)),
    (4, 5),
    unit(4, 5),
)
case("nll_loss", lambda x, t: F.nll_loss(x, t), (4, 5), ints(5, 4))
case("hinge_embedding", lambda x, y: F.hinge_embedding_loss(x, y.sign()), (3, 5), (3, 5))
case("margin_ranking", lambda x, y, t: F.margin_ranking_loss(x, y, t.sign(), margin=0.3), (5,), (5,), (5,))
case("cosine_embedding", lambda x, y, t: F.cosine_embedding_loss(x, y, t.sign(), margin=0.1), (3, 5), (3, 5), (3,))
case(
    "triplet_margin",
    lambda a, p, n: (F.triplet_margin_loss(a, p, n), F.triplet_margin_loss(a, p, n, swap=True, p=1)),
    (3, 5),
    (3, 5),
    (3, 5),
)
case("soft_margin", lambda x, y: F.soft_margin_loss(x, y.sign()), (3, 5), (3, 5))
case(
    "poisson_nll", lambda x, y: (F.poisson_nll_loss(x, y), F.poisson_nll_loss(x, y, full=True)), (3, 5), positive(3, 5)
)
# ---- attention ----
case("attention", F.scaled_dot_product_attention, (2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7))
case(
    "attention_causal",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3),
    (2, 3, 4, 5),
    (2, 3, 4, 5),
    (2, 3, 4, 5),
)
case(
    "attention_mask",
    lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
    (2, 4, 5),
    (2, 4, 5),
    (2, 4, 5),
    (4, 4),
)
case(
    "attention_bool_mask",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.ones(4, 4, dtype=torch.bool).tril()),
    (2, 4, 5),
    (2, 4, 5),
    (2, 4, 5),
)
case(
    "attention_grouped",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
    (2, 4, 3, 5),
    (2, 2, 3, 5),
    (2, 2, 3, 5),
)
# ---- creation ----
case("arange", lambda x: x * torch.arange(x.shape[-1]) + torch.arange(0, 1, 0.2, dtype=x.dtype), (3, 5))
case(
    "zeros_ones",
    lambda x: torch.zeros(3, 1, dtype=x.dtype) + torch.ones(x.shape, dtype=x.dtype) * x + torch.full((5,), 0.25),
    (3, 5),
    exact=True,
)
case(
    "like",
    lambda x: torch.zeros_like(x) + torch.ones_like(x) * x + torch.full_like(x, 2.0) + x.new_ones(3, 1),
    (3, 5),
    exact=True,
)
case("eye", lambda x: x @ torch.eye(5, dtype=x.dtype), (3, 5))
case("tril", lambda x: (x.tril(), torch.triu(x, 1), torch.tril(x, -1)), (4, 5), exact=True)
case("tensor_literal", lambda x: x * torch.tensor([1.0, 2.0, 0.5, -1.0, 4.0], dtype=x.dtype), (3, 5), exact=True)
case("linspace", lambda x: x * torch.linspace(0, 1, 5, dtype=x.dtype), (3, 5))
case("meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij"), (3,), (4,), exact=True)
# ---- in-place code ----
case("add_in_place", lambda x, y: (x + 0).add_(y).mul_(2), (3, 5), (5,), exact=True)


def _assigned(x, y):
    out = torch.zeros_like(x)
    out[:, 1:3] = y
    out[..., 0] += 2
    return out * x


case("assign_in_place", _assigned, (3, 5), (3, 2), exact=True)


# ---- modules: name, constructor, input shapes ----
MODULES = [
    ("Linear", lambda: nn.Linear(5, 4), [(3, 5)]),
    ("Conv2d", lambda: nn.Conv2d(3, 4, 3, padding=1), [(2, 3, 5, 5)]),
    ("ConvTranspose2d", lambda: nn.ConvTranspose2d(3, 4, 3, stride=2), [(2, 3, 4, 4)]),
    ("BatchNorm1d", lambda: nn.BatchNorm1d(3), [(4, 3)]),
    ("BatchNorm2d", lambda: nn.BatchNorm2d(3, momentum=0.3), [(4, 3, 2, 2)]),
    ("InstanceNorm2d", lambda: nn.InstanceNorm2d(3, affine=True), [(2, 3, 4, 4)]),
    ("GroupNorm", lambda: nn.GroupNorm(2, 4), [(2, 4, 3)]),
    ("LayerNorm", lambda: nn.LayerNorm(5), [(3, 5)]),
    ("RMSNorm", lambda: nn.RMSNorm(5, eps=1e-6), [(3, 5)]),
    ("Embedding", lambda: nn.Embedding(7, 4), [ints(7, 2, 3)]),
    ("PReLU", lambda: nn.PReLU(3), [(2, 3, 4)]),
    ("Sequential", lambda: nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2)), [(3, 5)]),
]
