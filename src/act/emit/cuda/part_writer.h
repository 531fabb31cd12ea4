// Rows in parts, each of which lies in one piece of memory: warps take tiles of parts, and a block goes from row to
// row. What a part's tiles have in common, such as the weight of a channel, is found once for each of them. Sums over a
// part are summed up by the warps that had tiles of it.
#pragma once

#include "act/emit/cuda/row_writer.h"

namespace kw::act::cuda {

class PartWriter final : public RowWriter {
 public:
  using RowWriter::RowWriter;

 private:
  Lines frame(const Lines& point) override;
  Lines stage_loop(const StageText& stage, size_t number) override;
  std::string is_one_thread() const override { return "kw::thread() == 0"; }
  std::string keeps() const override { return "false"; }
  bool goes_on_without_barrier() const override { return !plan_.has_segments; }
  void combine(const Combination& one, StageText& text) override;
  void reduce(const std::vector<std::string>& parts, Lines& out) const override { add_call(by_block(), parts, out); }
  void sums_of_row(const Accumulate& sum, StageText& text) override;
  Lines* lines_of_vectors(Body&) override { return &parts_of_stage_[stage_].place; }
  std::string vector_address(BufferId id, const std::vector<Index>& at) override;

  // ---- tiles ----
  Lines place(const StageText& stage, size_t number, const Lines& fetch);  // what is known of a part
  Lines fetch(size_t number) const;
  Lines begins(const std::vector<const Lines*>& users) const;  // of parts in memory, those that are used
  // Whether tiles of the next row come to shared memory as soon as this one has no use for what was there.
  bool prefetches() const;
  Lines ahead();

  Lines segment_totals(const Accumulate& sum, const std::string& sums, const std::string& to);

  struct PartText {
    Lines place;     // values that a part has in common
    Lines segments;  // what becomes of the sums over parts
  };
  std::map<size_t, PartText> parts_of_stage_;
  std::map<std::string, std::string> begins_;  // names, by what they are
  std::vector<std::string> segment_types_;  // of the sums over parts, in the order in which they lie in shared memory
};

}  // namespace kw::act::cuda
