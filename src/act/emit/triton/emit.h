// The passes of an op, in the loop form, as Python files of Triton kernels, and how they are launched. NAME.py has the
// fast kernels of all passes; NAME_general.py serves the calls that their guards turn away.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "act/loop/loop.h"
#include "kernel/manifest.h"

namespace kw::act::triton {

struct PassOptions {
  std::string pass = "forward";
  const LoopProgram* program = nullptr;
};

struct OpOptions {
  std::string name;                          // rms_norm
  std::vector<std::string> comment;          // lines at the head of NAME.py
  std::vector<std::string> general_comment;  // and of NAME_general.py
};

struct Emitted {
  std::map<std::string, std::string> files;
  std::vector<kernel::Pass> passes;
};

// Refuses, by the name of the rule, what the target cannot do yet.
Result<Emitted> emit(const std::vector<PassOptions>& passes, const OpOptions& options);

// The fast kernels alone, for a caller who makes every tensor dense before the call: their text, with neither comment
// nor imports, after the functions that they call. Each step has one entry, which names no file.
struct Dense {
  std::string text;
  std::vector<kernel::Pass> passes;
};
Result<Dense> emit_dense(const std::vector<PassOptions>& passes);

}  // namespace kw::act::triton
