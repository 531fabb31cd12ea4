// --shape, --dtype and --init for sources that name their sizes and types themselves (math text, exported graphs): they
// give the user's own sizes, element types and scalars.
#pragma once

#include "base/result.h"
#include "ir/graph.h"
#include "profile/profile.h"

namespace kw::understand {

// --shape x=4096,1024 gives the sizes of x's dimensions; --dtype x=f32 or T=f32 the type; --init eps=1e-5 the number.
Status apply_options(ir::Graph& graph, const profile::ReadingOptions& options);

}  // namespace kw::understand
