// The functions that callers see: for each kernel one for the common layout and one for any strides, both around the
// same template. What is written here as C++ is what the manifest says of it.
#pragma once

#include "act/emit/cpu/kernel_writer.h"
#include "kernel/manifest.h"

namespace kw::act::cpu {

struct EntryText {
  Lines lines;
  std::vector<kernel::Entry> entries;  // fastest first; `file` is the caller's to set
};

EntryText write_entries(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types);

}  // namespace kw::act::cpu
