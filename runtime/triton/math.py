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
    p = (((-0.0059059076 * z + 0.020805422) * z - 0.053786696) * z + 0.13331958) * z - 0.33333299
    far = 1.0 - 2.0 / (tl.exp(2.0 * a) + 1.0)
    return tl.where(a < 0.6, x + x * z * p, tl.where(x < 0, -far, far))
