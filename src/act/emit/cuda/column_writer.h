// Kernels that reduce outer axes, where neighbouring lanes have neighbouring points and warps share what is reduced;
// and a thread per point, for what fits nowhere else.
#pragma once

#include "act/emit/cuda/writer.h"

namespace kw::act::cuda {

class ColumnWriter final : public Writer {
 public:
  using Writer::Writer;

 private:
  Lines kernel() override;
  Level level_of(const Axes& axes) const override;
  bool has_vectors() const override { return false; }

  bool by_warps() const { return plan_.shape == Shape::Columns; }
  Axes point_axes() const;
  bool is_total() const { return by_warps() && point_axes().empty(); }  // one column, which has a block for itself
  std::string workers() const;                                          // how many threads go from point to point
  void add_sum(const Accumulate& sum, const std::string& value, Lines& out);
  void add_elements(const Accumulate& sum, Lines& before, Lines& element, Lines& after);
  void stage(const Stage& stage, Lines& point);
  void count_work(const Stage& stage);  // and loads, of an element
  // The loop of a stage; `in_order`: every warp has neighbours.
  Lines loop(const Lines& body, bool in_order);
};

}  // namespace kw::act::cuda
