"""Triton's interpreter as a stand-in for a GPU. Where it casts to bf16 it cuts the last bits off (Triton 3.6 to 3.9),
a cast of fp64 to bf16 takes the number for bits, and subnormal bf16 become other numbers in fp32; a GPU rounds to
nearest, ties to even. With that set right, what runs here is judged by the bound of the real rounding, and by nothing
looser."""

import numpy as np
import triton.language as tl
from triton.runtime import interpreter


def to_bf16(values):
    """The bits of the nearest bf16, ties to even, of an array of fp32 or fp64."""
    if values.dtype == np.float64:
        # Straight from fp64: rounded to odd on the way, so that nothing is rounded twice.
        single = values.astype(np.float32)
        bits = single.view(np.uint32)
        inexact = np.isfinite(single) & (single.astype(np.float64) != values)
        away = inexact & (np.abs(single.astype(np.float64)) > np.abs(values))
        bits = np.where(away, bits - 1, bits)
        bits = np.where(inexact, bits | 1, bits).astype(np.uint32)
        values = bits.view(np.float32)
    bits = np.ascontiguousarray(values).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet_nan = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet_nan, rounded).astype(np.uint16)


def from_bf16(bits):
    """The same number in fp32. Triton's own conversion gets subnormal ones wrong."""
    return (np.ascontiguousarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def round_as_a_gpu():
    """Puts the rounding in its place; once is enough."""
    builder = interpreter.InterpreterBuilder
    if getattr(builder.cast_impl, "rounds_to_nearest", False):
        return
    original = builder.cast_impl

    def cast_impl(self, src, dst_type):
        if dst_type.scalar == tl.bfloat16 and src.dtype.scalar in (tl.float32, tl.float64):
            return interpreter.TensorHandle(to_bf16(src.data).reshape(src.data.shape), tl.bfloat16)
        if src.dtype.scalar == tl.bfloat16 and dst_type.scalar in (tl.float32, tl.float64):
            single = from_bf16(src.data).reshape(src.data.shape)
            wide = single if dst_type.scalar == tl.float32 else single.astype(np.float64)
            return interpreter.TensorHandle(wide, dst_type.scalar)
        return original(self, src, dst_type)

    cast_impl.rounds_to_nearest = True
    builder.cast_impl = cast_impl

    # A reduction by a function of its own goes element by element there; for these two numpy has the same.
    known = {"nan_max": np.max, "nan_min": np.min}
    reduce = interpreter.ReduceOps.apply_impl

    def apply_impl(self, given):
        function = known.get(getattr(getattr(self.combine_fn, "fn", None), "__name__", ""))
        if function is None:
            return reduce(self, given)
        value = given[0] if isinstance(given, tuple) else given
        return self.to_tensor(function(value.handle.data, axis=self.axis, keepdims=self.keep_dims), value.dtype)

    interpreter.ReduceOps.apply_impl = apply_impl
