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

// How many slices a sum that rides along has, as expressions of the manifest.
struct Workers {
  std::string most = "1";  // for every type and every way of sharing: memory has room for these
  // Where each entry has as many blocks as run at once of it, and each block a slice: of a multiprocessor at most.
  // Empty: there are `most`, always.
  std::string blocks = {};
};

// `workers` are the slices that a kernel writes, or reads.
EntryText write_entries(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types,
                        const schedule::CudaParameters& parameters, const Workers& workers);

// The slices that the kernel's schedule wants.
Workers workers_of(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text,
                   const schedule::CudaParameters& parameters);

}  // namespace kw::act::cuda
