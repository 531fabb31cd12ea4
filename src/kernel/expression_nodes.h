// An expression as a tree, for who writes it in another language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/expression.h"

namespace kw::kernel {

struct ExpressionNode {
  std::string_view op;      // "+", "//", "min", "dense", "and", "-1" (the sign); empty: a number or a name
  std::string text;         // of a number or a name
  std::vector<int> inputs;  // nodes before this one
};

std::vector<ExpressionNode> nodes_of(const Expression& expression);  // the last is the whole

}  // namespace kw::kernel
