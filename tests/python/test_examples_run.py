"""Every file in examples/ is a complete problem: it runs forward and backward in PyTorch and
is exported by torch.export, in training and in eval mode."""

import ast
import inspect

import pytest
import torch
from shrunk_examples import FILES, load, load_shrunk, module_of, op_of, outputs_of, problem
from torch._subclasses.fake_tensor import FakeTensorMode

TIERS = {
    1: "relu_squared silu gelu_erf gelu_tanh swiglu geglu softplus mish hardswish dyt derf dyisru prelu "
    "poly_relu clip_logits siglip_logits calibrated_logits",
    2: "rms_norm_llama rms_norm_gemma rms_norm_none rms_norm_mixed fused_add_rms_norm layer_norm group_norm softmax "
    "group_norm_silu log_softmax l2_normalize poly_norm mean_middle instance_norm mse huber hinge kl_div jsd tvd",
    3: "cross_entropy rope_half rope_interleaved rope_partial fused_linear_cross_entropy sparsemax segment_mean_pool "
    "embedding cumulative_sum max_pool2d conv2d_bias_relu causal_attention moe_top_k_routing",
}

each_example = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def test_examples_holds_exactly_the_ops_of_the_three_tiers():
    assert [path.stem for path in FILES] == sorted(" ".join(TIERS.values()).split())


@each_example
def test_file_imports_torch_and_math_alone_and_opens_with_a_docstring(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    imports = {ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))}
    assert imports <= {"import math", "import torch", "import torch.nn.functional as F", "from torch import nn"}


@each_example
def test_op_is_named_after_its_file(path):
    op = op_of(load_shrunk(path), path)
    if inspect.isclass(op):
        assert op.__name__.lower() == path.stem.replace("_", "")
    else:
        assert op.__name__ == path.stem


@each_example
def test_file_has_init_inputs_exactly_when_the_op_is_a_module(path):
    example = load_shrunk(path)
    assert hasattr(example, "get_init_inputs") == inspect.isclass(op_of(example, path))


@each_example
def test_shapes_fit_at_the_sizes_that_the_file_names(path):
    with FakeTensorMode():
        example = load(path)
        module_of(example, path)(*example.get_inputs())


@each_example
def test_forward_and_backward_are_finite_and_reach_every_float_input_and_parameter(path):
    module, inputs = problem(path)
    leaves = [tensor.requires_grad_() for tensor in inputs if tensor.is_floating_point()] + list(module.parameters())
    outputs = outputs_of(module(*inputs))
    assert all(torch.isfinite(output).all() for output in outputs)

    differentiable = [output for output in outputs if output.is_floating_point()]
    gradients = torch.autograd.grad(differentiable, leaves, [torch.randn_like(output) for output in differentiable])
    for gradient, leaf in zip(gradients, leaves, strict=True):
        assert gradient.dtype == leaf.dtype
        assert torch.isfinite(gradient).all()
        assert gradient.count_nonzero() > 0


@each_example
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_exported_program_gives_the_numbers_of_eager(path, training):
    module, inputs = problem(path)
    module.train(training)
    exported = torch.export.export(module, tuple(inputs)).run_decompositions({}).module()
    with torch.no_grad():
        expected, actual = outputs_of(module(*inputs)), outputs_of(exported(*inputs))
    for e, a in zip(expected, actual, strict=True):
        assert e.dtype == a.dtype
        torch.testing.assert_close(a, e, rtol=0, atol=0)
