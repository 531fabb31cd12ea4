// An example, forward and backward, at many shapes, layouts and types: its profile becomes kernels that agree with the
// rounded oracle, without compiling again for a shape.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "kernel_pass.h"

namespace kw::test {

enum class TypeChoice {
  One,   // bf16, or a mixture
  Two,   // and f32
  Some,  // f32, bf16 and a mixture
  All,
};

struct SweepOptions {
  Where where = Where::Cpu;
  size_t shapes = 20;
  TypeChoice types = TypeChoice::Some;
  int64_t most = 20'000;      // elements of a shape
  int64_t longest = 0;        // one shape has a dimension this long, another rows of a quarter of it
  int64_t most_to_reach = 0;  // elements of a shape that reaches what the others do not; 0: none is looked for
  size_t most_unreached = 3;  // kernels that may be left then
  std::string family;         // that the plan takes instead of its own, where it is a fallback
  std::map<std::string, std::string> parameters = {};  // of both passes' schedules, instead of what a formula says
};

void expect_example(const std::string& name, const SweepOptions& options);
// Its passes as a package has them: with a package's schedules, and the backwards for some gradients alone.
void expect_packaged_example(const std::string& name, const SweepOptions& options);

}  // namespace kw::test
