// Whether two sizes are the same in every launch that a program admits: c is g*(c//g) where c % g == 0.
#pragma once

#include "act/loop/loop.h"

namespace kw::act {

class SizeEquality {
 public:
  explicit SizeEquality(const LoopProgram& program);
  // True if they are one expression, or agree at sample sizes that keep every constraint of the program. Where no such
  // sample is found nothing speaks against it.
  bool operator()(const ir::Size& a, const ir::Size& b) const;

 private:
  std::vector<std::vector<int64_t>> samples_;  // values of the symbols
};

}  // namespace kw::act
