// The kernels that callers launch: for each kernel of the loop form one for every way of sharing it among threads, all
// around the same template, the fastest first and one for any strides last. What is written here as CUDA is what the
// manifest says of it.
#pragma once

#include "act/emit/cuda/kernel_writer.h"
#include "kernel/manifest.h"
#include "schedule/cuda_parameters.h"

namespace kw::act::cuda {

struct EntryText {
  Lines lines;
  std::vector<kernel::Entry> entries;  // fastest first; `file` is the caller's to set
};

// `workers` is how many slices a sum that rides along has, as an expression of the manifest.
EntryText write_entries(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types,
                        const schedule::CudaParameters& parameters, const std::string& workers);

// The number of slices that the kernel's schedule wants.
std::string workers_of(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text,
                       const schedule::CudaParameters& parameters);

}  // namespace kw::act::cuda
