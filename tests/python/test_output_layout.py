"""Outputs lie in memory as PyTorch's own do: the reader says how, op by op, and PyTorch's CPU kernels are asked."""

import inspect
import itertools
import json
import os
import subprocess
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F  # noqa: F401  (the sources use it)
from shrunk_examples import FILES, FunctionModule, outputs_of, problem

TOOL = Path(__file__).resolve().parents[2] / os.environ.get("BUILD", "build") / "output_strides"


def in_order(tensor, order):
    """The same elements, with dimension order[0] outermost in memory."""
    back = [order.index(d) for d in range(tensor.dim())]
    return tensor.permute(order).contiguous().permute(back)


def with_gaps(tensor, order):
    room = torch.zeros([tensor.shape[d] + 3 for d in order], dtype=tensor.dtype)
    back = [order.index(d) for d in range(tensor.dim())]
    part = room.permute(back)[tuple(slice(0, n) for n in tensor.shape)]
    return part.copy_(tensor)


def expanded(tensor, dim):
    return tensor.narrow(dim, 0, 1).contiguous().expand(tensor.shape)


def layouts(tensors):
    """Each layout of all tensors of a call: every order of dimensions, dense and sliced; expanded; one tensor alone."""
    rank = max((t.dim() for t in tensors), default=0)

    def fit(order, t):
        return [d - (rank - t.dim()) for d in order if d >= rank - t.dim()]

    for order in itertools.permutations(range(rank)):
        yield f"in the order {order}", [in_order(t, fit(order, t)) for t in tensors]
        yield f"sliced in the order {order}", [with_gaps(t, fit(order, t)) for t in tensors]
        for i, t in enumerate(tensors if len(tensors) > 1 else []):
            yield f"tensor {i} in the order {order}", [*tensors[:i], in_order(t, fit(order, t)), *tensors[i + 1 :]]
    backwards = list(reversed(range(rank)))
    for dim in range(rank):
        for order in (list(range(rank)), backwards):
            yield (
                f"expanded along {dim} in {order}",
                [
                    expanded(in_order(t, fit(order, t)), dim) if dim < t.dim() and t.dim() == rank else t
                    for t in tensors
                ],
            )


def described(tensor):
    return {"shape": list(tensor.shape), "strides": list(tensor.stride())}


def is_packed(tensor):
    return tensor.numel() == 0 or torch.ops.aten.is_non_overlapping_and_dense(tensor)


def differences(source, names, tensors, run, others=(), shapes=()):
    """What the tool says of each layout, beside PyTorch; None where it promises nothing."""
    lines, wanted = [], []
    for layout, laid in layouts(tensors):
        try:
            results = outputs_of(run(*laid))
        except RuntimeError:
            continue  # a view that such inputs do not allow
        inputs = {name: described(t) for name, t in [*zip(names, laid, strict=True), *others]}
        lines.append(json.dumps({"inputs": inputs, "outputs": [list(r.shape) for r in results]}))
        wanted.append((layout, results))
    tool = subprocess.run([TOOL, source, *shapes], input="\n".join(lines), capture_output=True, text=True)
    assert tool.returncode == 0, tool.stderr
    head, *answers = tool.stdout.splitlines()
    assert len(answers) == len(wanted)
    found, promised = [], True
    for answer, (layout, results) in zip(answers, wanted, strict=True):
        for ours, result in zip(json.loads(answer), results, strict=True):
            promised = promised and ours is not None
            if ours is None or not is_packed(result):  # a view of an input is a copy here
                continue
            pairs = zip(ours, result.stride(), result.shape, strict=True)
            if result.numel() and any(a != b for a, b, n in pairs if n > 1):
                found.append(f"{layout}: {ours}, PyTorch {list(result.stride())} of {list(result.shape)}")
    return json.loads(head), promised, found


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_output_of_an_example_lies_as_in_pytorch(path):
    module, inputs = problem(path)
    call = module.function if isinstance(module, FunctionModule) else module.forward
    names = list(inspect.signature(call).parameters)[: len(inputs)]
    floating = [i for i, t in enumerate(inputs) if isinstance(t, torch.Tensor) and t.is_floating_point() and t.dim()]

    def run(*laid):
        arguments = list(inputs)
        for i, t in zip(floating, laid, strict=True):
            arguments[i] = t
        with torch.no_grad():
            return module(*arguments)

    others = [
        (n, t) for n, t in [*zip(names, inputs, strict=False), *module.state_dict().items()] if torch.is_tensor(t)
    ]
    chosen = [names[i] for i in floating]
    others = [(n, t) for n, t in others if n not in chosen]
    layout, promised, found = differences(str(path), chosen, [inputs[i] for i in floating], run, others)
    assert not found, (layout, found[:5])


# Expressions of x (and z) of these shapes.
X, X4 = {"x": (3, 5, 4)}, {"x": (2, 6, 3, 5)}
XZ = {"x": (3, 5, 4), "z": (3, 5, 4)}
EXPRESSIONS = [
    ("F.silu(x)", X4),
    ("x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)", X4),
    ("torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * x", X),
    ("F.softmax(x, -1)", X4),
    ("torch.exp(x - x.amax(-1, keepdim=True)) / torch.exp(x - x.amax(-1, keepdim=True)).sum(-1, keepdim=True)", X),
    ("F.log_softmax(x, 1)", X),
    ("F.layer_norm(x, (5,))", X4),
    ("F.group_norm(x, 3)", X4),
    ("F.silu(F.group_norm(x, 3))", X4),
    ("F.batch_norm(x, None, None, training=True)", X4),
    ("F.instance_norm(x)", X4),
    ("F.rms_norm(x, (5,))", X4),
    ("F.normalize(x, dim=-1)", X),
    ("x.transpose(1, 2).relu()", X),
    ("x.relu().transpose(1, 2)", X),
    ("F.softmax(x, -1).transpose(0, 1)", X),
    ("F.softmax(x, -1).transpose(0, 1).sigmoid()", X),
    ("x.permute(2, 0, 1).exp() + 1", X),
    ("torch.cat([x, x], 1)", X4),
    ("torch.cat([x.exp(), x], -1)", X),
    ("x.flip(1)", X),
    ("F.glu(x, -1)", X),
    ("x.chunk(2, -1)[0].exp() * x.chunk(2, -1)[1]", X),
    ("x[:, 0].exp()", X4),
    ("x[..., 1:] - x[..., :-1]", X),
    ("x[:, None].sigmoid()", X),
    ("x.masked_fill(x > 0, 0.0)", X),
    ("torch.where(x > 0, x, 2 * x)", X),
    ("2.0 ** x", X),
    ("x ** 2.0", X),
    ("1.0 / x", X),
    ("F.logsigmoid(x)", X),
    ("x.cumsum(1)", X),
    ("x.contiguous() * 2", X),
    ("x.clone()", X),
    ("x.double().exp()", X),
    ("x.view(2, 3, 2, 3, 5).exp()", X4),
    ("x.reshape(2, 3, 2, 3, 5).exp().reshape(2, 6, 3, 5)", X4),
    ("x.reshape(2, 6, 15).exp()", X4),
    ("x.flatten(2).sigmoid()", X4),
    ("x.reshape(12, 3, 5).tanh()", X4),
    ("F.softmax(x, -1).reshape(15, 4)", X),
    ("x.sum(1)", X4),
    ("x.mean(-1, keepdim=True).expand(3, 5, 4) + x", X),
    ("x.unsqueeze(1) + x.unsqueeze(2)", X),
    ("torch.zeros_like(x) + 1", X),
    ("x.sort(-1)[0]", X),
    ("F.pad(x, (1, 2))", X4),
    ("F.max_pool2d(x, 2)", X4),
    ("F.avg_pool2d(x, 2)", X4),
    ("x + z", XZ),
    ("z * x", XZ),
    ("F.silu(x) * z", XZ),
    ("x * F.silu(z)", XZ),
    ("F.mse_loss(x, z, reduction='none')", XZ),
    ("torch.maximum(x, z)", XZ),
    ("torch.lerp(x, z, 0.5)", XZ),
    ("x + z", {"x": (3, 5, 4), "z": (5, 4)}),
    ("z + x", {"x": (3, 5, 4), "z": (5, 4)}),
    ("z.exp() + x", {"x": (3, 5, 4), "z": (5, 4)}),
    ("z + x", {"x": (3, 5, 4), "z": (5, 1)}),
    ("x * z[:, None, :]", {"x": (3, 5, 4), "z": (3, 4)}),
]
UNPROMISED = [("x[torch.tensor([0, 2])]", X), ("x.exp().reshape(15, 4)", X), ("x @ x.transpose(1, 2)", X)]


def read(expression, shapes, tmp_path):
    path = tmp_path / "op.py"
    arguments = ", ".join(shapes)
    path.write_text(
        f"import torch\nimport torch.nn.functional as F\n\n\ndef op({arguments}):\n    return {expression}\n\n\n"
        f"def get_inputs():\n    return [{', '.join(f'torch.randn{s}' for s in shapes.values())}]\n"
    )
    torch.manual_seed(0)
    tensors = [torch.rand(shape) + 0.1 for shape in shapes.values()]
    run = eval(f"lambda {arguments}: {expression}")
    return differences(f"{path}:op", list(shapes), tensors, run)


@pytest.mark.parametrize(("expression", "shapes"), EXPRESSIONS)
def test_an_expression_lies_as_in_pytorch(expression, shapes, tmp_path):
    layout, promised, found = read(expression, shapes, tmp_path)
    assert promised, layout
    assert not found, (layout, len(found), found[:5])


@pytest.mark.parametrize(("expression", "shapes"), UNPROMISED)
def test_what_is_not_known_is_not_promised(expression, shapes, tmp_path):
    layout, promised, _ = read(expression, shapes, tmp_path)
    assert not promised, layout


def test_an_inputs_gradient_lies_like_the_input_whatever_a_backward_returns():
    """What the packages rely on: PyTorch itself lays .grad out like a dense leaf, and contiguous otherwise."""

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, d):
            return (2 * d).contiguous()

    for order in itertools.permutations(range(3)):
        x = in_order(torch.rand(3, 5, 4), order).requires_grad_()
        Doubled.apply(x).sum().backward()
        assert x.grad.stride() == x.stride()
    sliced = with_gaps(torch.rand(3, 5, 4), (2, 1, 0)).requires_grad_()
    Doubled.apply(sliced).sum().backward()
    assert sliced.grad.is_contiguous()
