#include "act/emit/cuda/split_sums.h"

#include <algorithm>

#include "act/emit/cuda/kernel_plan.h"
#include "act/loop/identifier.h"
#include "act/loop/index.h"

namespace kw::act::cuda {
namespace {

using ir::Op;

class Splitter {
 public:
  explicit Splitter(const LoopProgram& program) : program_(program) {}

  LoopProgram run() {
    const std::vector<LoopKernel> kernels = std::move(program_.kernels);
    program_.kernels.clear();
    for (const LoopKernel& kernel : kernels)
      if (const Stage* stage = splittable(kernel))
        split(kernel, *stage);
      else
        program_.kernels.push_back(kernel);
    return std::move(program_);
  }

 private:
  // The only stage with a loop, if all that it reduces are sums over outer axes or over everything.
  const Stage* splittable(const LoopKernel& kernel) const {
    const Stage* found = nullptr;
    for (const Stage& stage : kernel.stages) {
      if (stage.loop.empty()) continue;
      if (found) return nullptr;
      found = &stage;
    }
    if (!found || found->reductions.empty() || kernel.parallel.size() > 1) return nullptr;
    for (ValueId r : found->reductions) {
      const Op op = std::get<Reduced>(kernel[r].what).op;
      if ((op != Op::Sum && op != Op::Mean) || !kernel[r].type.floating()) return nullptr;
    }
    for (LoopAxisId axis : found->loop)
      if (program_.workers && program_.axes[static_cast<size_t>(axis)].size == ir::Size::symbol(*program_.workers))
        return nullptr;  // these are slices already
    const KernelPlan plan = plan_kernel(program_, kernel);
    if (kernel.parallel.size() == 1 && plan.nest.reduces_inner()) return nullptr;
    return found;
  }

  std::string unused(const std::string& wanted) const {
    auto taken = [&](const std::string& name) {
      return std::any_of(program_.buffers.begin(), program_.buffers.end(),
                         [&](const Buffer& b) { return b.name == name; }) ||
             std::any_of(program_.scalars.begin(), program_.scalars.end(),
                         [&](const auto& scalar) { return scalar.first == name; });
    };
    std::string name = wanted;
    while (taken(name)) name += "_";
    return name;
  }

  LoopAxisId worker_axis() {
    if (!program_.workers) {
      program_.workers = static_cast<ir::SymbolId>(program_.symbols.size());
      ir::Symbol symbol;
      symbol.name = "workers";
      while (std::any_of(program_.symbols.begin(), program_.symbols.end(),
                         [&](const ir::Symbol& s) { return s.name == symbol.name; }))
        symbol.name += "_";
      program_.symbols.push_back(symbol);
    }
    const ir::Size size = ir::Size::symbol(*program_.workers);
    for (size_t a = 0; a < program_.axes.size(); ++a)
      if (program_.axes[a].size == size) return static_cast<LoopAxisId>(a);
    std::string name = "worker";
    while (std::any_of(program_.axes.begin(), program_.axes.end(), [&](const LoopAxis& a) { return a.name == name; }))
      name += "_";
    program_.axes.push_back({name, size, {}});
    return static_cast<LoopAxisId>(program_.axes.size() - 1);
  }

  static ValueId add(LoopKernel& kernel, decltype(Value::what) what, ir::Type type, std::vector<LoopAxisId> axes,
                     std::string name) {
    while (std::any_of(kernel.values.begin(), kernel.values.end(), [&](const Value& v) { return v.name == name; }))
      name += "_";
    std::sort(axes.begin(), axes.end());
    kernel.values.push_back({std::move(what), type, std::move(axes), std::move(name), {}});
    return static_cast<ValueId>(kernel.values.size() - 1);
  }

  void split(const LoopKernel& kernel, const Stage& stage) {
    const LoopAxisId worker = worker_axis();
    const std::vector<LoopAxisId>& points = kernel.parallel;
    std::vector<Index> at;
    for (LoopAxisId axis : points) at.push_back(axis_index(axis));

    LoopKernel walk = kernel, finish = kernel;
    walk.parallel = stage.loop;
    Stage over;
    over.loop = points;
    over.body = stage.body;
    (points.empty() ? over.after_stores : over.stores) = stage.stores;
    over.accumulates = stage.accumulates;
    finish.name = kernel.name + "_totals";
    Stage sums;
    sums.loop = {worker};
    for (ValueId r : stage.reductions) {
      const Value value = kernel[r];
      const Reduced& reduced = std::get<Reduced>(value.what);
      const ir::Type wide = ir::opmath(value.type);
      Buffer slices{Buffer::Role::Workspace, unused(value.name + "_slices"), wide, {}, {}, {}};
      slices.shape.push_back(ir::Size::symbol(*program_.workers));
      for (LoopAxisId axis : points) slices.shape.push_back(program_.axes[static_cast<size_t>(axis)].size);
      const BufferId buffer = static_cast<BufferId>(program_.buffers.size());
      program_.buffers.push_back(std::move(slices));
      over.accumulates.push_back({buffer, at, reduced.arg});

      std::vector<Index> from{axis_index(worker)};
      from.insert(from.end(), at.begin(), at.end());
      std::vector<LoopAxisId> axes = points;
      axes.push_back(worker);
      const ValueId slice = add(finish, Load{buffer, from}, wide, axes, value.name + "_slice");
      ValueId total = add(finish, Reduced{Op::Sum, slice, {worker}}, wide, points, value.name + "_total");
      sums.body.push_back(slice);
      sums.reductions.push_back(total);
      if (reduced.op == Op::Mean) {
        ir::Size count(1);
        for (LoopAxisId axis : reduced.over) count = count * program_.axes[static_cast<size_t>(axis)].size;
        const ValueId terms = add(finish, IndexValue{size_index(count)}, ir::DType::Int, {}, value.name + "_count");
        total = add(finish, Map{Op::Div, {total, terms}}, wide, points, value.name + "_mean");
      }
      finish.values[static_cast<size_t>(r)].what = Map{Op::Cast, {total}};
    }
    sums.after = stage.after;
    sums.after_stores = stage.after_stores;
    for (const Stage& other : kernel.stages)
      if (other.loop.empty()) {  // computed where it is wanted; what it stores is stored once
        sums.after.insert(sums.after.end(), other.after.begin(), other.after.end());
        sums.after_stores.insert(sums.after_stores.end(), other.after_stores.begin(), other.after_stores.end());
      }
    walk.stages = {over};
    finish.stages = {sums};
    program_.kernels.push_back(std::move(walk));
    program_.kernels.push_back(std::move(finish));
  }

  LoopProgram program_;
};

}  // namespace

LoopProgram split_sums(const LoopProgram& program) { return Splitter(program).run(); }

}  // namespace kw::act::cuda
