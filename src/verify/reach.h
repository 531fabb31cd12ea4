// Which kernels of a manifest a call runs, found without running it; and the shapes that reach those which ordinary
// shapes do not: a kernel for long rows is judged on long rows, wherever its guards say that they begin.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kernel/call.h"
#include "verify/layout.h"
#include "verify/subject.h"

namespace kw::verify {

// Symbols of the entries that aligned tensors of these sizes run, as they lie in the layout. Once more, marked so:
// where an entry has all the shared memory that it ever asks for; where what it finishes comes in several parts, one
// from each block before it, or in many. Empty where no pass serves them.
std::set<std::string> reached(const Subject& subject, const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                              const kernel::Machine& machine, Layout layout = Layout::Dense);

// What a pass would launch for dense tensors of these sizes; nothing where it does not serve them.
struct PlannedLaunch {
  const kernel::Entry* entry = nullptr;
  Result<kernel::LaunchShape> shape;
};
std::vector<PlannedLaunch> planned_launches(const Subject& subject, const kernel::Pass& pass,
                                            const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                                            const kernel::Machine& machine);

// In all passes.
std::int64_t threads_launched(const Subject& subject, const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                              const kernel::Machine& machine);

// Shapes beside `tried`, each of which reaches in this layout what none before it does: one size is long, the others
// are small. None has a tensor of more than `most` elements.
std::vector<kernel::Sizes> shapes_that_reach(const Subject& subject, const std::vector<kernel::Sizes>& tried,
                                             const kernel::TypeBinding& types, const kernel::Machine& machine,
                                             std::int64_t most, Layout layout = Layout::Dense);

// The sizes near powers of two at which a kernel that cuts rows into pieces gets one more of them: where a kernel
// counts its pieces otherwise than the call does, it shows there.
std::vector<kernel::Sizes> shapes_at_edges(const Subject& subject, const kernel::TypeBinding& types,
                                           const kernel::Machine& machine, std::int64_t most);

// On a GPU with many multiprocessors many blocks have a part in a sum, and no warp finishes it alone. The smallest
// shapes with which every entry that reads such parts has many of them. None where the machine decides no count of
// parts. One less than a power of two: what goes through parts by rounds of so many fills its last one nearly.
inline constexpr std::int64_t kManyMultiprocessors = 127;
std::vector<kernel::Sizes> shapes_of_many_parts(const Subject& subject, const kernel::TypeBinding& types,
                                                std::int64_t most, Layout layout);

}  // namespace kw::verify
