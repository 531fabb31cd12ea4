// Canonical texts of the math: each is exactly what the printer writes for the graph that it means. Every primitive is
// the outermost op of the first output of at least one.
#pragma once

#include <string>
#include <vector>

namespace kw::ir {

const std::vector<std::string>& canonical_texts();

}  // namespace kw::ir
