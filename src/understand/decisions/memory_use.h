// Bytes at the user's own sizes: what the op keeps from forward to backward, and what the source would keep when
// PyTorch runs it op by op.
#pragma once

#include <set>

#include "profile/profile.h"
#include "understand/decisions/subject.h"

namespace kw::understand {

profile::Memory memory_use(const Derived& math);

// An estimate: nodes that came from one place of the source are one call; a call that is not linear keeps the tensors
// that it reads. Views share the memory of what they view.
std::set<ir::NodeId> kept_by_eager(const ir::Graph& read);

}  // namespace kw::understand
