// Everything is reduced to single values: chunks of the elements, then a second kernel over what these found. Several
// reductions that depend on each other run in one program, as each needs the whole of the one before.
#include <algorithm>

#include "act/emit/triton/launch.h"
#include "act/emit/triton/writer.h"

namespace kw::act::triton {

// Kernels of a pass share its buffers, so that each has names of its own.
std::string Writer::parts_name(ValueId value) {
  const auto same = [this](const LoopKernel& kernel) { return kernel.name == kernel_.name; };
  const auto place = std::find_if(program_.kernels.begin(), program_.kernels.end(), same) - program_.kernels.begin();
  return names_.fresh(names_.value(value) + "_parts" + (place == 0 ? "" : "_" + std::to_string(place + 1)));
}

void Writer::whole() {
  const Stage* stage = nullptr;
  int loops = 0;
  for (const Stage& s : kernel_.stages)
    if (!s.loop.empty()) {
      stage = &s;
      ++loops;
    }
  if (accumulates_) expressions_.refuse("sum-beside-a-whole");
  const bool over_workers =
      loop_.size() == 1 && program_.workers && axis_of(loop_[0]).size == ir::Size::symbol(*program_.workers);
  if (loops != 1 || over_workers) {
    whole_alone();
    return;
  }
  streamed_ = true;
  column_axes_ = loop_;
  mask_ = column_mask_ = "mask";
  first_of_two_ = true;
  const std::string i = running(loop_, "element");
  Lines setup, body, parts, last;
  hoist(roots_of(*stage), setup);
  const std::vector<Total> totals = open_totals(*stage, "BLOCK", setup);
  body.append(positions(i, loop_));
  std::set<ValueId> stored;
  for (const Store& s : stage->stores) stored.insert(s.value);
  define(roots_of(*stage), body, stored);
  add_to_totals(totals, body);
  for (const Store& s : stage->stores) store(s, body);
  const std::string count = manifest_product(loop_), chunks = whole_chunks(count);
  std::vector<std::string> part_names;
  for (const Total& total : totals) {
    const std::string name = parts_name(total.value);
    parts.line("tl.store(" + name + " + chunk, " + reduce(total.value, total.variable, 0, false) + ")");
    part_names.push_back(name);
    out_.workspace.push_back({name, kernel::Role::Workspace, part_type(total.value), {chunks}});
  }
  Skeleton first = Skeleton::load(kSkeletons, "whole");
  first.name("i", i).expression("count", parenthesised(text_product(loop_)));
  first.statements("setup", setup).statements("body", body).statements("parts", parts);
  finish_function(first, kernel_.name, {{{"BLOCK", kWholeTile}}, {chunks}, "8", {}}, part_names, {},
                  {{"chunks", chunks}});

  first_of_two_ = false;
  used_.clear();
  strides_.clear();
  written_.clear();
  expressions_.environment.clear();
  for (size_t t = 0; t < totals.size(); ++t) {
    const ValueId value = totals[t].value;
    const std::string neutral = reduction(value).neutral;
    finish(
        value,
        reduce(value, "tl.load(" + part_names[t] + " + chunk, mask=chunk < chunks, other=" + neutral + ")", 0, false),
        last);
  }
  for (const Stage& s : kernel_.stages) after(s, last);
  out_.lines.line("");
  out_.lines.line("");
  Skeleton finish = Skeleton::load(kSkeletons, "whole_finish");
  finish.statements("body", last);
  finish_function(finish, kernel_.name + "_finish", {{{"CHUNKS", "next_pow2(" + chunks + ")"}}, {"1"}, "4", {}}, {},
                  part_names, {{"chunks", chunks}});
}

void Writer::whole_alone() {
  streamed_ = true;
  column_axes_ = {loop_.back()};
  mask_ = column_mask_ = "mask";
  Lines body;
  for (const Stage& stage : kernel_.stages) {
    if (stage.loop.empty())
      stage_once(stage, body);
    else
      stream(stage, {}, body);
    after(stage, body);
  }
  const Tile tile = streamed_tile(manifest_product({loop_.back()}));
  Skeleton skeleton = Skeleton::load(kSkeletons, "once");
  skeleton.statements("body", body);
  finish_function(skeleton, kernel_.name, {{{"BLOCK", tile.block}}, {"1"}, tile.warps, {}});
}

}  // namespace kw::act::triton
