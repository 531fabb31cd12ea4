// Which kernels of a manifest a call runs, found without running it; and the shapes that reach those which ordinary
// shapes do not: a kernel for long rows is judged on long rows, wherever its guards say that they begin.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kernel/call.h"
#include "verify/subject.h"

namespace kw::verify {

// Symbols of the entries that dense, aligned tensors of these sizes run; once more, marked so, where an entry has all
// the shared memory that it ever asks for. Empty where no pass serves them.
std::set<std::string> reached(const Subject& subject, const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                              const kernel::Machine& machine);

// Shapes beside `tried`, each of which reaches an entry that none before it does: one size is long, the others are
// small. None has a tensor of more than `most` elements.
std::vector<kernel::Sizes> shapes_that_reach(const Subject& subject, const std::vector<kernel::Sizes>& tried,
                                             const kernel::TypeBinding& types, const kernel::Machine& machine,
                                             std::int64_t most);

}  // namespace kw::verify
