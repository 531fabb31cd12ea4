// The primitives one element at a time, exactly as the interpreter evaluates them: for what runs the math in another
// form and must agree with it (the loop form).
#pragma once

#include <span>
#include <vector>

#include "ir/interpreter/interpreter.h"

namespace kw::ir {

// A pointwise op with its types. Types are concrete in rounded semantics.
class ElementFunction {
 public:
  ElementFunction(Op op, DType result, std::vector<DType> operands, Semantics semantics);
  double operator()(std::span<const double> operands) const;

 private:
  Op op_;
  DType result_;
  std::vector<DType> operands_;
  InterpretOptions options_;
};

// One reduction: any of those that combine terms without their position (all but argmax, argmin and reduce).
class ElementFold {
 public:
  ElementFold(Op op, DType result, Semantics semantics);
  void start();
  void add(double term);
  double value() const;  // of the terms since `start`, rounded

 private:
  Op op_;
  DType result_;
  Semantics semantics_;
  std::vector<double> state_;
  int64_t terms_ = 0;
};

// Rounds to the element type that a tensor of the interface or a buffer has, as an input is.
double store_element(DType type, double value, Semantics semantics);

}  // namespace kw::ir
