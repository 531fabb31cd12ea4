// A pass of the loop form as C++ for the system compiler: one source file, generic in its type parameters, and how its
// kernels are called.
#pragma once

#include <string>
#include <vector>

#include "act/loop/loop.h"
#include "kernel/manifest.h"
#include "schedule/cpu_parameters.h"

namespace kw::act::cpu {

struct PassOptions {
  std::string pass = "forward";
  std::vector<std::string> comment;  // lines at the head of the file: what it computes, and why it looks like this
  schedule::CpuParameters parameters;
};

struct EmittedPass {
  std::string file;  // rms_norm_forward.cpp
  std::string text;
  kernel::Pass pass;  // its steps, and its buffers of workspace
};

// Refuses, by the name of the rule, what the target cannot do yet.
Result<EmittedPass> emit(const LoopProgram& program, const PassOptions& options);

}  // namespace kw::act::cpu
