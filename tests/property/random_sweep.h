// Random graphs of tiers 1 and 2, forward and backward: each is generated, compiled and agrees with the rounded oracle,
// or is refused by a rule that has a name. Refusals stay rare.
#pragma once

#include <cstdint>

#include "kernel_pass.h"

namespace kw::test {

// Generates, compiles and runs the graphs of these seeds, and fails where one is wrong or refused without a rule.
void expect_random_graphs(uint64_t first, uint64_t count, Where where);

// Counts refusals by their rule, without compiling; fails where they are `most` of the passes or more.
void expect_few_refusals(uint64_t count, Where where, double most = 0.05);

}  // namespace kw::test
