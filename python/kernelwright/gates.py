"""What an op of a package must do, whatever it computes: each gate takes a Subject and raises AssertionError. Values
are compared with the reference; how exact the kernels are is what `kw verify` proved before. A package holds a copy of
this file beside its tests."""

import gc
import importlib
import sys
import warnings
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint


class Subject:
    """An op, the shapes that it is tried with (and those without elements), and where."""

    def __init__(self, package, op, shapes, empty=(), device=None):
        self.module = importlib.import_module(f"{package}.{op}")
        self.name = op
        self.shapes = shapes
        self.empty = empty
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.function = getattr(self.module, op)
        self.reference = self.module.reference
        self.op = self.module._OP
        self.public = getattr(torch.ops.kw, op).default

    @property
    def differentiable(self):
        return any(self.op.gradients)

    def tensors(self, shapes=None, dtypes=None, requires_grad=True, seed=0):
        generator = torch.Generator().manual_seed(seed)
        made = []
        for shape, dtype, gradient in zip(
            shapes or self.shapes[0], dtypes or self.op.types[0], self.op.gradients, strict=True
        ):
            if dtype.is_floating_point:
                tensor = torch.randn(shape, generator=generator).to(dtype)
            else:
                tensor = torch.randint(0, 2, shape, generator=generator).to(dtype)
            made.append(tensor.to(self.device).requires_grad_(requires_grad and gradient))
        return made

    def roads(self):
        """The ways in which kernels are called, and their names."""
        roads = [("eager", lambda *t: self.function(*t, strict=True)), ("op", self.op.traced)]
        return roads if self.op.in_python is self.op.eager else [*roads, ("in Python", self.op.in_python)]


def results_of(answer):
    return answer if isinstance(answer, tuple) else (answer,)


def cotangents_for(results, seed=1):
    """One for each result: where inputs are frozen, a result may have a gradient here and none there."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(r.shape, generator=generator).to(r.dtype).to(r.device) for r in results]


def with_gradient(results, cotangents):
    """The results that have one, and their cotangents."""
    chosen = [(r, c) for r, c in zip(results, cotangents, strict=True) if r.requires_grad]
    return [r for r, _ in chosen], [c for _, c in chosen]


def run(function, tensors, cotangents=None):
    """Results, and the gradients of the tensors that want one."""
    results = results_of(function(*tensors))
    wanting, incoming = with_gradient(results, cotangents or cotangents_for(results))
    wanted = [t for t in tensors if t.requires_grad]
    if not wanting or not wanted:
        return list(results), []
    gradients = torch.autograd.grad(wanting, wanted, incoming, allow_unused=True)
    return list(results), list(gradients)


def assert_close(actual, expected, what, through=(), elements=0):
    assert len(actual) == len(expected), f"{what}: {len(actual)} tensors, not {len(expected)}"
    for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
        if a is None or e is None:
            assert a is None and (e is None or not e.any()), f"{what} {i}: one is missing"
            continue
        assert a.dtype == e.dtype, f"{what} {i}: {a.dtype}, not {e.dtype}"
        assert a.shape == e.shape, f"{what} {i}: {tuple(a.shape)}, not {tuple(e.shape)}"
        if a.numel() == 0:
            continue
        if not e.dtype.is_floating_point:
            assert torch.equal(a, e), f"{what} {i} differs"
            continue
        # A few roundings of the largest value on the way, to the narrowest type: a wrong argument, stride or order is
        # off by the value itself. A sum over n of the elements passes values of about the root of n, and may end low.
        eps = max(torch.finfo(d).eps for d in (e.dtype, *through) if d.is_floating_point)
        on_the_way = (elements / e.numel()) ** 0.5
        allowed = 16 * eps * max(1.0, e.double().abs().max().item(), on_the_way)
        error = (a.double() - e.double()).abs().max().item()
        assert error <= allowed, f"{what} {i}: off by {error:.3g}, where {allowed:.3g} is allowed"


def compare(subject, function, tensors, what, cotangents=None):
    expected = run(subject.reference, tensors, cotangents)
    actual = run(function, tensors, cotangents)
    through, elements = [t.dtype for t in tensors], max(t.numel() for t in tensors)
    assert_close(actual[0], expected[0], f"{what}: result", through)
    assert_close(actual[1], expected[1], f"{what}: gradient", through, elements)


def values_and_gradients_are_the_references(subject):
    for dtypes in subject.op.types:
        for shapes in subject.shapes:
            for road, function in subject.roads():
                compare(subject, function, subject.tensors(shapes, dtypes), f"{road}, {dtypes}, {shapes}")


def the_ops_pass_opcheck(subject):
    tensors = subject.tensors()
    torch.library.opcheck(subject.public, (*tensors,))
    plain = [t.detach() for t in tensors]
    inner = getattr(torch.ops.kw, f"_{subject.name}_forward").default
    torch.library.opcheck(inner, (*plain,), test_utils=("test_schema", "test_faketensor"))
    turned = [t.detach().transpose(0, -1).contiguous().transpose(0, -1) if t.dim() > 1 else t for t in plain]
    torch.library.opcheck(inner, (*turned,), test_utils=("test_schema", "test_faketensor"))


def it_compiles_whole(subject, backend="aot_eager"):
    for dynamic in (False, True):
        torch._dynamo.reset()
        compiled = torch.compile(subject.function, fullgraph=True, dynamic=dynamic, backend=backend)
        for shapes in subject.shapes[: 3 if dynamic else 1]:
            compare(subject, compiled, subject.tensors(shapes), f"compiled, dynamic={dynamic}, {shapes}")
    torch._dynamo.reset()


def a_graph_calls_the_op(subject):
    """torch.compile must see the op, not the reference."""
    seen = []

    def backend(graph, _):
        seen.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    torch._dynamo.reset()
    torch.compile(subject.function, fullgraph=True, backend=backend)(*subject.tensors(requires_grad=False))
    torch._dynamo.reset()
    assert any(f"kw.{subject.name}" in target for target in seen), seen


def autocast_computes_as_the_reference(subject):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtypes in subject.op.types:
            for narrow in (torch.bfloat16, torch.float16):
                tensors = subject.tensors(dtypes=dtypes)
                with torch.autocast(subject.device, dtype=narrow):
                    compare(subject, subject.function, tensors, f"autocast to {narrow}, {dtypes}")


def every_mixture_of_types_computes_as_the_reference(subject):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for first in (torch.bfloat16, torch.float32, torch.float64):
            for others in (torch.bfloat16, torch.float32, torch.float64):
                floats = [d.is_floating_point for d in subject.op.types[0]]
                mixture = [
                    d if not f else first if i == 0 else others
                    for i, (d, f) in enumerate(zip(subject.op.types[0], floats, strict=True))
                ]
                tensors = subject.tensors(dtypes=mixture)
                try:
                    subject.reference(*tensors)
                except RuntimeError:
                    continue  # the reference takes no such mixture
                compare(subject, subject.function, tensors, f"{mixture}")


def what_no_kernel_serves_runs_the_reference_and_warns_once(subject):
    dtypes = [torch.float64 if d.is_floating_point else d for d in subject.op.types[0]]
    tensors = subject.tensors(dtypes=dtypes)
    sys.modules[type(subject.op).__module__]._warned.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            compare(subject, subject.function, tensors, "float64")
    told = [w for w in caught if "runs its reference" in str(w.message)]
    assert len(told) == 1, f"{len(told)} warnings"
    try:
        subject.function(*tensors, strict=True)
    except NotImplementedError:
        return
    raise AssertionError("strict=True did not raise")


class _Calls(TorchDispatchMode):
    """The ops of kernelwright that are called, and how many tensors each gives."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        answer = func(*args, **(kwargs or {}))
        if func.namespace == "kw":
            self.seen.append((func.__name__, len(results_of(answer))))
        return answer


def frozen_inputs_cost_nothing(subject):
    """Where there is a backward op for just the gradients that are wanted, it is the one that is called."""
    every = [i for i, gradient in enumerate(subject.op.gradients) if gradient]
    choices = {*subject.op.backwards, *(tuple(i for i in every if i != frozen) for frozen in every)}
    for wanted in filter(None, choices):
        tensors = subject.tensors()
        for i in every:
            tensors[i].requires_grad_(i in wanted)
        least = min(len(b) for b in subject.op.backwards if set(wanted) <= set(b))
        for road, function in subject.roads():
            compare(subject, function, tensors, f"{road}, gradients of {wanted}")
            with _Calls() as calls:
                run(function, tensors)
            made = [count for name, count in calls.seen if "_backward" in name]
            assert made == [least], f"{road}, gradients of {wanted}: {calls.seen}"


def no_grad_saves_nothing(subject):
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        with torch.no_grad():
            results = results_of(subject.function(*subject.tensors()))
        frozen = results_of(subject.function(*subject.tensors(requires_grad=False)))
    assert not packed, f"{len(packed)} tensors are saved"
    assert all(r.grad_fn is None for r in (*results, *frozen))


def nothing_is_kept_behind_the_graph(subject):
    """What is saved for the backward is freed with the results."""
    if not subject.differentiable:
        return
    tensors = subject.tensors()
    kept = []

    def pack(tensor):
        # A result that its own node holds would live for ever: a hook must hand back another tensor.
        held = tensor.detach()
        kept.extend((weakref.ref(tensor), weakref.ref(held)))
        return held

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        results = subject.function(*tensors)
    inputs = {id(t) for t in tensors}
    assert kept
    del results
    gc.collect()
    alive = [r() for r in kept if r() is not None and id(r()) not in inputs]
    assert not alive, f"{len(alive)} tensors are still there"


def a_graph_is_walked_twice(subject):
    if not subject.differentiable:
        return
    for _, function in subject.roads():
        tensors = subject.tensors()
        wanted = [t for t in tensors if t.requires_grad]
        every = results_of(function(*tensors))
        results, cotangents = with_gradient(every, cotangents_for(every))
        first = torch.autograd.grad(results, wanted, cotangents, retain_graph=True)
        second = torch.autograd.grad(results, wanted, cotangents)
        assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def checkpointing_agrees(subject):
    if not subject.differentiable:
        return
    for reentrant in (False, True):
        tensors = subject.tensors()
        expected = [g.clone() for g in _accumulated(subject.reference, tensors, 1)]

        def function(*t, reentrant=reentrant):
            return checkpoint(subject.function, *t, use_reentrant=reentrant)

        assert_close(_accumulated(function, tensors, 1), expected, f"use_reentrant={reentrant}: gradient")


def _accumulated(function, tensors, steps):
    for tensor in tensors:
        tensor.grad = None
    for step in range(steps):
        results = results_of(function(*tensors))
        torch.autograd.backward(*with_gradient(results, cotangents_for(results, seed=step)))
    return [t.grad for t in tensors if t.requires_grad]


def gradients_accumulate(subject):
    if not subject.differentiable:
        return
    tensors = subject.tensors()
    expected = [g.clone() for g in _accumulated(subject.reference, tensors, 2)]
    assert_close(_accumulated(subject.function, tensors, 2), expected, "two steps: gradient")


def a_second_derivative_is_refused_clearly(subject):
    if not subject.differentiable:
        return
    for road, function in subject.roads():
        tensors = subject.tensors()
        wanted = [t for t in tensors if t.requires_grad]
        every = results_of(function(*tensors))
        results, cotangents = with_gradient(every, cotangents_for(every))
        cotangents = [c.requires_grad_() for c in cotangents]
        gradients = torch.autograd.grad(results, wanted, cotangents, create_graph=True)
        try:
            torch.autograd.grad(
                [g.float().square().sum() for g in gradients if g.requires_grad], wanted + cotangents, allow_unused=True
            )
        except RuntimeError as error:
            assert "has no second derivative" in str(error), f"{road}: {error}"
        else:
            raise AssertionError(f"{road}: a second derivative was given")


def _layouts(tensor):
    """The same values, otherwise laid out in memory."""
    if tensor.dim() == 0 or tensor.numel() == 0:
        return
    yield "every second element", torch.stack((tensor, tensor), -1).flatten(-2)[..., ::2]
    yield "turned", tensor.transpose(0, -1).contiguous().transpose(0, -1)
    room = torch.empty(tensor.numel() + 1, dtype=tensor.dtype, device=tensor.device)
    yield "misaligned", room[1:].view(tensor.shape).copy_(tensor)
    gaps = torch.empty((*tensor.shape[:-1], tensor.shape[-1] + 3), dtype=tensor.dtype, device=tensor.device)
    yield "gaps", gaps[..., : tensor.shape[-1]].copy_(tensor)


def any_layout_of_inputs_is_served(subject):
    for shapes in subject.shapes[:2]:
        plain = subject.tensors(shapes)
        for i, tensor in enumerate(plain):
            for layout, other in _layouts(tensor.detach()):
                tensors = list(plain)
                tensors[i] = other.requires_grad_(tensor.requires_grad)
                compare(subject, lambda *t: subject.function(*t, strict=True), tensors, f"input {i}: {layout}")
            if tensor.dim() == 0:
                continue
            expanded = tensor.detach()[:1].expand(tensor.shape).requires_grad_(tensor.requires_grad)
            tensors = list(plain)
            tensors[i] = expanded
            compare(subject, lambda *t: subject.function(*t, strict=True), tensors, f"input {i}: expanded")


def any_layout_of_incoming_gradients_is_served(subject):
    if not subject.differentiable:
        return
    for shapes in subject.shapes[:2]:
        tensors = subject.tensors(shapes)
        results = results_of(subject.reference(*tensors))
        plain = cotangents_for(results)
        for i, cotangent in enumerate(plain):
            if not results[i].requires_grad:
                continue
            for layout, other in _layouts(cotangent):
                given = list(plain)
                given[i] = other
                compare(subject, subject.function, tensors, f"gradient {i}: {layout}", given)
            given = list(plain)
            given[i] = torch.full((), 0.5, dtype=cotangent.dtype, device=cotangent.device).expand(cotangent.shape)
            compare(subject, subject.function, tensors, f"gradient {i}: expanded", given)


def empty_tensors_are_served(subject):
    for shapes in subject.empty:
        for road, function in subject.roads():
            compare(subject, function, subject.tensors(shapes), f"{road}, {shapes}")


def inputs_are_left_alone(subject):
    tensors = subject.tensors(requires_grad=False)
    before = [t.clone() for t in tensors]
    subject.function(*tensors)
    assert all(torch.equal(a, b) for a, b in zip(tensors, before, strict=True))


GATES = [
    values_and_gradients_are_the_references,
    the_ops_pass_opcheck,
    it_compiles_whole,
    a_graph_calls_the_op,
    autocast_computes_as_the_reference,
    every_mixture_of_types_computes_as_the_reference,
    what_no_kernel_serves_runs_the_reference_and_warns_once,
    frozen_inputs_cost_nothing,
    no_grad_saves_nothing,
    nothing_is_kept_behind_the_graph,
    a_graph_is_walked_twice,
    checkpointing_agrees,
    gradients_accumulate,
    a_second_derivative_is_refused_clearly,
    any_layout_of_inputs_is_served,
    any_layout_of_incoming_gradients_is_served,
    empty_tensors_are_served,
    inputs_are_left_alone,
]
