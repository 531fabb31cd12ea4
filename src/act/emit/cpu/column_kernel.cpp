#include "act/emit/cpu/column_kernel.h"

#include <algorithm>

#include "act/emit/skeleton.h"
#include "base/text.h"

namespace kw::act::cpu {
namespace {

class ColumnKernel : public KernelBase {
 public:
  using KernelBase::KernelBase;

 private:
  std::string suffix() const override { return nest_.loop.empty() ? "_elements" : "_columns"; }
  void write() override { columns(); }
  void columns();
  Lines within(const InnerLoop& inner) const;
  std::vector<Accumulator> column_stage(const Stage& stage, const std::vector<Ordered>& combined, Lines& out);
  static void declare_array(const std::string& type, const std::string& name, const std::string& start, Lines& out);
  // What later stages need of a stage's results, per point of the tile.
  std::vector<ValueId> kept_after(size_t stage) const;
  void column_after(size_t s, const std::vector<Accumulator>& sums, const std::vector<Ordered>& combined, Lines& out);
  void finish_in_tile(const Accumulator& sum, Lines& body);

  std::set<ValueId> kept_;
};

void ColumnKernel::columns() {
  Lines point;
  scopes_.open_rows(Level::Point, &point_rows_);
  for (size_t s = 0; s < kernel_.stages.size(); ++s) {
    const Stage& stage = kernel_.stages[s];
    std::vector<Accumulator> sums;
    std::vector<Ordered> combined;
    if (!stage.loop.empty()) {
      combined = inner_.ordered(stage);
      sums = column_stage(stage, combined, point);
    }
    column_after(s, sums, combined, point);
  }
  Lines body;
  body.append(point_rows_);
  body.append(point);
  frame(body, kColumnFile, "column", "sliced_column",
        {"for (int64_t tile = 0; tile < " + names_.size(nest_.inner) + "; tile += kTile)"});
}

Lines ColumnKernel::within(const InnerLoop& inner) const {
  Lines out;
  out.append(inner.before);
  out.append(inner_.loop(inner, "tile", "end"));
  out.append(inner.after);
  return out;
}

std::vector<Accumulator> ColumnKernel::column_stage(const Stage& stage, const std::vector<Ordered>& combined,
                                                    Lines& out) {
  for (const Ordered& one : combined) out.line("kw::InOrder<" + one.combination.tuple + ", kTile> " + one.total + ";");
  std::vector<Accumulator> sums = inner_.accumulators(stage);
  InnerLoop run;
  for (const Accumulator& sum : sums) {
    const std::string type = sum.partial() ? "double" : sum.type, name = sum.partial() ? sum.total : sum.name;
    declare_array(type, name, sum.start, out);
    if (!sum.partial()) continue;
    declare_array(sum.type, sum.name, sum.start, run.before);
    run.after.line(sum.add_partial(inner_.in_tile()));
  }
  Lines row;
  const Expressions::Environment outside = scopes_.expressions.environment;
  scopes_.open_rows(Level::Row, &row);
  scopes_.hoist(roots_of(stage, kernel_), out, &row);
  const Expressions::Environment hoisted = scopes_.expressions.environment;
  // What earlier stages have left is in arrays, which are read element by element; and of sums alone a compiler makes
  // the better loop.
  const bool may_go_by_lanes = kept_.empty() && !stage.stores.empty();
  InnerLoop in = inner_.write(stage, sums, combined, inner_.in_tile(), stage.stores, {}, may_go_by_lanes);
  for (const Ordered& one : combined) in.after.line(one.total + ".add(" + one.terms + ", end - tile);");
  Lines body;
  body.append(row);
  body.append(within(in));
  out.append(in.declared);
  if (!run.after.empty()) {
    InnerLoop add;
    add.body = run.after;
    const std::string number = nest_.loop.size() == 1 ? names_.variable(nest_.loop[0]) : "point";
    out.append(Skeleton::load(kColumnFile, "runs")
                   .expression("points", names_.product(nest_.loop))
                   .name("point", number)
                   .statements("before", run.before)
                   .statements("position", positions(number, nest_.loop))
                   .statements("body", body)
                   .statements("after", within(add))
                   .fill());
  } else {
    for (LoopAxisId axis : nest_.loop) out.open(loop_header(axis) + " {");
    out.append(body);
    for (size_t i = 0; i < nest_.loop.size(); ++i) out.close();
  }
  out.append(in.added);
  scopes_.open_rows(Level::Row, nullptr);
  leave(outside, hoisted);
  return sums;
}

void ColumnKernel::declare_array(const std::string& type, const std::string& name, const std::string& start,
                                 Lines& out) {
  if (start == "0" || start == "false") {
    out.line(InnerLoopWriter::array(type, name) + " = {};");
    return;
  }
  out.line(InnerLoopWriter::array(type, name) + ";");
  out.line("kw::fill(" + name + ", kTile, " + start + ");");
}

std::vector<ValueId> ColumnKernel::kept_after(size_t stage) const {
  std::set<ValueId> known;  // reductions that are over by then
  for (size_t s = 0; s <= stage; ++s)
    known.insert(kernel_.stages[s].reductions.begin(), kernel_.stages[s].reductions.end());
  auto computable = [&](auto&& self, ValueId v) -> bool {
    if (std::holds_alternative<Reduced>(kernel_[v].what)) return known.contains(v);
    const std::vector<ValueId> operands = operands_of(kernel_[v]);
    return std::all_of(operands.begin(), operands.end(), [&](ValueId o) { return self(self, o); });
  };
  auto keepable = [&](ValueId v) {
    return scopes_.depends_on_reduction(v) && computable(computable, v) &&
           std::none_of(kernel_[v].axes.begin(), kernel_[v].axes.end(),
                        [&](LoopAxisId a) { return has(nest_.loop, a); });
  };
  std::set<ValueId> found, seen;
  auto visit = [&](auto&& self, ValueId v) -> void {
    if (keepable(v)) {
      found.insert(v);
      return;
    }
    if (!seen.insert(v).second) return;
    for (ValueId operand : operands_of(kernel_[v])) self(self, operand);
  };
  for (size_t s = stage + 1; s < kernel_.stages.size(); ++s) {
    const Stage& later = kernel_.stages[s];
    for (ValueId root : roots_of(later, kernel_)) visit(visit, root);
    for (const Store& store : later.after_stores) visit(visit, store.value);
  }
  return {found.begin(), found.end()};
}

void ColumnKernel::column_after(size_t s, const std::vector<Accumulator>& sums, const std::vector<Ordered>& combined,
                                Lines& out) {
  const Stage& stage = kernel_.stages[s];
  std::vector<ValueId> kept;
  for (ValueId v : kept_after(s))
    if (!kept_.contains(v)) kept.push_back(v);
  InnerLoop in;
  const Expressions::Environment outside = scopes_.expressions.environment;
  for (const Accumulator& sum : sums) {
    if (!sum.partial()) {
      scopes_.expressions.environment[sum.value] = {sum.name + inner_.in_tile(), Binding::Primary, sum.type};
      kept_.insert(sum.value);
      std::erase(kept, sum.value);
    }
  }
  if (kept.empty() && stage.after_stores.empty()) return;
  for (const Accumulator& sum : sums)
    if (sum.partial()) finish_in_tile(sum, in.body);
  finish(combined, in.body, ".total(" + names_.variable(nest_.inner) + " - tile)");
  const Expressions::Environment finished = scopes_.expressions.environment;
  std::vector<ValueId> roots = kept;
  for (const Store& store : stage.after_stores) roots.push_back(store.value);
  scopes_.hoist(roots, out, nullptr);
  const Expressions::Environment hoisted = scopes_.expressions.environment;
  Stage only_stores;
  InnerLoop stores;
  std::vector<std::pair<ValueId, std::string>> arrays;
  for (ValueId v : kept) {
    scopes_.define({v}, in.body);
    const std::string type = kernel_[v].type.boolean() ? "bool" : types_.computed(kernel_[v].type);
    const std::string name = names_.fresh(names_.value(v) + "_of");
    out.line(InnerLoopWriter::array(type, name) + ";");
    in.body.line(name + inner_.in_tile() + " = " + scopes_.expressions.as(v, type) + ";");
    arrays.emplace_back(v, name);
  }
  const bool alone = nest_.loop.empty() && in.body.empty();
  stores = inner_.write(only_stores, {}, {}, {}, stage.after_stores, {}, alone);
  in.by_lanes = stores.by_lanes;
  in.by_wide_lanes = stores.by_wide_lanes;
  in.before.append(stores.before);
  in.body.append(stores.body);
  in.after.append(stores.after);
  if (nest_.loop.empty()) look_ahead(in);
  out.append(within(in));
  leave(outside, hoisted);
  for (const auto& [v, name] : arrays) {
    const std::string type = kernel_[v].type.boolean() ? "bool" : types_.computed(kernel_[v].type);
    scopes_.expressions.environment[v] = {name + inner_.in_tile(), Binding::Primary, type};
    kept_.insert(v);
  }
  for (const Accumulator& sum : sums)
    if (!sum.partial())
      scopes_.expressions.environment[sum.value] = {sum.name + inner_.in_tile(), Binding::Primary, sum.type};
}

void ColumnKernel::finish_in_tile(const Accumulator& sum, Lines& body) {
  const Reduced& reduced = std::get<Reduced>(kernel_[sum.value].what);
  std::string result = sum.result(parenthesised(names_.product(reduced.over)), inner_.in_tile());
  const ir::Type type = kernel_[sum.value].type;
  if (types_.rounds(type)) result = "kw::round_to<" + types_.stored(type) + ">(" + result + ")";
  const std::string name = names_.value(sum.value);
  body.line("const " + sum.type + " " + name + " = " + result + ";");
  scopes_.expressions.environment[sum.value] = {name, Binding::Primary, sum.type};
}

}  // namespace

std::unique_ptr<KernelBase> column_kernel(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest,
                                          CppTypes& types) {
  return std::make_unique<ColumnKernel>(program, kernel, nest, types);
}

}  // namespace kw::act::cpu
