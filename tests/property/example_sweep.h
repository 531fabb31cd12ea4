// An example, forward and backward, at many shapes, layouts and types: its profile becomes kernels that agree with the
// rounded oracle, without compiling again for a shape.
#pragma once

#include <cstddef>
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
  int64_t most = 20'000;  // elements of a shape
  int64_t longest = 0;    // one shape has a dimension this long
  std::string family;     // that the plan takes instead of its own, where it is a fallback
};

void expect_example(const std::string& name, const SweepOptions& options);
// Its passes as a package has them: with a package's schedules, and the backwards for some gradients alone.
void expect_packaged_example(const std::string& name, const SweepOptions& options);

}  // namespace kw::test
