// A pass of the loop form as a Python file of Triton kernels, and how they are launched.
#pragma once

#include <string>
#include <vector>

#include "act/loop/loop.h"
#include "kernel/manifest.h"

namespace kw::act::triton {

struct PassOptions {
  std::string pass = "forward";
  std::vector<std::string> comment;  // lines at the head of the file
};

struct EmittedPass {
  std::string file;  // rms_norm_forward.py
  std::string text;
  kernel::Pass pass;
};

// Refuses, by the name of the rule, what the target cannot do yet.
Result<EmittedPass> emit(const LoopProgram& program, const PassOptions& options);

}  // namespace kw::act::triton
