// Runs one group of a plan: its pointwise nodes tile by tile, each tile feeding the group's reductions while it is in
// the cache.
#pragma once

#include "ir/interpreter/plan.h"

namespace kw::ir::interpreter {

// Rounds what an op computed to its node's type, and turns the spreads (if any) into bounds.
void finish_values(Op op, DType type, bool rounded, Exactness exactness, double* values, double* spreads, int64_t n);
void finish_values(const Context& context, const Node& node, Exactness exactness, double* values, double* spreads,
                   int64_t n);

// How an operand is brought to the type in which its reader computes, as PyTorch does before the arithmetic.
struct Conversion {
  DType to = DType::None;  // None: it is used as it is
  // PyTorch's CPU kernels of some ops round a Python number to the tensor's type, the CUDA kernels to the wider type
  // that they compute in. The oracle follows CUDA; the bound covers both.
  DType alternative = DType::None;
};
Conversion conversion_of(Op op, DType result, std::span<const DType> operands, size_t operand,
                         const InterpretOptions& options);
Conversion conversion_of(const Context& context, const Node& reader, size_t operand);
// Converts values (and bounds, if any) in place.
void convert(const Conversion& conversion, double* values, double* bounds, int64_t n);

// Evaluates a pointwise node on operands that are already converted: values, spreads, accuracy, rounding.
void evaluate_pointwise(const Context& context, const Node& node, const ProductUse& use, PointwiseCall& call);

// `values` holds, by node, what is complete; the group's stored and folded nodes are added.
Status run_group(Context& context, const Plan& plan, const Group& group, std::vector<View>& values);

}  // namespace kw::ir::interpreter
