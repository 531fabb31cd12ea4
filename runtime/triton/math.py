# Functions that Triton's own language lacks, made of what it has, so that they run on every backend and in its
# interpreter. A generated file takes along those that it calls.
import triton
import triton.language as tl


# function square
@triton.jit
def square(x):
    return x * x


# function cube
@triton.jit
def cube(x):
    return x * x * x


# function sign
@triton.jit
def sign(x):
    return (x > 0).to(tl.float32) - (x < 0).to(tl.float32)


# function expm1
@triton.jit
def expm1(x):
    # exp(x) - 1 cancels near zero; its error and that of the logarithm are the same there and divide out.
    u = tl.exp(x)
    exact = tl.where(u == 1.0, x, (u - 1.0) * x / tl.log(tl.where(u == 1.0, 2.0, u)))
    return tl.where((tl.abs(x) > 1.0) | (x != x), u - 1.0, exact)


# function log1p
@triton.jit
def log1p(x):
    # The same the other way round: what 1 + x rounds off divides out.
    u = 1.0 + x
    near = tl.where(u == 1.0, x, tl.log(u) * x / tl.where(u == 1.0, 1.0, u - 1.0))
    return tl.where(tl.abs(x) > 1.0, tl.log(u), near)


# function tanh
@triton.jit
def tanh(x):
    # Near zero an odd polynomial, fitted to 2.7e-9; beyond it nothing cancels.
    a = tl.abs(x)
    z = x * x
    p = tl.fma(tl.fma(tl.fma(tl.fma(z, -0.0059059076, 0.020805422), z, -0.053786696), z, 0.13331958), z, -0.33333299)
    far = 1.0 - 2.0 / (tl.exp(2.0 * a) + 1.0)
    return tl.where(a < 0.6, tl.fma(x * z, p, x), tl.where(x < 0, -far, far))


# function wide_tanh
@triton.jit
def wide_tanh(x):
    # exp(2a) - 1, without its cancellation near zero; e / (e + 2) is infinite over infinite far from it.
    a = 2.0 * tl.abs(x)
    u = tl.exp(a)
    e = tl.where(u == 1.0, a, (u - 1.0) * a / tl.log(tl.where(u == 1.0, 2.0, u)))
    t = tl.where(a > 44.0, 1.0, e / (e + 2.0))
    return tl.where(x != x, x, tl.where(x < 0, -t, t))


# function wide_sqrt
@triton.jit
def wide_sqrt(x):
    # Correctly rounded in either type; fp64 has no other.
    return tl.sqrt(x) if x.dtype == tl.float64 else tl.sqrt_rn(x)


# function wide
@triton.jit
def wide(x):
    # What values of a type are computed in: fp32, or fp64 where they have it.
    return x if x.dtype == tl.float64 else x.to(tl.float32)


# function promoted
@triton.constexpr_function
def promoted(a, b):
    # PyTorch's promotion of two floating types.
    if a == b:
        return a
    return tl.float64 if tl.float64 in (a, b) else tl.float32


# function nan_max
@triton.jit
def nan_max(a, b):
    # tl.max passes over NaN.
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


# function nan_min
@triton.jit
def nan_min(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


# function divided
@triton.jit
def divided(a, b):
    # A row by one number: by its reciprocal, which is rounded correctly. Very small and very large numbers are first
    # brought to where they have one.
    size = tl.abs(b)
    scale = tl.where(size < 1e-30, 18446744073709551616.0, tl.where(size > 1e30, 5.421010862427522e-20, 1.0))
    return a * scale * tl.div_rn(1.0, b * scale)
