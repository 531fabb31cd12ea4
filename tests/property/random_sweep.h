// Random graphs of tiers 1 and 2 the whole way: read as math text, decided, generated, and put to the judge, forward
// and backward together. Each is verified, or refused by a rule that has a name. Refusals stay rare.
//
// The judge tries the graph's own types on small tensors, and asks neither PyTorch nor differences: they say nothing
// about kernels. What it does not look at is compared beside it: the values that the forward saves, which it sees only
// through the gradients.
#pragma once

#include <cstdint>

#include "kernel_pass.h"

namespace kw::test {

// Is it of tier 3? So is the gradient of a reduction by any combine.
bool needs_scan(const ir::Graph& graph);

// Fails where a graph of these seeds is not verified, or is refused without a rule. One whose gradients need a scan,
// which is of tier 3, is verified without gradients.
void expect_random_graphs(uint64_t first, uint64_t count, Where where);

// Counts the graphs that are refused by their rule, without compiling; fails where they are `most` of all or more.
// Those of tier 3 are counted apart.
void expect_few_refusals(uint64_t count, Where where, double most = 0.05);

}  // namespace kw::test
