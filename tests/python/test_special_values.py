"""What is read agrees with PyTorch, gradients too, where formulas break: zeros, limits, huge and infinite values."""

import json
import math
import os
import pathlib
import re
import subprocess

import pytest
import torch
from graph_eval import array

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("BUILD", "build") / "example_eval"

INFINITY = float("inf")
POINTS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    3.0,
    -3.0,
    6.0,
    -6.0,
    1.5,
    -1.5,
    2.5,
    20.0,
    21.0,
    50.0,
    100.0,
    -100.0,
    1e4,
    -1e4,
]
ROWS = [[0.0, 0, 0, 0], [1, -2, 3, 4], [2, 2, 2, 2], [1, 0, 1, 0], [100, -100, 50, 3]]

POINTWISE = [
    "torch.relu(x)",
    "F.relu6(x)",
    "F.hardtanh(x)",
    "F.hardtanh(x, -3.0, 3.0)",
    "F.leaky_relu(x)",
    "F.rrelu(x, training=False)",
    "F.elu(x)",
    "F.elu(x, alpha=0.5)",
    "F.celu(x, alpha=2.0)",
    "F.selu(x)",
    "F.softplus(x)",
    "F.softplus(x, beta=2.0)",
    "F.softplus(x, threshold=3.0)",
    "F.mish(x)",
    "F.hardswish(x)",
    "F.hardsigmoid(x)",
    "F.logsigmoid(x)",
    "F.softsign(x)",
    "F.softshrink(x)",
    "F.hardshrink(x)",
    "F.threshold(x, 0.5, 0.1)",
    "F.silu(x)",
    "F.gelu(x, approximate='tanh')",
    "torch.sinc(x)",
    "torch.clamp(x, min=0)",
    "torch.clamp(x, -1.0, 1.0)",
    "torch.clamp(x, max=2.5)",
    "torch.clamp_min(x, 0)",
    "torch.clamp_max(x, 1.0)",
    "torch.clip(x, 0.0, 1.0)",
    "torch.clamp(x, min=torch.zeros_like(x))",
    "torch.clamp(x, max=torch.ones_like(x))",
    "torch.clamp(x, min=-torch.ones_like(x), max=torch.ones_like(x))",
    "torch.maximum(x, torch.zeros_like(x))",
    "torch.maximum(x, torch.tensor(0.0))",
    "torch.minimum(x, torch.tensor(1.0))",
    "torch.where(x > 0, x, torch.zeros_like(x))",
    "torch.square(F.relu(x))",
    "torch.mul(x, (x > 0))",
    "F.prelu(x, torch.full((1,), 0.25))",
    "F.hardtanh(x, -0.5, 2.5)",
    "torch.abs(x)",
    "torch.logaddexp(x, torch.zeros_like(x))",
    "F.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction='none')",
    "F.binary_cross_entropy_with_logits(x, torch.zeros_like(x), reduction='none')",
    "F.smooth_l1_loss(x, torch.zeros_like(x), reduction='none')",
    "F.huber_loss(x, torch.zeros_like(x), reduction='none')",
    "F.huber_loss(x, torch.zeros_like(x), reduction='none', delta=1.5)",
    "F.l1_loss(x, torch.zeros_like(x), reduction='none')",
    "F.hinge_embedding_loss(x, torch.full_like(x, -1.0), reduction='none')",
    "F.margin_ranking_loss(x, torch.zeros_like(x), torch.ones_like(x), reduction='none')",
]
ROWWISE = [
    "torch.norm(x, dim=-1)",
    "torch.linalg.vector_norm(x, dim=-1)",
    "torch.linalg.vector_norm(x, ord=3, dim=-1)",
    "torch.linalg.vector_norm(x, ord=float('inf'), dim=-1)",
    "torch.linalg.norm(x, dim=-1, keepdim=True)",
    "torch.linalg.norm(x, ord=1, dim=-1)",
    "F.normalize(x, dim=-1)",
    "F.normalize(x, p=3.0, dim=-1)",
    "F.cosine_similarity(x, torch.ones_like(x), dim=-1)",
    "torch.std(x, dim=-1)",
    "torch.softmax(x, dim=-1)",
    "F.log_softmax(x, dim=-1)",
    "torch.logsumexp(x, dim=-1)",
    "torch.amax(x, dim=-1)",
    "F.layer_norm(x, (4,))",
]


def source(expressions, shape):
    names = ", ".join(f"x{i}: torch.Tensor" for i in range(len(expressions)))
    lines = [f"    y{i} = " + re.sub(r"\bx\b", f"x{i}", e) for i, e in enumerate(expressions)]
    returned = ", ".join(f"y{i}" for i in range(len(expressions)))
    inputs = ", ".join([f"torch.randn({', '.join(map(str, shape))})"] * len(expressions))
    return "\n".join(
        ["import torch", "import torch.nn.functional as F", "", "", f"def op({names}):", *lines]
        + [f"    return {returned}", "", "", "def get_inputs():", f"    return [{inputs}]", ""]
    )


def both(expressions, points, folder):
    """For each expression: name, PyTorch's value and gradient, the interpreter's."""
    text = source(expressions, points.shape)
    path = pathlib.Path(folder) / "special.py"
    path.write_text(text)
    scope = {}
    exec(text, scope)
    xs = [points.clone().requires_grad_(True) for _ in expressions]
    values = scope["op"](*xs)
    slopes = torch.autograd.grad([y.sum() for y in values], xs)
    inputs = {f"x{i}": array(x) for i, x in enumerate(xs)}
    inputs |= {f"d_y{i}": array(torch.ones_like(y)) for i, y in enumerate(values)}
    call = json.dumps({"inputs": inputs, "sizes": {}})
    run = subprocess.run([TOOL, path, "rounded"], input=call, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    ours = json.loads(run.stdout)["outputs"]
    for i, expression in enumerate(expressions):
        numbers = [[float(v) for v in ours[name]["values"]] for name in (f"y{i}", f"grad_x{i}")]
        yield expression, (values[i].flatten().tolist(), slopes[i].flatten().tolist()), numbers


def close(ours, theirs):
    if math.isnan(theirs) or math.isinf(theirs):
        return ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    return abs(ours - theirs) <= 1e-5 * abs(theirs) + 1e-6


@pytest.mark.parametrize(("expressions", "points"), [(POINTWISE, POINTS), (ROWWISE, ROWS)], ids=["points", "rows"])
def test_values_and_gradients_agree_at_special_values(expressions, points, tmp_path):
    wrong = []
    at = torch.tensor(points)
    for expression, theirs, ours in both(expressions, at, tmp_path):
        for what, expected, got in zip(("value", "gradient"), theirs, ours):
            assert len(expected) == len(got), expression
            wrong += [
                f"{what} of {expression}, element {k}: {a}, PyTorch {b}"
                for k, (a, b) in enumerate(zip(got, expected))
                if not close(a, b)
            ]
    assert not wrong, "\n".join(wrong)


def test_an_infinite_input_has_the_value_and_slope_of_pytorch(tmp_path):
    expressions = ["torch.relu(x)", "F.elu(x)", "F.softplus(x)", "F.logsigmoid(x)", "F.hardtanh(x)", "F.relu6(x)"]
    at = torch.tensor([INFINITY, -INFINITY])
    for expression, theirs, ours in both(expressions, at, tmp_path):
        for expected, got in zip(theirs, ours):
            assert all(close(a, b) for a, b in zip(got, expected)), (expression, got, expected)
