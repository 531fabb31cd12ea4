// Kernels by hand in files, and their judgement: "// op: OP" names the math (tests/gates/ops/OP.kw), "// gate: GATE"
// the gate that must catch the kernel ("GATE or GATE"), "// types: all" tries every mixture of types.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "verify/judge.h"

namespace kw::verify {

struct KernelFile {
  std::string name, op, source;
  std::string extension = ".cpp";
  std::vector<std::string> gates;  // any of which may be the one that catches it
  bool all_types = false;
  std::string in_place;  // the input that the profile gives to an output
};

// Of a folder of tests/, by name.
std::vector<KernelFile> kernels_in(const std::string& folder);

Result<Subject> subject_for(const KernelFile& file);

// Is PyTorch who must catch it? Only a Python that has torch can.
bool asks_pytorch(const KernelFile& file);

// What its gate needs, wherever it runs.
JudgeOptions options_for(const KernelFile& file);

void PrintTo(const KernelFile& file, std::ostream* out);

// Whether a gate that should catch it says no.
bool is_caught(const KernelFile& file, const Report& report);

}  // namespace kw::verify
