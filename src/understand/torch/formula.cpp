#include "understand/torch/formula.h"

namespace kw::understand {

Expression log_sigmoid(Expression x) {
  Expression negative = less(x, 0.0);
  return select(negative, x, 0.0) - log1p(exponential(select(negative, x, -x)));
}

Result<std::vector<TensorValue>> operands_of(Call& call, std::initializer_list<std::string_view> parameters) {
  std::vector<TensorValue> out;
  for (std::string_view parameter : parameters) {
    auto operand = as_operand(call.builder, call[parameter]);
    if (!operand) return call.wrong(parameter, "a tensor or a number");
    out.push_back(*operand);
  }
  return out;
}

}  // namespace kw::understand
