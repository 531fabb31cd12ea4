// What changed between two texts, line by line, in the unified form that people read.
#pragma once

#include <string>
#include <string_view>

namespace kw {

// Empty where nothing changed. `name` heads it, as "--- name" and "+++ name"; an absent text is an empty one.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view name);

}  // namespace kw
