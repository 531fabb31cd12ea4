"""Every example computes what its name says: the same op by another route through PyTorch gives the same numbers."""

import pytest
import torch
import torch.nn.functional as F
from shrunk_examples import FILES, outputs_of, problem

# The examples that compute in fp32 inside are exact to its rounding, though their inputs here are fp64.
TOLERANCE = 2e-6


def softcapped_cross_entropy(logits, target):
    capped = 30.0 * torch.tanh(logits / 30.0)
    counted = target != -100
    z_loss = capped[counted].logsumexp(-1).square().mean()
    return F.cross_entropy(capped, target, label_smoothing=0.1) + 1e-4 * z_loss


def complex_rotation(x, angles, layout):
    """Turns the pairs of x by angles as complex numbers; layout splits the last axis, with 2 where a pair lies."""
    axis = x.dim() - 1 + layout.index(2)
    re, im = x.reshape(*x.shape[:-1], *layout).unbind(axis)
    turned = torch.complex(re, im) * torch.polar(torch.ones_like(angles), angles)
    return torch.stack((turned.real, turned.imag), dim=axis).reshape(x.shape)


def rotary_angles(seq, dim):
    return torch.outer(torch.arange(seq).double(), 10000.0 ** (-torch.arange(0, dim, 2).double() / dim))


def rope_partial_reference(module, x, position_ids):
    dim = module.rotary_dim
    turned = complex_rotation(x[..., :dim], rotary_angles(x.shape[-2], dim), (2, dim // 2))
    return torch.cat((turned, x[..., dim:]), dim=-1)


def rotate_half_by_roll(x, cos, sin):
    half = x.shape[-1] // 2
    sign = torch.ones(x.shape[-1]).index_fill(0, torch.arange(half), -1.0)
    return torch.einsum("bhsd,bsd->bhsd", x, cos) + torch.einsum("bhsd,bsd->bhsd", sign * x.roll(half, -1), sin)


def layer_norm_written_out(module, x, weight, bias):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return weight * (x - mean) / torch.sqrt(variance + 1e-5) + bias


def convolution_by_columns(module, x):
    conv = module.conv
    columns = F.unfold(x, conv.kernel_size, padding=conv.padding, stride=conv.stride)
    flat = conv.weight.flatten(1) @ columns + conv.bias[:, None]
    return flat.relu().unflatten(-1, module(x).shape[-2:])


def simplex_projection(module, x):
    """Bisection for the threshold tau at which the positive part of x - tau sums to one."""
    low, high = x.amin(-1, keepdim=True) - 1.0, x.amax(-1, keepdim=True)
    for _ in range(60):
        middle = (low + high) / 2
        too_much = (x - middle).relu().sum(-1, keepdim=True) > 1.0
        low, high = torch.where(too_much, middle, low), torch.where(too_much, high, middle)
    return (x - low).relu()


def segment_means(module, x, offsets):
    return torch.stack([run.mean(0) for run in x.tensor_split(offsets[1:-1])])


def dense_routing(module, x):
    probs = F.linear(x, module.weight).softmax(-1)
    kept, experts = probs.sort(-1, descending=True)
    kept, experts = kept[:, : module.top_k], experts[:, : module.top_k]
    return kept / kept.sum(-1, keepdim=True), experts


def rms_norm(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, 1e-6)


def poly_norm_reference(module, x):
    terms = [w * rms_norm(x**power, None) for w, power in zip(module.weight, (3, 2, 1), strict=True)]
    return sum(terms) + module.bias


def times_its_sigmoid(x):
    return x * x.sigmoid()


def derf_by_the_normal_distribution(module, x, alpha, shift, weight, bias):
    return weight * (2 * torch.special.ndtr(2**0.5 * (alpha * x + shift)) - 1) + bias


def clip_logits_by_minimum(module, similarity, logit_scale):
    scale = torch.minimum(torch.e**logit_scale, torch.tensor(100.0))
    return scale * similarity, scale


def divergence(p, q):
    return (p * (p / q).log()).sum(-1).mean()


def jsd_reference(module, log_student, log_teacher):
    student, teacher = log_student.exp(), log_teacher.exp()
    middle = (student + teacher) / 2
    return (divergence(teacher, middle) + divergence(student, middle)) / 2


# The same op by another route through PyTorch. The reference gets the module first.
REFERENCES = {
    "relu_squared": lambda m, x: torch.where(x > 0, x * x, 0.0),
    "silu": lambda m, x: F.silu(x),
    "gelu_erf": lambda m, x: x * torch.special.ndtr(x),
    "gelu_tanh": lambda m, x: F.gelu(x, approximate="tanh"),
    "swiglu": lambda m, gate, up: gate * gate.sigmoid() * up,
    "geglu": lambda m, x: F.gelu(x[..., :9], approximate="tanh") * x[..., 9:],
    "softplus": lambda m, x: torch.logaddexp(x, torch.zeros_like(x)),
    "mish": lambda m, x: F.mish(x),
    "hardswish": lambda m, x: F.hardswish(x),
    "dyt": lambda m, x: torch.addcmul(m.bias, m.weight, (m.alpha * x).tanh()),
    "derf": derf_by_the_normal_distribution,
    "dyisru": lambda m, x, alpha, w, b: torch.addcmul(b, w, x / (x.square() + alpha).sqrt()),
    "prelu": lambda m, x, weight: torch.where(x > 0, x, x * weight.view(-1, 1, 1)),
    "poly_relu": lambda m, x: sum(w * x.clamp(min=0) ** p for w, p in zip(m.weight, (3, 2, 1), strict=True)) + m.bias,
    "clip_logits": clip_logits_by_minimum,
    "siglip_logits": lambda m, s, scale, bias: (torch.addcmul(bias, s, torch.e**scale), torch.e**scale),
    "calibrated_logits": lambda m, x, raw: (x * (1 / (1 + raw.exp()).log()), (1 + raw.exp()).log()),
    "rms_norm_llama": lambda m, x: rms_norm(x, m.weight),
    "rms_norm_gemma": lambda m, x: rms_norm(x, m.weight + 1.0),
    "rms_norm_none": lambda m, x, weight: rms_norm(x, weight),
    "rms_norm_mixed": lambda m, x, weight: rms_norm(x, weight),
    "fused_add_rms_norm": lambda m, x, residual: (rms_norm(x + residual, m.weight), x + residual),
    "layer_norm": layer_norm_written_out,
    "group_norm": lambda m, x: F.group_norm(x, 4, m.norm.weight, m.norm.bias),
    "group_norm_silu": lambda m, x: times_its_sigmoid(F.group_norm(x, 4, m.norm.weight, m.norm.bias)),
    "softmax": lambda m, x: x.exp() / x.exp().sum(-1, keepdim=True),
    "log_softmax": lambda m, x: F.log_softmax(x, dim=-1),
    "l2_normalize": lambda m, x: x / x.square().sum(-1, keepdim=True).sqrt(),
    "poly_norm": poly_norm_reference,
    "mean_middle": lambda m, x: torch.einsum("bsh->bh", x) / x.shape[1],
    "instance_norm": lambda m, x: F.instance_norm(x, weight=m.weight, bias=m.bias),
    "mse": lambda m, pred, target: (pred - target).square().sum() / pred.numel(),
    "huber": lambda m, pred, target: F.huber_loss(pred, target),
    "hinge": lambda m, pred, target: torch.where(target > 0, 1.0 - pred, 1.0 + pred).relu().mean(),
    "kl_div": lambda m, log_pred, target: divergence(target, log_pred.exp()),
    "jsd": jsd_reference,
    "tvd": lambda m, p, q: (p - q).relu().sum(-1).mean(),
    "cross_entropy": lambda m, logits, target: softcapped_cross_entropy(logits, target),
    "fused_linear_cross_entropy": lambda m, x, y: -(x @ m.lm_head.weight.T).log_softmax(-1)[range(len(y)), y].mean(),
    "rope_half": lambda m, q, k, cos, sin: (rotate_half_by_roll(q, cos, sin), rotate_half_by_roll(k, cos, sin)),
    "rope_interleaved": lambda m, x: complex_rotation(x, rotary_angles(7, 16), (8, 2)),
    "rope_partial": rope_partial_reference,
    "sparsemax": simplex_projection,
    "segment_mean_pool": segment_means,
    "embedding": lambda m, ids: F.one_hot(ids, 37).double() @ m.embed_tokens.weight,
    "cumulative_sum": lambda m, x: x @ torch.ones(x.shape[-1], x.shape[-1], dtype=x.dtype).triu(),
    "max_pool2d": lambda m, x: F.pad(x, (1, 1, 1, 1), value=-torch.inf).unfold(2, 3, 2).unfold(3, 3, 2).amax((-2, -1)),
    "conv2d_bias_relu": convolution_by_columns,
    "causal_attention": lambda m, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    "moe_top_k_routing": dense_routing,
}


def test_every_example_has_a_reference():
    assert {path.stem for path in FILES} == set(REFERENCES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_example_agrees_with_its_reference_in_double_precision(path):
    module, inputs = problem(path)
    module.double()
    inputs = [tensor.double() if tensor.is_floating_point() else tensor for tensor in inputs]
    with torch.no_grad():
        expected = outputs_of(REFERENCES[path.stem](module, *inputs))
        actual = outputs_of(module(*inputs))
    for e, a in zip(expected, actual, strict=True):
        torch.testing.assert_close(a, e, rtol=TOLERANCE, atol=TOLERANCE, check_dtype=False)
