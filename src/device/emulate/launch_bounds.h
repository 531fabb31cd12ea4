// How many threads the kernels of a file say that they may be launched with: "KW_KERNEL(256, 2) void norm(" → norm,
// 256. A GPU refuses a launch of more.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kw::device::emulate {

// By kernel, an expression in the file's own words. A kernel that is written twice, in branches of an #if, has none.
std::map<std::string, std::string> launch_bounds(std::string_view source);

}  // namespace kw::device::emulate
