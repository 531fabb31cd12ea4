#include "act/emit/cuda/kernel_plan.h"

#include <algorithm>
#include <set>

#include "act/loop/index.h"

namespace kw::act::cuda {
namespace {

// Whether the tuples of a combine, one of every thread, have room in the shared memory of a block.
bool tuples_fit(const LoopProgram& program, const LoopKernel& kernel) {
  constexpr size_t kMostParts = 3;
  std::set<std::pair<int32_t, std::vector<ValueId>>> tuples;
  for (const Value& value : kernel.values)
    if (const Reduced* reduced = std::get_if<Reduced>(&value.what); reduced && reduced->combined) {
      tuples.emplace(reduced->combined->combine, reduced->combined->args);
      if (program.combines[static_cast<size_t>(reduced->combined->combine)].arity() > kMostParts) return false;
    }
  return tuples.size() <= 1;
}

// Whether a row has axes that are not walked as one with the innermost even where tensors are dense.
bool has_parts(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest) {
  if (nest.loop.empty()) return false;
  for (const std::vector<LoopAxisId>& group : cpu::mergeable_axes(program, kernel, nest))
    if (group.back() == nest.inner)
      return !std::all_of(nest.loop.begin(), nest.loop.end(), [&](LoopAxisId axis) { return has(group, axis); });
  return true;
}

bool is_of_slices(const LoopProgram& program, const std::vector<LoopAxisId>& axes) {
  return program.workers && !axes.empty() && std::all_of(axes.begin(), axes.end(), [&](LoopAxisId axis) {
           return program.axes[static_cast<size_t>(axis)].size == ir::Size::symbol(*program.workers);
         });
}

}  // namespace

std::vector<LoopAxisId> KernelPlan::row_axes() const {
  std::vector<LoopAxisId> axes = nest.loop;
  if (nest.inner >= 0 && nest.reduces_inner()) axes.push_back(nest.inner);
  return axes;
}

KernelPlan plan_kernel(const LoopProgram& program, const LoopKernel& kernel) {
  KernelPlan plan;
  plan.nest = cpu::choose_nest(program, kernel);
  bool loops = false;
  for (const Stage& stage : kernel.stages) {
    loops |= !stage.loop.empty();
    plan.accumulates |= !stage.accumulates.empty();
  }
  const bool in_order = std::any_of(kernel.values.begin(), kernel.values.end(), [](const Value& value) {
    const Reduced* reduced = std::get_if<Reduced>(&value.what);
    return reduced && reduced->combined;
  });
  using Shape = KernelPlan::Shape;
  if (plan.nest.inner < 0)
    plan.shape = Shape::Points;
  else if (!loops)
    plan.shape = Shape::Elements;
  else if (plan.nest.reduces_inner())
    plan.shape = Shape::Rows;
  else
    plan.shape = Shape::Columns;
  plan.adds_slices = is_of_slices(program, plan.row_axes());
  if (plan.shape == Shape::Rows && plan.adds_slices && plan.nest.parallel.empty() && !in_order)
    plan.shape = Shape::Columns;
  if (plan.shape == Shape::Columns && !tuples_fit(program, kernel)) plan.shape = Shape::Points;
  for (const Stage& stage : kernel.stages)
    for (const Accumulate& sum : stage.accumulates) {
      const SumKind kind = kind_of(plan, sum);
      plan.has_segments |= kind == SumKind::Segment;
      if (plan.shape == Shape::Columns || (plan.shape == Shape::Elements && kind != SumKind::Scalar))
        plan.shape = Shape::Points;
      if (plan.shape == Shape::Rows && kind == SumKind::Segment)
        for (const Index& index : sum.at)
          if (has(axes_of(index), plan.nest.inner)) plan.shape = Shape::Points;
    }
  bool has_columns = false;
  for (const Stage& stage : kernel.stages)
    for (const Accumulate& sum : stage.accumulates) has_columns |= kind_of(plan, sum) == SumKind::Column;
  // Warps take parts in no order that a combine could rely on.
  if (plan.shape == Shape::Rows && plan.has_segments && (has_columns || in_order)) plan.shape = Shape::Points;
  if (plan.shape == Shape::Rows) {
    plan.has_parts = has_parts(program, kernel, plan.nest);
    plan.in_parts = plan.has_segments || (plan.has_parts && !has_columns && !in_order);
  }
  return plan;
}

SumKind kind_of(const KernelPlan& plan, const Accumulate& sum) {
  if (sum.at.empty()) return SumKind::Scalar;
  if (std::all_of(sum.at.begin(), sum.at.end(), [](const Index& index) { return index == size_index(0); }))
    return SumKind::Scalar;
  const std::vector<LoopAxisId> row = plan.row_axes();
  if (plan.nest.reduces_inner() && row.size() == sum.at.size() &&
      std::equal(row.begin(), row.end(), sum.at.begin(),
                 [](LoopAxisId axis, const Index& index) { return index == axis_index(axis); }))
    return SumKind::Column;
  return SumKind::Segment;
}

Run run_of(const std::vector<Index>& at, LoopAxisId inner) {
  if (at.empty() || inner < 0) return {};
  for (const Index& index : at)
    if (!values_of(index).empty()) return {};
  for (size_t d = 0; d + 1 < at.size(); ++d)
    if (has(axes_of(at[d]), inner)) return {};
  const Index& last = at.back();
  if (last == axis_index(inner)) return {true, ir::Size(0)};
  if (last.kind != Index::Kind::Add) return {};
  for (int i : {0, 1}) {
    const Index &axis = last.operands[static_cast<size_t>(i)], &rest = last.operands[static_cast<size_t>(1 - i)];
    if (axis == axis_index(inner) && rest.kind == Index::Kind::Size) return {true, rest.size};
  }
  return {};
}

}  // namespace kw::act::cuda
