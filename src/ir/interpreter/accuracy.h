// How exactly a kernel may be asked to evaluate a primitive, in units in the last place of the type that it computes
// in.
//
// These are the documented maxima of what kernels call: the CUDA C++ Programming Guide's table of single precision
// functions (CUDA, column 2), SLEEF's vector functions as PyTorch's CPU build calls them (column 3), and the
// approximate instructions that Triton emits (column 4). A bound that the best library could not keep would reject
// right kernels.
//
//              CUDA   SLEEF  Triton
//   sqrt        0.5    0.5    1      sqrt.approx.f32
//   rsqrt       2      1.5    2
//   div         0.5    0.5    2      div.full.f32; PyTorch on CUDA multiplies by the reciprocal of a number: 1.5
//   exp         1      2      2 + 1.173 |x|   as __expf: ex2.approx of a rounded product
//   exp2        2      1      2
//   sin, cos    2      3.5    2
//   pow         4      1      4
//   erfc        4      1.5    4
//   erf         2      7e-7 absolute: PyTorch's vectorised f32 code and oneDNN's gelu take the approximation 7.1.26 of
//                      Abramowitz and Stegun, |error| < 1.5e-7, and lose a few ulps of 1 in evaluating it
//   sinh, cosh  3      1      3      and overflow already where exp does, as SLEEF
#pragma once

#include "ir/type.h"

namespace kw::ir::interpreter {

// Of a result f(x) or f(x, y) computed in a type, f32 or f64.
using Ulps = double (*)(DType computed, double x, double y);

template <int kTenths>
double ulps(DType, double, double) {
  return kTenths / 10.0;
}
inline constexpr Ulps kCorrectlyRounded = nullptr;

double ulps_exp(DType computed, double x, double);
double ulps_sigmoid(DType computed, double x, double);
double ulps_erf(DType computed, double x, double);
double ulps_hyperbolic(DType computed, double x, double);
// Small exponents are written out (x*x), and half a power is a root.
double ulps_pow(DType computed, double x, double exponent);

}  // namespace kw::ir::interpreter
