// Which values of a kernel are to be computed, in what order, and how often each is wanted: what every emitter asks
// before it writes variables.
#pragma once

#include <functional>
#include <vector>

#include "act/loop/loop.h"

namespace kw::act {

// A number, a scalar of the call or an index: written where it is used.
bool is_trivial(const Value& value);

// How often each value is an operand, or is reduced, stored or accumulated.
std::vector<int> use_counts(const LoopKernel& kernel);

// What the roots need and is not `known`, operands first; the trivial is left out. `operands`: of a value, where it is
// written without some of its own.
std::vector<ValueId> in_order(const LoopKernel& kernel, const std::vector<ValueId>& roots,
                              const std::function<bool(ValueId)>& known,
                              const std::function<std::vector<ValueId>(ValueId)>& operands = {});

}  // namespace kw::act
