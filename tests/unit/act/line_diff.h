// What changed between two texts, line by line: "- old", "+ new", and a few equal lines around them.
#pragma once

#include <string>
#include <string_view>

namespace kw::act::test {

std::string line_diff(std::string_view expected, std::string_view got);

}  // namespace kw::act::test
