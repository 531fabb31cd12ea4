// How a reduction runs on the CPU. The terms of a floating sum are gathered tile by tile and added in a fixed order, in
// lanes, whatever the compiler makes of the loop around them; the sums of tiles are added up in double. So no rounding
// error is carried along a row, and every machine gives the same bits.
//
//   float terms[kTile];
//   …  terms[i - tile] = x * x;
//   ms_total += kw::tile_sum(terms, end - tile);   // double
//   const float ms = float(ms_total / cols);
//
// Down a column every point of a tile has an accumulator of its own, over at most kChain terms.
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
  bool adds_tiles() const;  // its terms along a row are gathered and added tile by tile
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
