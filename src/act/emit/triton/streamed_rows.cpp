// Rows that go by in tiles: ones that are too long for a program, of several axes, or in any layout. One program has
// one row at a time; axes outside the innermost are loops.
#include <algorithm>

#include "act/emit/triton/launch.h"
#include "act/emit/triton/writer.h"
#include "act/loop/index.h"

namespace kw::act::triton {

std::vector<Writer::Total> Writer::open_totals(const Stage& stage, const std::string& shape, Lines& out) {
  std::vector<Total> totals;
  for (ValueId r : stage.reductions) {
    const std::string total = names_.fresh(names_.value(r) + "_tile");
    out.line(total + " = tl.full([" + shape + "], " + reduction(r).neutral +
             ", dtype=" + expressions_.compute_type(kernel_[r].type) + ")");
    totals.push_back({r, total});
  }
  return totals;
}

void Writer::add_to_totals(const std::vector<Total>& totals, Lines& out) {
  for (const Total& total : totals)
    out.line(total.variable + " = " + combined(total.value, total.variable, masked(total.value)));
}

// The loops of one stage over a row.
void Writer::stream(const Stage& stage, const std::vector<Sum>& sums, Lines& out) {
  hoist(roots_of(stage), out);
  const std::map<ValueId, Text> outside = expressions_.environment;
  const std::vector<Total> totals = open_totals(stage, "BLOCK", out);
  const Axes around(loop_.begin(), loop_.end() - 1);
  const std::string column = names_.variable(loop_.back()), length = names_.size(loop_.back());
  // Sums in memory whose place does not run along the innermost axis are first added up along it.
  struct Partial {
    const Accumulate* sum;
    std::string variable;
    bool per_row;  // its place runs along an outer loop
  };
  std::vector<Partial> partials;
  std::vector<const Accumulate*> lanes;
  for (const Sum& sum : sums) {
    if (sum.kind != Sum::Kind::Memory) continue;
    const bool here = std::any_of(stage.accumulates.begin(), stage.accumulates.end(),
                                  [&](const Accumulate& a) { return &a == sum.accumulate; });
    if (!here) continue;
    const Axes axes = axes_of_access(sum.accumulate->at);
    if (has(axes, loop_.back())) {
      lanes.push_back(sum.accumulate);
      continue;
    }
    const std::string& name = buffer(sum.accumulate->buffer).name;
    partials.push_back(
        {sum.accumulate, names_.fresh(name.substr(0, name.rfind("_slices")) + "_tile"), meet(axes, around)});
  }
  auto open_partials = [&](bool per_row, Lines& to) {
    for (const Partial& p : partials)
      if (p.per_row == per_row)
        to.line(p.variable + " = tl.zeros([BLOCK], dtype=" + expressions_.compute_type(buffer(p.sum->buffer).type) +
                ")");
  };
  auto close_partials = [&](bool per_row, Lines& to) {
    bool any = false;
    for (const Partial& p : partials)
      if (p.per_row == per_row) {
        add_in_memory(*p.sum, "tl.sum(" + p.variable + ", axis=0)", "", to);
        any = true;
      }
    if (any) to.line("tl.debug_barrier()");
  };

  open_partials(false, out);
  Lines inner;  // of the outer loops
  open_partials(true, inner);
  inner.line("for start in range(0, " + length + ", BLOCK):");
  Lines body;
  const std::string wide = form_ == Form::General ? ".to(tl.int64)" : "";
  body.line(column + " = " + (wide.empty() ? "start + tl.arange(0, BLOCK)" : "(start + tl.arange(0, BLOCK))" + wide));
  body.line("mask = " + column + " < " + length);
  std::set<ValueId> stored;
  for (const Store& s : stage.stores) stored.insert(s.value);
  define(roots_of(stage), body, stored);
  add_to_totals(totals, body);
  add_to_sums(sums, stage, body);
  for (const Partial& p : partials) {
    const std::string term = expressions_.as_float(p.sum->value);
    body.line(p.variable + " += " + (vanishes(p.sum->value) ? term : "tl.where(mask, " + term + ", 0.0)"));
  }
  for (const Accumulate* sum : lanes) add_in_memory(*sum, expressions_.as_float(sum->value), "mask", body);
  if (!lanes.empty()) body.line("tl.debug_barrier()");
  for (const Store& s : stage.stores) store(s, body);
  for (const std::string& line : body.all()) inner.line("    " + line);
  close_partials(true, inner);
  std::string pad;
  for (LoopAxisId axis : around) {
    out.line(pad + "for " + names_.variable(axis) + " in range(" + names_.size(axis) + "):");
    pad += "    ";
  }
  for (const std::string& line : inner.all()) out.line(pad + line);
  expressions_.environment = outside;
  close_partials(false, out);
  for (const Total& total : totals) finish(total.value, reduce(total.value, total.variable, 0, false), out);
}

void Writer::streamed_rows() {
  streamed_ = true;
  column_axes_ = {loop_.back()};
  mask_ = column_mask_ = "mask";
  const std::string point = running(parallel_, "point");
  Lines setup, ends, body = positions(point, parallel_);
  std::vector<Sum> sums = sums_of(false);
  open_sums(sums, "", setup);
  for (const Stage& stage : kernel_.stages) {
    if (stage.loop.empty()) {
      stage_once(stage, body);
      add_once(sums, stage, body);
    } else {
      stream(stage, sums, body);
    }
    after(stage, body);
  }
  close_sums(sums, ends);
  const std::string points = manifest_product(parallel_);
  const Tile tile = streamed_tile(manifest_product({loop_.back()}));
  if (!accumulates_) {
    Skeleton skeleton = Skeleton::load(kSkeletons, "row");
    skeleton.name("point", point).statements("body", body);
    finish_function(skeleton, kernel_.name, {{{"BLOCK", tile.block}}, {points}, tile.warps, {}});
    return;
  }
  out_.workers = streamed_workers(points);
  Skeleton skeleton = Skeleton::load(kSkeletons, "row_with_sums");
  skeleton.name("point", point).expression("points", text_product(parallel_));
  skeleton.statements("setup", setup).statements("body", body).statements("ends", ends);
  finish_function(skeleton, kernel_.name, {{{"BLOCK", tile.block}}, {"workers"}, tile.warps, {}});
}

}  // namespace kw::act::triton
