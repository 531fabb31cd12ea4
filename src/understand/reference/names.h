// Python names that are free: no keyword, no name of a module or builtin that the file uses, none given out before.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kw::understand::reference {

// "norm.weight" → "norm_weight", "1st" → "_1st".
std::string python_name(std::string_view name);

class Names {
 public:
  Names();
  // The name itself, or with the first of the suffixes _2, _3, … that is free.
  std::string take(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace kw::understand::reference
