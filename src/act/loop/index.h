// Arithmetic on index expressions. Every expression is kept as a sum of terms in a fixed order, so that equal ones are
// equal, and // and % take apart what a split put together: (g*n + k) // n is g, where k runs below n.
#pragma once

#include <functional>

#include "act/loop/loop.h"

namespace kw::act {

Index axis_index(LoopAxisId axis);
Index size_index(ir::Size size);
Index value_index(ValueId value);

// An axis is smaller than its size, which is what lets // and % simplify.
class IndexArithmetic {
 public:
  explicit IndexArithmetic(const std::vector<LoopAxis>& axes) : axes_(axes) {}
  Index add(const Index& a, const Index& b) const;
  Index sub(const Index& a, const Index& b) const;
  Index mul(const Index& a, const Index& b) const;
  Index floor_div(const Index& a, const ir::Size& n) const;  // n is positive
  Index mod(const Index& a, const ir::Size& n) const;
  // The expression built again, bottom-up, with other leaves.
  Index rebuild(const Index& index, const std::function<Index(const Index& leaf)>& leaf) const;
  // n, if the index certainly takes each of 0 … n-1 once while its axes run through theirs.
  std::optional<ir::Size> enumerated(const Index& index) const;
  // The index with outer*inner_size + inner written as `outer` alone, which from now on counts both; nothing if it has
  // either of them otherwise.
  std::optional<Index> fuse(const Index& index, LoopAxisId outer, LoopAxisId inner, const ir::Size& inner_size) const;

 private:
  const std::vector<LoopAxis>& axes_;
};

using Axes = std::vector<LoopAxisId>;
Axes axes_of(const Index& index);  // ascending
bool has(const Axes& axes, LoopAxisId axis);
std::vector<ValueId> values_of(const Index& index);
bool is_natural(const Index& index);  // certainly never negative
// `kernel` names the values in it.
std::string text(const Index& index, const LoopProgram& program, const LoopKernel* kernel = nullptr);

}  // namespace kw::act
