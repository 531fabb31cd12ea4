// Rows whose elements lie in memory as the kernel goes over them: the threads of a block, or some lanes of a warp,
// share a row, every one of them vectors of it. Where sums ride along, a block goes from row to row, and the next rows
// are read while one is worked on (row_prefetch.cpp).
#pragma once

#include "act/emit/cuda/row_writer.h"

namespace kw::act::cuda {

class WholeRowWriter final : public RowWriter {
 public:
  WholeRowWriter(const LoopProgram& program, const LoopKernel& kernel, const KernelPlan& plan, CppTypes& types);

 private:
  Lines frame(const Lines& point) override;
  Lines stage_loop(const StageText& stage, size_t number) override;
  std::string is_one_thread() const override { return "inside && lane == 0"; }
  std::string keeps() const override;
  bool goes_on_without_barrier() const override { return plan_.accumulates; }
  void combine(const Combination& one, StageText& text) override;
  void reduce(const std::vector<std::string>& parts, Lines& out) const override;
  void sums_of_row(const Accumulate& sum, StageText& text) override;
  std::string beside(BufferId id, const std::vector<Index>& at) override;

  bool is_scarce() const;
  std::string full() const;  // as a condition of C++
  Lines fetch(size_t number, const Lines& position) const;
  std::string room_before(const std::string& type);
  std::string bytes_of_sums() const;
  std::string sums_room() const;
  Lines sum_tiles() const;  // bytes of the sums, where they are in shared memory

  // ---- what is read ahead (row_prefetch.cpp) ----
  // Vectors that are the same for every row, in the place of a block's threads: where a block goes from row to row,
  // they are read once where it has the registers, or where rows are ragged and shared memory has the sums: there they
  // are put together from two, and are kept beside the sums.
  struct Resident {
    BufferId buffer;
    std::string name, load;
  };
  bool stays(const std::vector<Index>& at) const;
  Lines residents(SharedRoom room);
  // Whether the next rows are read while this one is worked on: where a block goes from row to row. They land in shared
  // memory in turn, every thread's part in its own place, behind the sums that are there.
  bool prefetches() const { return plan_.accumulates && !held_.empty(); }
  Lines ahead();    // before the first row
  Lines advance();  // in every row
  Lines with_position(const Lines& text) const;
  Lines held_positions(const std::vector<const Lines*>& users);

  std::vector<Resident> residents_;
  std::vector<std::string> sum_types_;  // of the sums over rows so far
};

}  // namespace kw::act::cuda
