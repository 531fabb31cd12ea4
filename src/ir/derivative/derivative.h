// The derivative of a graph, in reverse mode, taken on the math before any schedule. It yields the *joint* graph: the
// forward with its backward behind it, over the same axes and symbols.
//
//   op rms_norm(x, w) → y      becomes      op rms_norm(x, w, d_y) → y, grad_x, grad_w
//
// Element types follow PyTorch's autograd: the cotangent of a value has the value's type, the derivative of a cast
// casts back, a contribution to a promoted operand is summed over the axes that the operand lacks and then cast to its
// type. So a graph that computes in f32 inside is differentiated in f32 inside.
//
// Where the derivative of an op that computes wide inside is written by its own result (exp, tanh, softmax), it reads
// the result as PyTorch's does: rounded, as the forward returns it. So it costs no exponential again. Only for what the
// forward returns and in the op's own inner type T|f32: of softmax(x.float()).to(x.dtype) autograd keeps the f32
// values, and so does the derivative here.
//
// It comes before simplification: formulas are those an expert writes (they reuse forward values: dy*(1 - y²) for
// tanh), and what is left over, such as a product with one, is the rewrite table's to remove.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/derivative/rule.h"
#include "ir/graph.h"

namespace kw::ir {

// A backward that is not the derivative and that the caller gives: a graph over (forward inputs, forward outputs, d_*)
// by name, whose outputs are the grad_* that it replaces. `reason` goes into the profile. This is a door:
// `differentiate` refuses it until a reader can produce one. A straight-through estimator does not need it: it is `x +
// stop_gradient(f(x) - x)` in the forward math.
struct DeclaredBackward {
  std::shared_ptr<const Graph> backward;
  std::string reason;
};

struct DerivativeOptions {
  // Names of the inputs whose gradient is wanted; by default every differentiable floating Tensor and Parameter.
  std::optional<std::vector<std::string>> inputs;
  // Names of the outputs that have a cotangent; by default every floating output that is not a buffer's update.
  std::optional<std::vector<std::string>> outputs;
  std::optional<DeclaredBackward> declared;
  // Rows that stand in for the table's own. For tests that plant a wrong row.
  std::map<Op, DerivativeRule> override_rules;
};

// Inputs: those of `forward`, then d_NAME per differentiated output. Outputs: those of `forward`, then grad_NAME per
// wanted input, with that input's dims and type; the gradient of an input that nothing depends on is zero.
Result<Graph> differentiate(const Graph& forward, const DerivativeOptions& options = {});

}  // namespace kw::ir
