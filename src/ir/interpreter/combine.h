// An associative combine compiled to be applied to many pairs of tuples at once.
#pragma once

#include "ir/interpreter/context.h"

namespace kw::ir::interpreter {

// Lanes of one part of a tuple.
struct Lanes {
  std::vector<double> values;
  std::vector<double> bounds;  // empty while bounds are not tracked
};
using LaneTuple = std::vector<Lanes>;  // one per part

// In rounded semantics the combined values are not rounded: a kernel may combine in any order, so that the oracle keeps
// the exact result, and the roundings of each application are part of the bound.
class CombineProgram {
 public:
  // A body of numbers computes in the type that PyTorch works in for results of `type`.
  CombineProgram(const Context& context, const Combine& combine, DType type)
      : context_(context), combine_(combine), computed_(opmath(type)) {}

  LaneTuple identity(size_t lanes) const;
  LaneTuple apply(const LaneTuple& left, const LaneTuple& right) const;

 private:
  const Context& context_;
  const Combine& combine_;
  DType computed_;
};

}  // namespace kw::ir::interpreter
