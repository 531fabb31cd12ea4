"""What the ops of a package share when they run: the road of a call, what happens to a call that no kernel serves,
autocast, and the pieces of their registration with PyTorch. A package holds a copy of this file."""

import ast
import ctypes
import functools
import inspect
import json
import operator
import re
import sys
import warnings

import torch
from torch import nn
from torch._prims_common import compute_elementwise_output_strides, suggest_memory_format
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

_warned = set()
_UNSERVED = "no kernel serves this call: "  # what an op says that leaves a call to the reference

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


class Unserved(NotImplementedError):
    """No kernel serves the call, and strict=True forbids what would run instead."""


class Op:
    """How calls of one op are answered.

    eager: the kernels, in eager mode; in_python: likewise, with a gradient that needs no library for this PyTorch;
    traced: the op that torch.compile sees; serves: do the tensors fit what the kernels take; types: the mixtures of
    element types that are compiled; gradients: which tensors have one; backwards: the tensors whose gradients each
    backward op computes; example: shapes, to ask what autocast would do.
    """

    def __init__(self, name, reference, eager, in_python, traced, serves, types, gradients, backwards, example):
        self.name = name
        self.reference = reference
        self.eager = eager
        self.in_python = in_python
        self.traced = traced
        self.serves = serves
        self.types = types
        self.gradients = gradients
        self.backwards = backwards
        self.example = example

    def careful(self, tensors, scalars, strict):
        """A call under torch.compile, autocast or a transform of torch.func."""
        device = tensors[0].device.type
        if not is_tracing() and any_transform():
            return self.by_reference("it is transformed by torch.func", tensors, scalars, strict)
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
        elif _UNSERVED not in why:
            raise error
        return self.by_reference(why.split(_UNSERVED)[-1], tensors, scalars, strict)

    def by_reference(self, why, tensors, scalars, strict):
        if strict:
            raise Unserved(f"{self.name}: {why}")
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


def placed(tensor, shape):
    """A tensor as an operand of this shape, of which it may hold more than is read: its strides are what counts."""
    strides = [0] * (len(shape) - tensor.dim()) + [
        0 if own == 1 and size != 1 else stride
        for own, size, stride in zip(tensor.shape, shape[len(shape) - tensor.dim() :], tensor.stride(), strict=True)
    ]
    return tensor.new_empty_strided(shape, strides)


def pointwise(shape, *operands):
    """As a pointwise op on these, all of this shape, lays its result out."""
    return operands[0].new_empty_strided(shape, compute_elementwise_output_strides(*operands))


def channels_last_like(shape, *operands):
    """Channels-last where all operands are, otherwise contiguous."""
    formats = {suggest_memory_format(operand) for operand in operands}
    out = operands[0].new_empty(shape)
    return out.contiguous(memory_format=formats.pop()) if len(formats) == 1 else out


def seen(tensor, shape, dims):
    """A tensor as an operand of one of this shape: the (dimension, part) of its own that each dimension is made of, and
    none where it is repeated. What its strides do not allow is a contiguous copy."""
    sizes = [size if pieces else 1 for size, pieces in zip(shape, dims, strict=True)]
    strides = []
    for at, pieces in enumerate(dims):
        stride = _merged_stride(tensor, pieces) if pieces else 0
        if stride is None:
            return tensor.new_empty(sizes).expand(shape)
        if len(pieces) == 1 and pieces[0][1] >= 0:
            for other, inner in enumerate(dims):
                if other != at and any(d == pieces[0][0] and part > pieces[0][1] for d, part in inner):
                    stride = stride * shape[other]
        strides.append(stride)
    return tensor.new_empty_strided(shape, strides)


def _merged_stride(tensor, pieces):
    stride, reach = None, 0
    for dim, part in reversed(pieces):
        size = 2 if part >= 0 else tensor.shape[dim]
        if size == 1:
            continue
        if stride is not None and tensor.stride(dim) != reach:
            return None
        stride = tensor.stride(dim) if stride is None else stride
        reach = tensor.stride(dim) * size
    return 1 if stride is None else stride


def made(near, shape, rank, dims, lay):
    """A new tensor as an operand of one of this shape: the dimension of it that each dimension is, -1 where it is
    repeated. `lay` gives the new tensor for its own shape."""
    base = [1] * rank
    for size, dim in zip(shape, dims, strict=True):
        if dim >= 0:
            base[dim] = size
    under = lay(tuple(base))
    return near.new_empty_strided(shape, [0 if dim < 0 else under.stride(dim) for dim in dims])


def join(*dtypes):
    return functools.reduce(torch.promote_types, dtypes)


class Reading:
    """How a module was constructed when it was read: what its kernels take as given.

    init: the arguments that were given beside the source's own, as text; scalars: names of the arguments that the
    kernels take at run time, with their defaults; sizes: arguments that they take as a number; fixed: other arguments
    that decided what they compute; tensors: the module's own that they are called with; training: the mode.
    """

    def __init__(self, source, init, scalars, sizes, fixed, tensors, training):
        self.source = source
        self.init = init
        self.scalars = scalars
        self.sizes = sizes
        self.fixed = fixed
        self.tensors = tensors
        self.training = training

    @functools.cached_property
    def signature(self):
        return inspect.signature(self.source)

    @functools.cached_property
    def text(self):
        return "\n".join(inspect.getsource(c) for c in self.source.__mro__ if c.__module__ == self.source.__module__)

    @functools.cached_property
    def arguments(self):
        """By name, as they were read."""
        example = getattr(sys.modules[self.source.__module__], "get_init_inputs", None)
        given = {name: _literal(text) for name, text in self.init.items()}
        plain = {name: value for name, value in given.items() if name in self.signature.parameters}
        bound = self.signature.bind_partial(*(example() if example and not self.init else ()), **plain)
        bound.apply_defaults()
        for name, parameter in self.signature.parameters.items():
            of = parameter.annotation
            if name not in bound.arguments and inspect.isclass(of) and of.__module__ == self.source.__module__:
                bound.arguments[name] = of()  # a configuration that has defaults
        for name, value in given.items():
            owner, _, attribute = name.rpartition(".")
            if owner in bound.arguments:
                setattr(bound.arguments[owner], attribute, value)
        return self.flat(bound.arguments)

    def flat(self, arguments):
        """Arguments by name, and instead of a configuration what the source reads of it."""
        out = {}
        for name, value in arguments.items():
            if self.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                out |= value
            elif hasattr(value, "__dict__") and not callable(value):
                out |= {a: v for a, v in vars(value).items() if re.search(rf"\.{a}\b", self.text)}
            else:
                out[name] = value
        return out

    def of(self, module, args, kwargs):
        """The run-time scalars of a new module, and in what it differs from the one that was read (None: nothing)."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        own = self.flat(bound.arguments)
        scalars = tuple(own.get(name, default) for name, default in self.scalars.items())
        for name, value in own.items():
            if not self.fits(name, value) and self.matters(name, module, bound.arguments):
                return scalars, f"{name} is {value!r}, and the kernels are for {self.arguments.get(name)!r}"
        for name in self.tensors:
            if operator.attrgetter(name)(module) is None:
                return scalars, f"{name} is None"
        return scalars, None

    def fits(self, name, value):
        if name in self.scalars:
            return type(value) in (int, float)
        if name in self.sizes:
            return value == self.sizes[name]
        if isinstance(value, (torch.dtype, torch.device)) or name in ("dtype", "device"):
            return True
        if name in self.arguments and _same(value, self.arguments[name]):
            return True
        # Any other size is the tensors' to show.
        return name not in self.fixed and _is_size(value) and _is_size(self.arguments.get(name, 1))

    def matters(self, name, module, arguments):
        """Whether a module with this argument as it was read would be another, the values of its tensors apart."""
        if name not in arguments or name not in self.arguments:
            return True
        bound = inspect.BoundArguments(self.signature, dict(arguments) | {name: self.arguments[name]})
        try:
            with torch.device("meta"):
                return _without_tensors(self.source(*bound.args, **bound.kwargs)) != _without_tensors(module)
        except Exception:  # what cannot be found out is taken to matter
            return True

    def other_mode(self, module):
        """Why the kernels do not serve the module in this mode; None if they do."""
        if module.training == self.training or not self.mode_matters(module):
            return None
        return f"it is in {'training' if module.training else 'evaluation'} mode, and the kernels are for the other"

    def mode_matters(self, module):
        return "training" in self.text or any(
            isinstance(m, nn.modules.dropout._DropoutNd) or getattr(m, "track_running_stats", False)
            for m in module.modules()
        )


def _literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _without_tensors(module):
    """All that a forward can see of a module but the values of its tensors."""
    seen = {}
    for path, part in module.named_modules():
        tensors = part._parameters | part._buffers
        seen[path] = {n: v for n, v in vars(part).items() if not n.startswith("_")}
        seen[path] |= {n: t if t is None else tuple(t.shape) for n, t in tensors.items()}
        seen[path].pop("strict", None)
    return seen


def _same(a, b):
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:  # what cannot be compared is not the same
        return a is b


def _is_size(value):
    if isinstance(value, (tuple, list)):
        return all(_is_size(v) for v in value)
    return type(value) is int


class ReadModule:
    """What a module gets beside the source's own: its forward runs kernels. Constructed otherwise than the module that
    was read, or changed after that, it runs the source's own forward and warns once; with strict=True it raises."""

    def __init__(self, *args, strict=False, **kwargs):
        super().__init__(*args, **kwargs)
        self.strict = strict
        self._scalars, self._made_otherwise = self._READING.of(self, args, kwargs)
        self._attributes = frozenset(n for n in self.__dict__ if not n.startswith("_")) - {"training", "strict"}
        self._otherwise = self._made_otherwise or self._READING.other_mode(self)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        own = self.__dict__
        if "_otherwise" not in own:  # not constructed yet
            return
        if name in own["_attributes"] or (value is None and name in self._READING.tensors):
            own["_made_otherwise"] = f"{name} was changed"
        if name == "training" or own["_made_otherwise"]:
            own["_otherwise"] = own["_made_otherwise"] or self._READING.other_mode(self)

    def _own(self, why, forward, *inputs):
        name = type(self).__name__
        if self.strict:
            raise Unserved(f"{name}: {why}")
        if not is_tracing() and (name, str(why)) not in _warned:
            _warned.add((name, str(why)))
            warnings.warn(f"{name} runs its own forward: {why}", stacklevel=5)
        return forward(*inputs)


def load(folder, ops):
    """Loads a package's library, which registers its ops; returns its gradients in C++."""
    for op in ops:
        if hasattr(torch.ops.kw, op):
            raise ImportError(f"kw::{op} is registered already, by another package: one process can have one of them")
    torch.ops.load_library(str(folder / "_ops.so"))
    built = json.loads((folder / "built.json").read_text())
    return Gradients(folder / "_gradients.so", built["gradients"])


def abi_version(version):
    """What two builds of PyTorch must share for C++ that one compiled to run with the other."""
    release, _, _ = version.partition("+")
    return release if re.fullmatch(r"[0-9.]+", release) else version


class Gradients:
    """The gradients of a package's ops as nodes in C++, where their library was built with this version of PyTorch."""

    def __init__(self, path, built_with):
        self.library = None
        if built_with and abi_version(built_with) == abi_version(torch.__version__):
            try:
                self.library = ctypes.CDLL(str(path))
            except OSError:  # a PyTorch of that version, and yet another one
                return
            self.library.kw_attach.argtypes = [ctypes.c_char_p] * 4
            self.library.kw_attach.restype = ctypes.c_char_p

    def attach(self, op, node, results_alone, *backwards):
        """The op with its gradient; None where there is no library. runtime/torch/gradient.cpp says what it is told."""
        if self.library is None:
            return None
        why = self.library.kw_attach(*(text.encode() for text in (op, node, results_alone, "\n".join(backwards))))
        if why:
            raise ImportError(f"kw::{op}: {why.decode()}")
        return direct(getattr(torch.ops.kw, f"_{op}_eager").default)
