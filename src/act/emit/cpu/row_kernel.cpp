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
  void row_stage(const Stage& stage, Lines& out);
  Lines line_loop(const InnerLoop& inner, bool tiled) const;
};

void RowKernel::rows() {
  Lines point;
  scopes_.open_rows(Level::Point, &point_rows_);
  for (const Stage& stage : kernel_.stages) {
    if (!stage.loop.empty()) row_stage(stage, point);
    after(stage, point);
  }
  Lines body;
  body.append(point_rows_);
  body.append(point);
  frame(body, kRowFile, "row", "sliced_row", {});
}

void RowKernel::row_stage(const Stage& stage, Lines& out) {
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
  InnerLoop in = inner_.write(stage, sums, combined, {}, stage.stores);
  for (const Accumulator& sum : sums)
    if (sum.partial()) in.after.line(sum.add_partial());
  for (const Ordered& one : combined)
    in.after.line(one.total + ".add(kw::tile_combine(" + one.terms + ", end - tile));");
  const bool tiled = !in.before.empty() || !in.after.empty();
  for (LoopAxisId axis : nest_.loop) out.open(loop_header(axis) + " {");
  out.append(row);
  out.append(line_loop(in, tiled));
  for (size_t i = 0; i < nest_.loop.size(); ++i) out.close();
  scopes_.open_rows(Level::Row, nullptr);
  leave(outside, hoisted);
  finish(sums, out);
  finish(combined, out, ".total()");
}

Lines RowKernel::line_loop(const InnerLoop& inner, bool tiled) const {
  Skeleton skeleton = Skeleton::load(kRowFile, tiled ? "tiles" : "line");
  skeleton.name("i", names_.variable(nest_.inner))
      .clauses("reductions", join(inner.clauses, " "))
      .statements("body", inner.body);
  if (tiled)
    skeleton.expression("size", names_.size(nest_.inner))
        .statements("before", inner.before)
        .statements("after", inner.after);
  else
    skeleton.expression("first", "0").expression("last", names_.size(nest_.inner));
  return skeleton.fill();
}

}  // namespace

std::unique_ptr<KernelBase> row_kernel(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest,
                                       CppTypes& types) {
  return std::make_unique<RowKernel>(program, kernel, nest, types);
}

}  // namespace kw::act::cpu
