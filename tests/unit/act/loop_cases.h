// The ops of tiers 1 and 2, and views and reductions in every arrangement, as math text with the sizes to run them at.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace kw::act::test {

using Sizes = std::map<std::string, int64_t>;  // by symbol

struct LoopCase {
  std::string name;
  std::string text;
  std::vector<Sizes> sizes;
};

inline void PrintTo(const LoopCase& c, std::ostream* out) { *out << c.name; }  // in GoogleTest's messages

const std::vector<LoopCase>& op_cases();    // named as their op
const std::vector<LoopCase>& view_cases();  // named as what they show

struct Pass {
  std::string name;  // forward, saving_forward, backward
  ir::Graph graph;
};

// The forward as written, and, where there is a gradient, the forward that saves and the backward.
std::vector<Pass> passes_of(const ir::Graph& forward);
std::vector<Pass> passes_of(const LoopCase& c);

}  // namespace kw::act::test
