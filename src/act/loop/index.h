// Arithmetic on index expressions, simplified as it is built: what a split wrote as outer*n + inner, a merge takes
// apart again.
#pragma once

#include <functional>

#include "act/loop/loop.h"

namespace kw::act {

Index axis_index(LoopAxisId axis);
Index size_index(ir::Size size);
Index value_index(ValueId value);

// `size_of` gives the size of a loop axis: an axis is smaller than its size, which is what lets // and % simplify.
class IndexArithmetic {
 public:
  explicit IndexArithmetic(const std::vector<LoopAxis>& axes) : axes_(axes) {}
  Index add(Index a, Index b) const;
  Index sub(Index a, Index b) const;
  Index mul(Index a, Index b) const;
  Index floor_div(Index a, const ir::Size& n) const;
  Index mod(Index a, const ir::Size& n) const;

 private:
  bool below(const Index& a, const ir::Size& n) const;  // certainly 0 <= a < n
  // a as outer*n + inner with inner below n, if it is visibly so.
  std::optional<std::pair<Index, Index>> split(const Index& a, const ir::Size& n) const;
  const std::vector<LoopAxis>& axes_;
};

std::vector<LoopAxisId> axes_of(const Index& index);  // ascending
std::string text(const Index& index, const LoopProgram& program);

}  // namespace kw::act
