// Rows that a program holds whole: everything about them is read once. Short rows share a program.
#include <algorithm>

#include "act/emit/access.h"
#include "act/emit/triton/launch.h"
#include "act/emit/triton/writer.h"

namespace kw::act::triton {

bool Writer::is_resident() const {
  if (form_ == Form::General || loop_.size() != 1) return false;
  // Two rows of a tile may not add to one place in memory.
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates)
      if (meet(axes_of_access(sum.at), parallel_)) return false;
  return true;
}

void Writer::rows() {
  if (!is_resident()) {
    streamed_rows();
    return;
  }
  row_axes_ = parallel_;
  column_axes_ = loop_;
  const std::string row = running(parallel_, "point"), column = names_.variable(loop_[0]);
  const std::string count = text_product(parallel_), length = names_.size(loop_[0]);
  row_mask_ = row + " < " + count;
  column_mask_ = column + " < " + length;
  mask_ = "mask";
  expressions_.along_columns = [this](ValueId v) { return meet(kernel_[v].axes, column_axes_); };
  Lines setup, body, ends;
  std::vector<Sum> sums = sums_of(true);
  open_sums(sums, "ROWS, ", setup);
  body.append(positions(row, parallel_));
  for (const Stage& stage : kernel_.stages) {
    std::set<ValueId> stored;
    for (const Store& s : stage.stores) stored.insert(s.value);
    define(roots_of(stage), body, stored);
    for (ValueId r : stage.reductions) finish(r, reduce(r, masked(r), 1, true), body);
    add_to_sums(sums, stage, body);
    for (const Store& s : stage.stores) store(s, body);
    after(stage, body);
  }
  close_sums(sums, ends);
  const std::string n = manifest_product(loop_), points = manifest_product(parallel_);
  const std::vector<std::string> fits = {n + " <= " + std::to_string(kLongestRow)};
  if (!accumulates_) {
    const Tile tile = row_tile(n, 0);
    Skeleton skeleton = Skeleton::load(kSkeletons, "rows");
    skeleton.name("row", row).name("column", column).expression("count", count).expression("length", length);
    skeleton.statements("body", body);
    finish_function(skeleton, kernel_.name,
                    {{{"ROWS", tile.rows}, {"BLOCK", tile.block}},
                     {"ceil_div(" + points + ", " + tile.rows + ")"},
                     tile.warps,
                     fits});
    return;
  }
  // What a pipeline would have to hold of the next rows.
  std::set<BufferId> loaded;
  for (const Access& access : accesses_of(kernel_))
    if (meet(axes_of_access(*access.at), loop_) && !access.slice) loaded.insert(access.buffer);
  const Tile tile = row_tile(n, static_cast<int>(loaded.size()));
  out_.workers = row_workers(points, tile);
  Skeleton skeleton = Skeleton::load(kSkeletons, "rows_with_sums");
  skeleton.name("row", row).name("column", column).expression("count", count).expression("length", length);
  skeleton.statements("setup", setup).statements("body", body).statements("ends", ends);
  finish_function(skeleton, kernel_.name,
                  {{{"ROWS", tile.rows}, {"BLOCK", tile.block}, {"STAGES", tile.stages}},
                   {"workers"},
                   tile.warps,
                   fits});
}

}  // namespace kw::act::triton
