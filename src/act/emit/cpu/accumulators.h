// How a reduction runs on the CPU. Floating sums and products go through partial results over a bounded number of
// terms, which are added up in double: no rounding error is carried along a row.
//
//   float part = 0;                  // one tile, in vector lanes
//   …  part += x * x;
//   ms_total += part;                // double
//   const float ms = float(ms_total / cols);
#pragma once

#include "act/emit/cpp/expressions.h"

namespace kw::act::cpu {

using namespace cpp;

struct Accumulator {
  ValueId value;  // the Reduced
  ValueId arg;
  ir::Op op;
  std::string type;    // of the terms, in C++
  std::string name;    // of the variable that the terms are combined in
  std::string total;   // of the sum of partial results; empty without
  std::string start;   // of `name`, as text
  std::string clause;  // "+", "kw::maximum"
  bool partial() const { return !total.empty(); }
  // name ← name ⊕ term; `at` is an index into arrays of accumulators, or empty.
  std::string combine(const std::string& term, const std::string& at = {}) const;
  std::string add_partial(const std::string& at = {}) const;  // total ← total ⊕ name
  // The result from what was accumulated; `count` is the number of terms.
  std::string result(const std::string& count, const std::string& at = {}) const;
};

// `only`: whether it is the only partial result of its loop, and may be called `part`.
Accumulator make_accumulator(const LoopKernel& kernel, ValueId reduced, bool only, CppTypes& types, KernelNames& names);
bool has_partials(const LoopKernel& kernel, ValueId reduced);

}  // namespace kw::act::cpu
