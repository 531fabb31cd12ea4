// Every element by itself. Tensors of one shape go by as one line of elements; else a tile has rows and columns, so
// that nothing is divided element by element.
#include "act/emit/triton/launch.h"
#include "act/emit/triton/writer.h"

namespace kw::act::triton {

void Writer::straight(Lines& out) {
  for (const Stage& stage : kernel_.stages) {
    stage_once(stage, out);
    after(stage, out);
  }
}

void Writer::once() {
  Lines body;
  straight(body);
  Skeleton skeleton = Skeleton::load(kSkeletons, "once");
  skeleton.statements("body", body);
  finish_function(skeleton, kernel_.name, {{}, {"1"}, "1", {}});
}

void Writer::elements() {
  Lines body;
  column_axes_ = {parallel_.back()};
  if (parallel_.size() == 1) {
    mask_ = column_mask_ = "mask";
    straight(body);
    const std::string count = manifest_product(parallel_);
    Skeleton skeleton = Skeleton::load(kSkeletons, "elements");
    skeleton.name("i", names_.variable(parallel_[0])).expression("count", names_.size(parallel_[0]));
    skeleton.statements("body", body);
    finish_function(skeleton, kernel_.name,
                    {{{"BLOCK", kElements}}, {"ceil_div(" + count + ", " + kElements + ")"}, "4", {}});
    return;
  }
  row_axes_ = Axes(parallel_.begin(), parallel_.end() - 1);
  const std::string row = running(row_axes_, "point"), column = names_.variable(parallel_.back());
  row_mask_ = row + " < " + text_product(row_axes_);
  column_mask_ = column + " < " + names_.size(parallel_.back());
  mask_ = "mask";
  body.append(positions(row, row_axes_));
  straight(body);
  const std::string columns = manifest_product({parallel_.back()});
  Skeleton skeleton = Skeleton::load(kSkeletons, "element_tiles");
  skeleton.name("row", row)
      .name("column", column)
      .expression("rows", text_product(row_axes_))
      .expression("columns", names_.size(parallel_.back()))
      .expression("index", form_ == Form::Fast ? "tl.int32" : "tl.int64")  // a guard sees to it that 32 bits do
      .statements("body", body);
  const Tile tile = element_tile(columns);
  finish_function(
      skeleton, kernel_.name,
      {{{"ROWS", tile.rows}, {"BLOCK", tile.block}},
       {"ceil_div(" + manifest_product(row_axes_) + ", " + tile.rows + ")*ceil_div(" + columns + ", " + tile.block +
        ")"},
       tile.warps,
       {form_ == Form::Fast ? std::vector<std::string>{columns + " < 2147483648"} : std::vector<std::string>{}}});
}

}  // namespace kw::act::triton
