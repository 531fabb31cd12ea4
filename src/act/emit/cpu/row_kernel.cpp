#include "act/emit/cpu/row_kernel.h"

#include <algorithm>

#include "act/emit/skeleton.h"
#include "base/text.h"

namespace kw::act::cpu {
namespace {

class RowKernel : public KernelBase {
 public:
  using KernelBase::KernelBase;

 private:
  std::string suffix() const override { return "_rows"; }
  void write() override { rows(); }
  void rows();
  void row_stage(size_t s, bool first, bool last, Lines& out);
  // Elements that are dear to compute and wanted again by a later stage.
  std::vector<Kept> kept_by(size_t s, Lines& out);
  int cost(ValueId value, std::set<ValueId>& seen) const;
  Expression kept_element(const Kept& keep) const;
  Lines line_loop(const InnerLoop& inner, bool tiled) const;
};

void RowKernel::rows() {
  Lines point;
  scopes_.open_rows(Level::Point, &point_rows_);
  const auto loops = std::count_if(kernel_.stages.begin(), kernel_.stages.end(),
                                   [](const Stage& stage) { return !stage.loop.empty(); });
  int64_t done = 0;
  for (size_t s = 0; s < kernel_.stages.size(); ++s) {
    const Stage& stage = kernel_.stages[s];
    if (!stage.loop.empty()) {
      ++done;
      row_stage(s, done == 1, done == loops && loops > 1, point);
    }
    after(stage, point);
  }
  Lines body;
  body.append(point_rows_);
  body.append(point);
  frame(body, kRowFile, "row", "sliced_row", {});
}

int RowKernel::cost(ValueId value, std::set<ValueId>& seen) const {
  constexpr int kFunction = 15, kRounding = 6, kLoad = 2, kOther = 1;
  if (scopes_.level(value) != Level::Inner || scopes_.expressions.environment.contains(value)) return 0;
  if (!seen.insert(value).second) return 0;
  int sum = 0;
  for (ValueId operand : operands_of(kernel_[value])) sum += cost(operand, seen);
  if (std::holds_alternative<Load>(kernel_[value].what)) return sum + kLoad;
  const Map* map = std::get_if<Map>(&kernel_[value].what);
  if (!map) return sum;
  const Spelling& spelling = spelling_of(map->op);
  const bool rounds = !spelling.exact && kernel_[value].type.floating() && types_.rounds(kernel_[value].type);
  return sum + (rounds ? kRounding : 0) + (spelling.form == Spelling::Form::Call ? kFunction : kOther);
}

std::vector<Kept> RowKernel::kept_by(size_t s, Lines& out) {
  // What several axes run over leaves the first-level cache, and comes back at a cost of its own.
  const int dear = nest_.loop.empty() ? 15 : 30;
  std::vector<Kept> kept;
  std::set<ValueId> here, later;
  auto collect = [&](auto&& self, ValueId v, std::set<ValueId>& into) -> void {
    if (std::holds_alternative<Reduced>(kernel_[v].what) || scopes_.expressions.environment.contains(v)) return;
    if (!into.insert(v).second) return;
    for (ValueId operand : operands_of(kernel_[v])) self(self, operand, into);
  };
  for (ValueId root : roots_of(kernel_.stages[s], kernel_)) collect(collect, root, here);
  // From the results of later stages down to the first element that this stage has too.
  auto visit = [&](auto&& self, ValueId v) -> void {
    if (std::holds_alternative<Reduced>(kernel_[v].what) || !later.insert(v).second) return;
    std::set<ValueId> seen;
    if (here.contains(v) && kernel_[v].type.floating() && cost(v, seen) >= dear) {
      kept.push_back({v, names_.fresh(names_.value(v) + "_kept")});
      return;
    }
    for (ValueId operand : operands_of(kernel_[v])) self(self, operand);
  };
  for (size_t t = s + 1; t < kernel_.stages.size(); ++t)
    for (ValueId root : roots_of(kernel_.stages[t], kernel_)) visit(visit, root);
  for (const Kept& keep : kept)
    out.line("kw::RowBuffer<" + types_.computed(kernel_[keep.value].type) + "> " + keep.array + "(" +
             names_.product(inner_.reduced_axes()) + ");");
  return kept;
}

Expression RowKernel::kept_element(const Kept& keep) const {
  const std::string type = types_.computed(kernel_[keep.value].type);
  const std::string element = inner_.element(keep);
  return {"kw::to<" + type + ">(" + element + ")", Binding::Primary, type, element, type};
}

void RowKernel::row_stage(size_t s, bool first, bool last, Lines& out) {
  const Stage& stage = kernel_.stages[s];
  const std::vector<Kept> kept = kept_by(s, out);
  const std::vector<Accumulator> sums = inner_.accumulators(stage);
  const std::vector<Ordered> combined = inner_.ordered(stage);
  for (const Ordered& one : combined) out.line("kw::InOrder<" + one.combination.tuple + "> " + one.total + ";");
  for (const Accumulator& sum : sums)
    out.line(sum.partial() ? "double " + sum.total + " = " + sum.start + ";"
                           : sum.type + " " + sum.name + " = " + sum.start + ";");
  Lines row;
  const Expressions::Environment outside = scopes_.expressions.environment;
  scopes_.open_rows(Level::Row, nest_.loop.empty() ? nullptr : &row);
  scopes_.hoist(roots_of(stage, kernel_), out, nest_.loop.empty() ? nullptr : &row);
  const Expressions::Environment hoisted = scopes_.expressions.environment;
  InnerLoop in = inner_.write(stage, sums, combined, {}, stage.stores, kept);
  for (const Accumulator& sum : sums)
    if (sum.partial()) in.after.line(sum.add_partial());
  for (const Ordered& one : combined)
    in.after.line(one.total + ".add(kw::tile_combine(" + one.terms + ", end - tile));");
  const bool tiled = !in.before.empty() || !in.after.empty();
  // Where one row is gone over again and again, the last time: by then its pages are known, and those ahead are not.
  if (tiled && (nest_.loop.empty() ? last : first)) look_ahead(in);
  out.append(in.declared);
  for (LoopAxisId axis : nest_.loop) out.open(loop_header(axis) + " {");
  out.append(row);
  out.append(line_loop(in, tiled));
  for (size_t i = 0; i < nest_.loop.size(); ++i) out.close();
  out.append(in.added);
  scopes_.open_rows(Level::Row, nullptr);
  leave(outside, hoisted);
  for (const Kept& keep : kept) scopes_.expressions.environment[keep.value] = kept_element(keep);
  finish(sums, out);
  finish(combined, out, ".total()");
}

Lines RowKernel::line_loop(const InnerLoop& inner, bool tiled) const {
  if (!tiled) return inner_.loop(inner, "0", names_.size(nest_.inner));
  return Skeleton::load(kRowFile, "tiles")
      .expression("size", names_.size(nest_.inner))
      .statements("before", inner.before)
      .statements("loop", inner_.loop(inner, "tile", "end"))
      .statements("after", inner.after)
      .fill();
}

}  // namespace

std::unique_ptr<KernelBase> row_kernel(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest,
                                       CppTypes& types) {
  return std::make_unique<RowKernel>(program, kernel, nest, types);
}

}  // namespace kw::act::cpu
