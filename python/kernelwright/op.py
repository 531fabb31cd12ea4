"""What the ops of a package share when they run: the road of a call, what happens to a call that no kernel serves,
autocast, and the pieces of their registration with PyTorch. A package holds a copy of this file."""

import functools
import inspect
import warnings

import torch
from torch._prims_common import compute_elementwise_output_strides
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

_warned = set()

# What every call asks, as cheaply as PyTorch can answer.
is_tracing = torch.compiler.is_dynamo_compiling
any_autocast = torch._C._is_any_autocast_enabled
any_transform = torch._C._are_functorch_transforms_active


def direct(overload):
    """The op itself, without the Python around it."""
    return getattr(overload, "_op", overload)


def direct_apply(function):
    """The apply of an autograd.Function for calls outside of functorch's transforms, which need what is left out."""
    return super(torch.autograd.Function, function).apply


class Op:
    """How calls of one op are answered.

    eager: the kernels, in eager mode; traced: the op that torch.compile sees; serves: do the tensors fit what the
    kernels take; types: the mixtures of element types that are compiled; gradients: which tensors have one;
    backwards: the tensors whose gradients each backward op computes; example: shapes, to ask what autocast would do.
    """

    def __init__(self, name, reference, eager, traced, serves, types, gradients, backwards, example):
        self.name = name
        self.reference = reference
        self.eager = eager
        self.traced = traced
        self.serves = serves
        self.types = types
        self.gradients = gradients
        self.backwards = backwards
        self.example = example

    def careful(self, tensors, scalars, strict):
        """A call under torch.compile or autocast."""
        device = tensors[0].device.type
        if torch.is_autocast_enabled(device):
            dtypes = self.under_autocast(device, tuple(t.dtype for t in tensors), torch.get_autocast_dtype(device))
            if dtypes is None:
                return self.by_reference("autocast changes the types that it computes in", tensors, scalars, strict)
            tensors = tuple(t.to(d) if t.dtype != d else t for t, d in zip(tensors, dtypes, strict=True))
        if not is_tracing():
            with torch.autocast(device, enabled=False):
                return self.answer(tensors, scalars, strict)
        if not self.serves(*tensors):
            return self.by_reference("no kernel serves these types or shapes", tensors, scalars, strict)
        return self.traced(*tensors, *scalars)

    def answer(self, tensors, scalars, strict):
        try:
            return self.eager(*tensors, *scalars)
        except RuntimeError as error:
            return self.after(error, tensors, scalars, strict)

    def after(self, error, tensors, scalars, strict):
        """What a call gets that the op refused with this error."""
        why = str(error).split("\n")[0]
        if isinstance(error, NotImplementedError):  # PyTorch found no implementation for the device
            why = f"kw::{self.name}: a tensor on {tensors[0].device.type}"
        elif "kw_unsupported: " not in why:
            raise error
        return self.by_reference(why.split("kw_unsupported: ")[-1], tensors, scalars, strict)

    def by_reference(self, why, tensors, scalars, strict):
        if strict:
            raise NotImplementedError(f"{self.name}: {why}")
        if not is_tracing() and (self.name, why) not in _warned:
            _warned.add((self.name, why))
            warnings.warn(f"{self.name} runs its reference: {why}", stacklevel=4)
        return self.reference(*tensors, *scalars)

    @torch.compiler.assume_constant_result
    def under_autocast(self, device, dtypes, autocast_dtype):
        """The element types that the kernels must be called with to compute as the reference does under autocast;
        None where no types do."""
        return _under_autocast(self.reference, self.example, device, dtypes, autocast_dtype)


class _Computations(TorchDispatchMode):
    """The types in which each computation is done. A cast to a wider type changes no value and is left out."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        of = [a.dtype for a in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(a, torch.Tensor)]
        to = [a.dtype for a in torch.utils._pytree.tree_leaves(result) if isinstance(a, torch.Tensor)]
        widens = func is torch.ops.aten._to_copy.default and torch.promote_types(of[0], to[0]) == to[0]
        if not widens:
            self.seen.append((func, tuple(of), tuple(to)))
        return result


@functools.cache
def _under_autocast(reference, example, device, dtypes, autocast_dtype):
    def computations(dtypes, enabled):
        # Another device is current inside the fake mode: only what the tensors say counts.
        with torch.no_grad(), FakeTensorMode(), _Computations() as record:
            tensors = [torch.empty(s, dtype=d, device=device) for s, d in zip(example, dtypes, strict=True)]
            record.seen.clear()
            with torch.autocast(device, dtype=autocast_dtype, enabled=enabled):
                reference(*tensors)
        return record.seen

    wide = tuple(torch.promote_types(d, torch.float32) if d.is_floating_point else d for d in dtypes)
    wanted = computations(dtypes, True)
    for candidate in (dtypes, wide):
        if computations(candidate, False) == wanted:
            return candidate
    return None


class _Once(torch.autograd.Function):
    """Gradients that cannot be differentiated again, and say so."""

    @staticmethod
    def forward(ctx, op, count, *tensors):
        ctx.op = op
        return tuple(t.view_as(t) for t in tensors[:count])

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError(
            f"kw::{ctx.op} has no second derivative: its backward is a kernel. Differentiate its reference instead."
        )


def once(op, gradients, inputs):
    """The gradients, tied to the inputs by a node that refuses to be differentiated (create_graph=True)."""
    there = [g for g in gradients if g is not None]
    if not there:
        return gradients
    tied = iter(_Once.apply(op, len(there), *there, *inputs))
    return tuple(None if g is None else next(tied) for g in gradients)


def refuse_second_derivative(op, name):
    """The autograd formula of a backward op."""

    def backward(ctx, *_):
        raise RuntimeError(
            f"kw::{op} has no second derivative: its backward is a kernel. Differentiate its reference instead."
        )

    torch.library.register_autograd(f"kw::{name}", backward)


def register_fake(*names):
    """Registers what a function says of shapes and types for each of these ops."""

    def register(function):
        for name in names:
            torch.library.register_fake(f"kw::{name}", function)
        return function

    return register


def empty(near, shape, dtype, like=()):
    """A tensor without values, with the strides that PyTorch gives to a pointwise op on `like`."""
    if not like:
        return near.new_empty(shape, dtype=dtype)
    return near.new_empty_strided(shape, compute_elementwise_output_strides(*like), dtype=dtype)


def join(*dtypes):
    return functools.reduce(torch.promote_types, dtypes)


def constructor_values(constructor, args, kwargs):
    """The constructor's arguments by name, defaults included."""
    bound = inspect.signature(constructor).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def load(library, ops):
    """Loads a package's library, which registers its ops."""
    for op in ops:
        if hasattr(torch.ops.kw, op):
            raise ImportError(f"kw::{op} is registered already, by another package: one process can have one of them")
    torch.ops.load_library(library)
