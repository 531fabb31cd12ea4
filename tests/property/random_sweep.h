// Random graphs of tiers 1 and 2, forward and backward: each is generated, compiled and agrees with the rounded oracle,
// or is refused by a rule that has a name. Refusals stay rare.
#pragma once

#include <cstdint>

#include "kernel_pass.h"

namespace kw::test {

// Fails where one is wrong, or where more than this share of the passes is refused.
void expect_random_graphs(uint64_t count, Where where, double most_refused = 0.05);

}  // namespace kw::test
