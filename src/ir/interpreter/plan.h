// In which order a graph runs, and what runs together.
//
// Pointwise nodes over the same axes, and the reductions of their results, form one group that runs tile by tile: a
// value that nothing outside its group reads is never stored. A node's stage counts how often values had to be complete
// on the way to it (a reduction's result, a change of axes, a whole op); nodes of one space and one stage are a group,
// and running by ascending stage respects every dependence.
#pragma once

#include "ir/interpreter/context.h"

namespace kw::ir::interpreter {

struct Group {
  std::vector<AxisId> space;      // in storage order
  std::vector<NodeId> pointwise;  // ascending, hence operands first
  std::vector<NodeId> folds;
};

struct Task {
  int32_t stage = 0;
  NodeId node = kNoNode;  // a leaf, view or whole op; kNoNode: a group
  Group group;
  std::vector<NodeId> last_reads;  // values that nothing needs after this task
};

// Where a product stands in sums and in other products of the type that they are computed in. A compiler may fuse it
// into the addition that reads it, and a kernel may multiply the factors of a longer product in another order.
struct ProductUse {
  bool in_sum = false;      // an addition reads it
  bool in_product = false;  // a product reads it
  int of_products = 0;      // operands that are products
};

struct Plan {
  std::vector<Task> tasks;
  // By node: the node whose value it shares, itself for most. A cast that changes no value is its operand.
  std::vector<NodeId> source;
  std::vector<bool> stored;          // by node: a pointwise node that something outside its group reads
  std::vector<ProductUse> products;  // by node
};

Plan make_plan(const Context& context);

// Whether every value of one type is a value of the other.
bool holds_exactly(DType to, DType from);

}  // namespace kw::ir::interpreter
