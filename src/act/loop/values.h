// From the graph of a pass to values of the loop form: every node becomes a value at a point of the iteration space,
// views become index arithmetic in the loads below them. Which kernels compute the values, and in which stages, is
// decided after this (kernels.h): here there is one space and one set of values.
#pragma once

#include "act/loop/loop.h"

namespace kw::act {

struct LoweredOutput {
  BufferId buffer;
  std::vector<Index> at;
  ValueId value;
};

struct LoweredValues {
  std::vector<LoopAxis> axes;
  std::vector<Buffer> buffers;  // inputs, then outputs, in the interface's order
  std::vector<std::pair<std::string, ir::Type>> scalars;
  std::vector<Value> values;  // topological
  std::vector<LoweredOutput> outputs;
};

// Refuses, by the name of the rule, what tiers 1 and 2 do not have: scans, sorts, gathers, windows, contractions.
Result<LoweredValues> lower_values(const ir::Graph& pass);

}  // namespace kw::act
