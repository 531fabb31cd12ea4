// Names of the math as identifiers of generated code: `norm.weight` is not one, `lambda` is a keyword somewhere, and
// two values may bear the same name.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace kw::act {

// A letter or _ and then letters, digits and _; no keyword of C++, CUDA or Python.
bool is_identifier(std::string_view name);

// Words that kernels of a target have as variables of their own, from its skeletons or from what writes around them: a
// size, a loop variable or a value of that name would hide one, or be hidden.
std::span<const std::string_view> cpu_skeleton_words();
std::span<const std::string_view> cuda_skeleton_words();

// The name of a tensor or a scalar: with an underscore, where skeletons use the word for a variable of their own
// (`point`), or a manifest for something else (`max`), as keywords have.
std::string free_of_skeletons(const std::string& name);

// One scope of names.
class Identifiers {
 public:
  // The identifier nearest to `wanted` that is still free, and takes it; `fallback` stands for a name that is empty.
  std::string take(std::string_view wanted, std::string_view fallback);

 private:
  std::set<std::string> taken_;
};

}  // namespace kw::act
