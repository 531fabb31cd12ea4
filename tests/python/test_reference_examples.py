"""The reference.py of every example, written from the graph that was read from it, computes what the example computes:
in its own types to the last bits, and its gradients in double precision."""

import ast
import inspect
import json
import os
import subprocess
from pathlib import Path

import pytest
import torch
from shrunk_examples import FILES, SMALL, load, module_of, outputs_of

BUILD = Path(__file__).resolve().parents[2] / os.environ.get("BUILD", "build")

# An example that casts to fp32 inside is only that exact in double precision.
IN_DOUBLE = 1e-10
IN_SINGLE = 2e-6


def shrunk_source(path):
    """The file's text with the small sizes in place of its own, so that what is read is what is run."""
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple | ast.Name):
            names = getattr(node.targets[0], "elts", [node.targets[0]])
            values = getattr(node.value, "elts", [node.value])
            if all(isinstance(value, ast.Constant) and isinstance(value.value, int) for value in values):
                for name, value in zip(names, values, strict=True):
                    value.value = SMALL[name.id]
    return ast.unparse(tree)


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shrunk")
    for path in FILES:
        (folder / path.name).write_text(shrunk_source(path))
    command = [BUILD / "reference_of", *sorted(folder.glob("*.py"))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return {Path(line["path"]).stem: line for line in map(json.loads, ran.stdout.splitlines())}


class Problem:
    """An example and its reference, with the same values for both."""

    def __init__(self, line, convert=lambda tensor: tensor):
        assert "refused" not in line, line["refused"]
        torch.manual_seed(0)
        path = Path(line["path"])
        example = load(path)
        self.module = module_of(example, path)
        with torch.no_grad():
            for parameter in self.module.parameters():
                parameter.add_(0.2 * torch.randn_like(parameter))
        for _, tensor in [*self.module.named_parameters(), *self.module.named_buffers()]:
            tensor.data = convert(tensor.data)
        self.inputs = [convert(tensor) for tensor in example.get_inputs()]

        namespace = {}
        exec(compile(line["reference"], f"reference of {path.stem}", "exec"), namespace)
        self.function = namespace[line["function"]]
        forward = getattr(self.module, "function", self.module.forward)
        by_name = dict(zip(inspect.signature(forward).parameters, self.inputs, strict=False))
        by_name |= dict(self.module.named_parameters()) | dict(self.module.named_buffers())
        tensors = [i for i in line["inputs"] if not i["is_scalar"]]
        self.arguments = {i["argument"]: by_name[i["name"]] for i in tensors}

    def expected(self):
        return outputs_of(self.module(*self.inputs))

    def actual(self):
        return outputs_of(self.function(**self.arguments))


def to_double(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


def assert_same_but_for_ties(actual, expected, values):
    """torch.topk promises no order among equal values; the reference takes the first."""
    for a, e, v in zip(actual, expected, values, strict=True):
        assert len(v[a != e].unique()) <= 1


each_example = pytest.mark.parametrize("name", [path.stem for path in FILES])


@each_example
def test_reference_gives_the_numbers_of_the_example_in_its_own_types(references, name):
    problem = Problem(references[name])
    with torch.no_grad():
        pairs = list(zip(problem.expected(), problem.actual(), strict=True))
    for expected, actual in pairs:
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        if expected.is_floating_point():
            tolerance = 2 * torch.finfo(expected.dtype).eps
            torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance * float(expected.abs().max()))
        elif name == "moe_top_k_routing":
            assert_same_but_for_ties(actual, expected, pairs[0][0])
        else:
            assert torch.equal(actual, expected)


@each_example
def test_reference_and_its_gradients_agree_in_double_precision(references, name):
    problem = Problem(references[name], to_double)
    relative = IN_SINGLE if ".float()" in references[name]["reference"] else IN_DOUBLE
    leaves = [tensor.requires_grad_() for tensor in problem.arguments.values() if tensor.is_floating_point()]
    expected, actual = problem.expected(), problem.actual()
    for e, a in zip(expected, actual, strict=True):
        assert a.dtype == e.dtype
        torch.testing.assert_close(a, e, rtol=relative, atol=relative * float(e.detach().abs().max()))

    reached = [i for i, e in enumerate(expected) if e.requires_grad]
    cotangents = [torch.randn_like(expected[i]) for i in reached]
    gradients = [
        torch.autograd.grad([outputs[i] for i in reached], leaves, cotangents, allow_unused=True)
        for outputs in (expected, actual)
    ]
    for e, a in zip(*gradients, strict=True):
        assert (e is None) == (a is None)
        if e is not None:
            torch.testing.assert_close(a, e, rtol=relative, atol=relative * float(e.abs().max()))


@each_example
def test_reference_is_a_file_of_its_own_that_needs_torch_alone(references, name):
    text = references[name]["reference"]
    imports = {ast.unparse(n) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)}
    assert imports <= {"import math", "import torch", "import torch.nn.functional as F"}
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    inputs = namespace["example_inputs"]()
    outputs = outputs_of(namespace[references[name]["function"]](*inputs))
    assert all(isinstance(output, torch.Tensor) for output in outputs)
