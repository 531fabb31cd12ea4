// From the graph of a pass to values of the loop form: every node becomes a value at a point of the iteration space,
// views become index arithmetic in the loads below them. Which kernels compute the values, and in which stages, is
// decided after this (kernels.h): here there is one space and one set of values.
//
// Pointwise values are computed wherever they are wanted; a reduction is computed at its own axes alone. Where a view
// wants it elsewhere (the row means of a transposed operand, a slice of a reduced tensor), it is read back from memory.
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
  std::vector<Buffer> buffers;  // inputs, then outputs, in the interface's order; then what must be read back
  std::vector<std::pair<std::string, ir::Type>> scalars;
  std::vector<ScalarSource> scalar_sources;
  std::vector<Value> values;  // topological; equal ones are one
  std::vector<LoweredOutput> outputs;
  std::vector<CombineFunction> combines;
  std::map<BufferId, ValueId> read_back;  // the reduction that each buffer of workspace holds, indexed by its axes
};

// Refuses, by the name of the rule, what tiers 1 and 2 do not have: scans, sorts, gathers, windows, contractions.
Result<LoweredValues> lower_values(const ir::Graph& pass);

// The element type that memory holds for values of `type`: numbers without a width of their own take the widest.
ir::Type stored_type(ir::Type type);

}  // namespace kw::act
