// One kernel of the loop form as @triton.jit functions, in one of two forms: fast, for dense tensors and rows that one
// program holds, and general, which serves any call.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "act/emit/lines.h"
#include "act/emit/triton/expressions.h"
#include "act/loop/loop.h"
#include "base/result.h"
#include "kernel/manifest.h"

namespace kw::act::triton {

struct Written {
  Lines lines;  // the functions
  std::vector<kernel::Step> steps;
  std::vector<kernel::Buffer> workspace;  // beside the program's own
  std::set<std::string> functions;        // of runtime/triton/math.py
  std::string workers;                    // how many slices a sum that rides along has; empty: there is none
};

Result<Written> write_kernel(const LoopProgram& program, const LoopKernel& kernel, Form form,
                             const std::string& workers = {});

}  // namespace kw::act::triton
