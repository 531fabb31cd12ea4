// The derivative table: for every op either the function that builds its vector-Jacobian product, or the reason why no
// cotangent passes it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "ir/op.h"

namespace kw::ir {

class Adjoint;

struct DerivativeRule {
  // Gives each operand that wants one its contribution. An error means that a gradient must flow here and cannot.
  Status (*vjp)(Adjoint&) = nullptr;
  // Set where vjp is not: the cotangent stops here, because the derivative is zero or the values are not real numbers.
  std::string_view stops;
};

const DerivativeRule& derivative_rule(Op op);

// The vector-Jacobian products, by the file that holds them.
namespace vjp {
#define KW_VJP(name) Status name(Adjoint& at)
// pointwise.cpp
KW_VJP(neg);
KW_VJP(abs);
KW_VJP(sqrt);
KW_VJP(rsqrt);
KW_VJP(exp);
KW_VJP(exp2);
KW_VJP(expm1);
KW_VJP(log);
KW_VJP(log2);
KW_VJP(log1p);
KW_VJP(sin);
KW_VJP(cos);
KW_VJP(tan);
KW_VJP(asin);
KW_VJP(acos);
KW_VJP(atan);
KW_VJP(sinh);
KW_VJP(cosh);
KW_VJP(tanh);
KW_VJP(asinh);
KW_VJP(acosh);
KW_VJP(atanh);
KW_VJP(erf);
KW_VJP(erfc);
KW_VJP(erfinv);
KW_VJP(sigmoid);
KW_VJP(cast);
KW_VJP(add);
KW_VJP(sub);
KW_VJP(mul);
KW_VJP(div);
KW_VJP(mod);
KW_VJP(pow);
KW_VJP(atan2);
KW_VJP(max);
KW_VJP(min);
KW_VJP(select);
// reduction.cpp
KW_VJP(sum);
KW_VJP(mean);
KW_VJP(prod);
KW_VJP(reduce_extremum);
KW_VJP(logsumexp);
KW_VJP(reduce);
KW_VJP(contract);
// scan.cpp
KW_VJP(cumsum);
KW_VJP(cumprod);
KW_VJP(cumextremum);
KW_VJP(cumlogsumexp);
KW_VJP(scan);
// indexed.cpp
KW_VJP(gather);
KW_VJP(scatter_add);
KW_VJP(scatter_set);
KW_VJP(segment_sum);
KW_VJP(segment_extremum);
KW_VJP(sort);
KW_VJP(top_k);
// view.cpp
KW_VJP(broadcast);
KW_VJP(rename);
KW_VJP(slice);
KW_VJP(pad);
KW_VJP(concat);
KW_VJP(split);
KW_VJP(merge);
KW_VJP(window);
KW_VJP(fold);
#undef KW_VJP
}  // namespace vjp

}  // namespace kw::ir
