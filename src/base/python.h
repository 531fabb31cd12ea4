// Where a Python may be found whose packages the user has: one rule for all who look for one.
#pragma once

#include <string>
#include <vector>

namespace kw {

// That are there, best first: of the active environment, of .venv here, of .venv beside the binary, the system's.
std::vector<std::string> pythons_here();

}  // namespace kw
