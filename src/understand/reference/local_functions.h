// The functions of templates/torch/reference_functions.py, which a reference brings along where it needs them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kw::understand::reference {

struct LocalFunction {
  std::string name;
  std::string text;  // from "def" to its last line
};

std::vector<LocalFunction> local_functions();  // in the order of the file: each rests on earlier ones alone

// The texts of the wanted functions and of those that they call, in order.
std::vector<std::string> functions_needed(std::set<std::string, std::less<>> wanted);

}  // namespace kw::understand::reference
