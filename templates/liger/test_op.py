# The unit test of an op in a Liger checkout.
from holes import KW_STATEMENTS

# skeleton test
# SPDX-License-Identifier: KW_EXPRESSION_licence
import pytest
import torch

from test.utils import assert_verbose_allclose
from test.utils import supports_bfloat16

KW_STATEMENTS(imports)

device = infer_device()

# Of each tensor: its shape.
KW_STATEMENTS(shapes)

# Kernel and reference round at the same places: what is left is the order of sums, and in the short types a value that
# lies so near to the middle between two that it falls to the other side. Each is judged against the largest value.
types = pytest.mark.parametrize(
    "dtype, tolerance",
    [
        (torch.float32, 1e-5),
        (torch.float16, 2**-9),
        pytest.param(
            torch.bfloat16,
            2**-6,
            marks=pytest.mark.skipif(not supports_bfloat16(), reason="this device has no bfloat16"),
        ),
    ],
)


KW_STATEMENTS(reference)


def random_tensors(shapes, dtype):
    torch.manual_seed(0)
    return [KW_EXPRESSION_random.to(dtype).requires_grad_() for shape in shapes]


def copies(tensors):
    return [tensor.detach().clone().requires_grad_() for tensor in tensors]


def as_tuple(outputs):
    return outputs if isinstance(outputs, tuple) else (outputs,)


def assert_agree(ours, theirs, tolerance, what, others=()):
    assert ours.dtype == theirs.dtype and torch.isfinite(theirs).all()
    # A number that is the sum of many may be small beside them.
    judged = [theirs, *others] if theirs.numel() == 1 else [theirs]
    largest = max((tensor.abs().max().item() for tensor in judged if tensor.numel() > 0), default=0.0)
    assert_verbose_allclose(ours, theirs, rtol=tolerance, atol=tolerance * largest, extra_info=f"[{what}] ")


def assert_same_op(op, reference, tensors, tolerance):
    """Values and gradients of `op`, as it is called, against those of `reference` on copies."""
    expected_tensors = copies(tensors)
    outputs, expected = as_tuple(op(*tensors)), as_tuple(reference(*expected_tensors))
    gradients = [torch.randn_like(output) for output in expected]
    torch.autograd.backward(outputs, gradients)
    torch.autograd.backward(expected, gradients)
    for i, (ours, theirs) in enumerate(zip(outputs, expected)):
        assert_agree(ours, theirs, tolerance, f"output {i}")
    others = [tensor.grad for tensor in expected_tensors]
    for i, (ours, theirs) in enumerate(zip(tensors, expected_tensors)):
        assert_agree(ours.grad, theirs.grad, tolerance, f"gradient {i}", others)


@pytest.mark.parametrize("shapes", SHAPES)
@types
def test_functional_agrees_with_pytorch(shapes, dtype, tolerance):
    assert_same_op(KW_NAME_functional, KW_NAME_reference_name, random_tensors(shapes, dtype), tolerance)


@types
def test_strided_tensors_agree_with_pytorch(dtype, tolerance):
    tensors = [
        tensor.detach().transpose(0, -1).contiguous().transpose(0, -1).requires_grad_() if tensor.dim() > 1 else tensor
        for tensor in random_tensors(SHAPES[0], dtype)
    ]
    assert_same_op(KW_NAME_functional, KW_NAME_reference_name, tensors, tolerance)


@types
def test_module_is_the_function_with_its_own_parameters(dtype, tolerance):
    KW_STATEMENTS(module)


def test_function_gives_what_the_functional_form_gives():
    tensors = random_tensors(SHAPES[0], torch.float32)
    outputs = as_tuple(KW_NAME_autograd.apply(KW_LIST_applied))
    for ours, theirs in zip(outputs, as_tuple(KW_NAME_functional(*tensors))):
        assert torch.equal(ours, theirs)


def test_fp64_is_refused():
    with pytest.raises(TypeError):
        KW_NAME_functional(*random_tensors(SHAPES[0], torch.float64))


# end
