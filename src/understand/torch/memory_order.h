// In which order the dimensions of a tensor lie in memory, as PyTorch decides it while a program runs: a pointwise op
// follows its operands, a view is its operand seen otherwise, softmax makes a contiguous tensor, and so on. Readers
// follow it op by op, for what they return.
//
//   gate, up = x.chunk(2, -1)       two views of x
//   y = gelu(gate) * up             like x: where x is transposed, so is y
//   z = softmax(y, -1)              contiguous, wherever y lies
//
// The rules are those of PyTorch's CPU kernels, taken from running them (tests/python/test_output_layout.py).
#pragma once

#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "understand/torch/value.h"

namespace kw::understand {

enum class MemoryRule : uint8_t {
  Inner,       // it is made of other operations, which have said it
  Same,        // the first operand itself
  Copy,        // the first operand where nothing changed, otherwise a pointwise op on it
  Clone,       // a pointwise op on the first operand
  Pointwise,   // on all operands
  View,        // of an operand
  Reshape,     // a view of the first operand where it can be one, otherwise a contiguous copy
  Contiguous,  // a new tensor
  Format,      // a new tensor, channels-last where all operands are
  Unknown,
};

// The rule of an operation, from its family's and its own name.
MemoryRule memory_rule(std::string_view name, MemoryRule family);

// What an operation with this rule makes of its operands (those that are tensors, in their order).
void order_result(const ir::Graph& graph, MemoryRule rule, const std::vector<TensorValue>& operands, Value& result);

// How a tensor that a program returns lies, by the names of the graph's inputs.
ir::Layout layout_of(const ir::Graph& graph, const TensorValue& tensor);

}  // namespace kw::understand
