// Where else a kernel might round: the same math with one rounding left out, or one put in. A kernel that follows such
// an order instead of the source's is wrong in the last bits only, and those are what a model drifts by (Llama and
// Gemma differ in exactly that). The rounded oracle rejects it; these name what it did.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpreter/interpreter.h"
#include "verify/trial.h"

namespace kw::verify {

struct OtherOrder {
  std::string text;  // "x_3 is not rounded to bf16"
  ir::Graph graph;   // of the forward, types bound
};

// Of a forward whose types are bound; none where nothing is narrower than f32.
std::vector<OtherOrder> other_orders(const ir::Graph& forward);

struct CastingEvidence {
  int orders = 0;        // other orders that were tried
  int told_apart = 0;    // of them, those that the oracle's bound rejects at these inputs
  std::string followed;  // the order that the kernel follows instead of the source's; empty if none
};

// `got` by tensor, as the kernel wrote it; `beyond` says that it is outside the oracle's bound.
Result<CastingEvidence> casting_evidence(const Subject& subject, const kernel::TypeBinding& types,
                                         const ir::Environment& values, const Expected& expected,
                                         const std::map<std::string, std::vector<double>>& got, bool beyond);

}  // namespace kw::verify
