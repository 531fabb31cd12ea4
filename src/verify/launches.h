// Launches at sizes that nobody runs here: what a manifest asks of a GPU is an expression of the sizes, and can be more
// than any GPU gives long before memory is full.
#pragma once

#include <vector>

#include "kernel/call.h"
#include "verify/gates.h"
#include "verify/subject.h"

namespace kw::verify {

// The first launch of each kernel that cannot be, with dense tensors of which one axis after the other is long.
std::vector<Finding> launches_too_large(const Subject& subject, const kernel::TypeBinding& types,
                                        const kernel::Machine& machine);

}  // namespace kw::verify
