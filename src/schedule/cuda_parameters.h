// How a kernel is laid out on a GPU: the parameters of its schedule, and the formulas that they start from. They decide
// speed alone, never where something is rounded.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "schedule/cuda_machine.h"

namespace kw::schedule {

// What the formulas know of a kernel.
struct CudaKernelFacts {
  int64_t held = 1;         // tensors of which a thread holds elements
  int64_t narrow_held = 2;  // half registers that an element of two bytes of each takes
  int64_t loads = 1;        // of these tensors, those that are read
  int64_t truths = 0;       // of these, those of truth values
  int64_t busy = 0;         // registers that a stage takes beside what is held, about
  bool at_once = false;     // and takes them for many elements at once
  int64_t stages = 0;       // that go over a row
  bool in_parts = false;    // a warp goes over a part of a row by itself
  int64_t made = 0;         // tensors that are held, and results that a stage makes for later ones beside them
  int64_t beside = 0;       // tensors that are the same for every row
  int64_t column_sums = 0;  // sums over rows that ride along, one per column
  int64_t work = 0;         // instructions that an element takes, about
  int64_t scalar_sums = 0;  // sums over everything that ride along
};

struct CudaParameters {
  // Kernels without a reduction: threads of a block, and elements of each tensor that a thread has; or reads before it
  // uses any, where few blocks go over all elements for a sum.
  int64_t element_threads = 256;
  int64_t element_elements = 8;
  int64_t whole_elements = 32;
  int64_t narrow_elements = 16;  // likewise, where they are read one by one

  // Rows that registers hold: elements per thread, and threads of a block at most. Longer rows have wide_threads; those
  // of two bytes an element have long_threads before, with more elements each. Where a row is shorter than what a warp
  // holds, several share a block of lane_threads.
  int64_t row_elements = 32;
  int64_t row_threads = 128;
  int64_t row_blocks = 8;  // of row_threads that shall fit on a multiprocessor
  int64_t long_elements = 64;
  int64_t long_threads = 512;
  int64_t long_keeps = 0;  // 1: they keep results of a stage for the next one
  int64_t wide_elements = 32;
  int64_t narrow_wide_elements = 32;  // of two bytes
  int64_t wide_threads = 1024;
  int64_t lane_threads = 128;

  // Rows that are read again in every stage: elements that a thread reads before it uses any; threads of a block that
  // has a multiprocessor for itself, of which two share it otherwise.
  int64_t stream_elements = 32;
  int64_t narrow_part_elements = 32;  // likewise of two bytes, where the parts of a row are read one by one
  int64_t stream_threads = 1024;

  // Whether there are kernels that hold rows which begin anywhere, as other rows are, and such for parts of half
  // vectors (1), or others serve these (0), and tensors of several widths whose rows begin anywhere go element by
  // element. They take most of the time that a pass needs to compile.
  int64_t rare_kernels = 1;

  // Rows with sums that ride along: elements per thread where the sums are in registers; bytes of each tensor per
  // thread where they are in shared memory; threads of a block at most, and of all blocks of a multiprocessor.
  int64_t sum_elements = 16;
  int64_t narrow_sum_elements = 16;  // of two bytes, with sums in shared memory and more threads
  int64_t narrow_threads = 768;
  int64_t narrow_from = 4096;  // shorter rows are better off with sums in registers
  int64_t shared_sum_elements = 32;
  int64_t shared_sum_bytes = 128;
  int64_t sum_threads = 512;
  int64_t worker_threads = 512;

  // Kernels over columns: warps that share the reduced axis, each with at least so many of its elements.
  int64_t column_warps = 16;
  int64_t column_elements = 8;

  // Shared memory that a block may ask for.
  int64_t shared_bytes = 232448;

  // 1: of all these, fewer elements and threads than the formula gives, for a pass whose kernels spill without.
  int64_t lean = 0;

  bool operator==(const CudaParameters&) const = default;
};

CudaParameters start_parameters(const CudaMachine& machine, const CudaKernelFacts& facts);

// The parameters that a row of schedules.yaml or a move names ("row_elements" → "16"), and the others as they were, or
// smaller, where it asks for lean ones.
Result<CudaParameters> with_moves(CudaParameters parameters, const std::map<std::string, std::string>& moves);
std::map<std::string, std::string> to_moves(const CudaParameters& parameters);

}  // namespace kw::schedule
