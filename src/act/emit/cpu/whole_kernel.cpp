#include "act/emit/cpu/whole_kernel.h"

#include <algorithm>

#include "act/emit/skeleton.h"
#include "base/text.h"

namespace kw::act::cpu {
namespace {

class WholeKernel : public KernelBase {
 public:
  using KernelBase::KernelBase;

 private:
  // A kernel of one element is named after the shape that it would have.
  std::string suffix() const override { return nest_.shape == Nest::Shape::Column ? "_elements" : "_whole"; }
  void write() override { nest_.inner < 0 ? single() : whole(); }
  void single();
  void whole();
  void whole_stage(const Stage& stage, Lines& out);
};

void WholeKernel::single() {
  Lines point;
  scopes_.open_rows(Level::Point, &point);
  for (const Stage& stage : kernel_.stages) after(stage, point);
  text_.lines = Skeleton::load(kWholeFile, "whole")
                    .name("kernel", text_.function)
                    .list("parameters", parameter_list())
                    .statements("setup", scopes_.setup)
                    .statements("stages", point)
                    .fill();
}

void WholeKernel::whole() {
  Lines stages;
  scopes_.setup.line("const int64_t tiles = (" + names_.size(nest_.inner) + " + kTile - 1) / kTile;");
  scopes_.setup.line("const int64_t blocks = " + (nest_.loop.empty() ? "" : names_.product(nest_.loop) + " * ") +
                     "tiles;");
  for (const Stage& stage : kernel_.stages) {
    if (!stage.loop.empty()) whole_stage(stage, stages);
    after(stage, stages);
  }
  text_.lines = Skeleton::load(kWholeFile, "whole")
                    .name("kernel", text_.function)
                    .list("parameters", parameter_list())
                    .statements("setup", scopes_.setup)
                    .statements("stages", stages)
                    .fill();
}

void WholeKernel::whole_stage(const Stage& stage, Lines& out) {
  std::vector<Accumulator> sums = inner_.accumulators(stage);
  const std::vector<Ordered> combined = inner_.ordered(stage);
  Lines partials, start, finish_chunk, combine;
  std::map<ValueId, std::string> parts;
  for (const Accumulator& sum : sums) {
    const std::string parts_name = names_.fresh(names_.value(sum.value) + "_parts");
    const std::string type = sum.partial() ? "double" : sum.type, name = sum.partial() ? sum.total : sum.name;
    partials.line(type + " " + parts_name + "[kChunks];");
    start.line(type + " " + name + " = " + sum.start + ";");
    finish_chunk.line(parts_name + "[chunk] = " + name + ";");
    if (sum.op == ir::Op::Sum || sum.op == ir::Op::Mean) {
      combine.line(std::string(sum.partial() ? "const " : "const ") + type + " " + name + " = kw::sum_of(" +
                   parts_name + ", kChunks);");
    } else {
      combine.line(type + " " + name + " = " + sum.start + ";");
      Accumulator over_chunks = sum;
      over_chunks.name = name;
      combine.line("for (const " + type + " chunk : " + parts_name + ") " + over_chunks.combine("chunk"));
    }
  }
  for (const Ordered& one : combined) {
    const std::string& tuple = one.combination.tuple;
    const std::string chunks = names_.fresh(names_.value(one.combination.reduced[0]) + "_parts");
    partials.line("kw::Part<" + tuple + "> " + chunks + "[kChunks];");
    start.line("kw::InOrder<" + tuple + "> " + one.total + ";");
    finish_chunk.line(chunks + "[chunk] = {" + one.total + ".total(), !" + one.total + ".empty()};");
    combine.line("const " + tuple + " " + one.total + " = kw::parts_combine(" + chunks + ", kChunks);");
  }
  Lines row;
  const Expressions::Environment outside = scopes_.expressions.environment;
  scopes_.open_rows(Level::Row, &row);
  scopes_.hoist(roots_of(stage, kernel_), out, &row);
  const Expressions::Environment hoisted = scopes_.expressions.environment;
  InnerLoop in = inner_.write(stage, sums, combined, {}, stage.stores);
  for (const Accumulator& sum : sums)
    if (sum.partial()) in.after.line(sum.add_partial());
  for (const Ordered& one : combined)
    in.after.line(one.total + ".add(kw::tile_combine(" + one.terms + ", end - tile));");
  look_ahead(in);
  Lines before;
  before.append(row);
  before.append(in.before);
  out.append(Skeleton::load(kWholeFile, "chunks")
                 .statements("partials", partials)
                 .expression("elements", elements())
                 .statements("start", start)
                 .expression("size", names_.size(nest_.inner))
                 .statements("position", positions("block / tiles", nest_.loop))
                 .statements("before", before)
                 .statements("loop", inner_.loop(in, "tile", "end"))
                 .statements("after", in.after)
                 .statements("finish", finish_chunk)
                 .statements("combine", combine)
                 .fill());
  scopes_.open_rows(Level::Row, nullptr);
  leave(outside, hoisted);
  finish(sums, out);
  finish(combined, out, "");
}

}  // namespace

std::unique_ptr<KernelBase> whole_kernel(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest,
                                         CppTypes& types) {
  return std::make_unique<WholeKernel>(program, kernel, nest, types);
}

}  // namespace kw::act::cpu
