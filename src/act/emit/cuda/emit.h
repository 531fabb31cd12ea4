// A pass of the loop form as CUDA for NVRTC: one source file, generic in its type parameters, and how its kernels are
// launched.
#pragma once

#include <string>
#include <vector>

#include "act/loop/loop.h"
#include "kernel/manifest.h"
#include "schedule/cuda_machine.h"

namespace kw::act::cuda {

struct PassOptions {
  std::string pass = "forward";
  std::vector<std::string> comment;  // lines at the head of the file: what it computes, and why it looks like this
  schedule::CudaMachine machine = schedule::h200();
  std::map<std::string, std::string> moves;  // parameters that replace what the formulas start from
};

struct EmittedPass {
  std::string file;  // rms_norm_forward.cu
  std::string text;
  kernel::Pass pass;    // its steps, and its buffers of workspace
  bool atomic = false;  // some sums are added up in any order
};

// Refuses, by the name of the rule, what the target cannot do yet.
Result<EmittedPass> emit(const LoopProgram& program, const PassOptions& options);

}  // namespace kw::act::cuda
