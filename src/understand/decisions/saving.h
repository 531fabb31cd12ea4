// What a person may ask to have saved instead of the cheapest cut: "inputs" keeps the op's inputs alone and computes
// the rest again; a list of names keeps exactly those.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/partition.h"
#include "understand/decisions/subject.h"

namespace kw::understand {

// The partition of the joint graph that saves what `value` says. `cheapest` is the engine's own: its names may be used.
// An error names what the backward would miss, and what is not there.
Result<ir::Partition> partition_saving(const ir::Graph& joint, const ir::Partition& cheapest, const std::string& value);

// Other choices than the one that was made, for `instead_of`.
std::vector<std::string> saving_choices(const Derived& math);

}  // namespace kw::understand
