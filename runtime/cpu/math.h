// The functions of a kernel on the CPU, by the names of the math, for float and double.
#pragma once

#include <cmath>
#include <cstdint>

namespace kw {

using std::abs;
using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::ceil;
using std::cos;
using std::cosh;
using std::erf;
using std::erfc;
using std::exp;
using std::exp2;
using std::expm1;
using std::floor;
using std::log;
using std::log1p;
using std::log2;
using std::pow;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

template <class T>
inline T round_half_even(T x) {
  return std::nearbyint(x);
}
template <class T>
inline T rsqrt(T x) {
  return 1 / std::sqrt(x);
}
template <class T>
inline T sigmoid(T x) {
  return 1 / (1 + exp(-x));
}
template <class T>
inline T sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}

}  // namespace kw
