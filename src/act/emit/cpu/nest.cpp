#include "act/emit/cpu/nest.h"

#include <algorithm>
#include <set>

#include "act/emit/cpp/combines.h"
#include "act/loop/index.h"

namespace kw::act::cpu {
namespace {

using cpp::has_combine;

bool is_axis(const Index& index) { return index.kind == Index::Kind::Axis; }
bool is_one(const LoopProgram& program, LoopAxisId axis) {
  return program.axes[static_cast<size_t>(axis)].size == ir::Size(1);
}

// The axis that the last dimension of an access runs along, if it does so step by step.
LoopAxisId contiguous_axis(const std::vector<Index>& at) {
  for (auto index = at.rbegin(); index != at.rend(); ++index) {
    if (axes_of(*index).empty()) continue;
    if (is_axis(*index)) return index->axis;
    // A sum: the axis that is not multiplied.
    LoopAxisId found = -1;
    auto visit = [&](auto&& self, const Index& part) -> void {
      if (part.kind == Index::Kind::Add || part.kind == Index::Kind::Sub)
        for (const Index& operand : part.operands) self(self, operand);
      else if (is_axis(part))
        found = part.axis;
    };
    visit(visit, *index);
    return found;
  }
  return -1;
}

void collect_sizes(const Index& index, std::vector<ir::Size>& sizes) {
  if (index.kind == Index::Kind::Size) sizes.push_back(index.size);
  for (const Index& operand : index.operands) collect_sizes(operand, sizes);
}

// Whether sizes have the same value when the outer axis is called with size one and the inner one with the product.
bool see_only_products(const std::vector<ir::Size>& sizes, const ir::Size& outer, const ir::Size& inner) {
  const std::optional<ir::SymbolId> o = outer.as_symbol(), i = inner.as_symbol();
  return std::all_of(sizes.begin(), sizes.end(), [&](const ir::Size& size) {
    if (!o || !i) {
      const std::vector<ir::SymbolId> symbols = size.symbols();
      for (const ir::Size* axis : {&outer, &inner})
        for (ir::SymbolId s : axis->symbols())
          if (std::find(symbols.begin(), symbols.end(), s) != symbols.end()) return false;
      return true;
    }
    return size == size.substitute([&](ir::SymbolId s) -> std::optional<ir::Size> {
      if (s == *o) return ir::Size(1);
      if (s == *i) return outer * inner;
      return std::nullopt;
    });
  });
}

}  // namespace

std::vector<LoopAxisId> Nest::around() const {
  std::vector<LoopAxisId> all = parallel;
  all.insert(all.end(), loop.begin(), loop.end());
  return all;
}

std::vector<LoopAxisId> Nest::all() const {
  std::vector<LoopAxisId> axes = around();
  if (inner >= 0) axes.push_back(inner);
  return axes;
}

Nest choose_nest(const LoopProgram& program, const LoopKernel& kernel) {
  Nest nest;
  nest.parallel = kernel.parallel;
  for (const Stage& stage : kernel.stages)
    if (!stage.loop.empty()) nest.loop = stage.loop;
  std::map<LoopAxisId, size_t> votes;  // by the rank of the tensors that run along an axis: the large ones decide
  for (LoopAxisId axis : nest.around()) votes[axis] = 0;
  for (const Access& access : accesses_of(kernel)) {
    LoopAxisId axis = contiguous_axis(*access.at);
    std::set<LoopAxisId> axes;
    for (const Index& index : *access.at)
      for (LoopAxisId a : axes_of(index)) axes.insert(a);
    if (axis >= 0 && !is_one(program, axis)) votes[axis] += axes.size() * axes.size();
  }
  for (const auto& [axis, count] : votes)
    if (nest.inner < 0 || count >= votes[nest.inner]) nest.inner = axis;
  // A combine need not commute: what it runs over keeps its order, with the last axis innermost.
  if (has(nest.loop, nest.inner) && has_combine(kernel)) nest.inner = nest.loop.back();
  bool reduced = std::erase(nest.loop, nest.inner) > 0;
  std::erase(nest.parallel, nest.inner);
  if (!reduced)
    nest.shape = Nest::Shape::Column;
  else
    nest.shape = kernel.parallel.empty() ? Nest::Shape::Whole : Nest::Shape::Row;
  return nest;
}

std::vector<std::vector<LoopAxisId>> mergeable_axes(const LoopProgram& program, const LoopKernel& kernel,
                                                    const Nest& nest) {
  const std::vector<Access> accesses = accesses_of(kernel);
  std::vector<ir::Size> used;  // sizes that the text mentions beside the bounds of its loops
  std::set<LoopAxisId> positions;
  auto note = [&](const Index& index) {
    collect_sizes(index, used);
    for (LoopAxisId a : axes_of(index)) positions.insert(a);
  };
  for (const Access& access : accesses)
    for (const Index& index : *access.at) collect_sizes(index, used);
  for (const Value& value : kernel.values) {
    if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) note(index->index);
    if (const Reduced* reduced = std::get_if<Reduced>(&value.what)) note(reduced->position);
  }
  auto merges = [&](LoopAxisId outer, LoopAxisId inner) {
    for (LoopAxisId axis : {outer, inner}) {
      if (positions.contains(axis)) return false;
      if (program.axes[static_cast<size_t>(axis)].size.constant()) return false;  // its bound is written out
    }
    if (!see_only_products(used, program.axes[static_cast<size_t>(outer)].size,
                           program.axes[static_cast<size_t>(inner)].size))
      return false;
    for (const Access& access : accesses) {
      // All dimensions but those of size one, which may lie between neighbours; one element of a larger one may not.
      const std::vector<ir::Size>& shape = program.buffers[static_cast<size_t>(access.buffer)].shape;
      std::vector<const Index*> dimensions;
      for (size_t i = 0; i < access.at->size(); ++i)
        if (const ir::Size& size = shape[i + (access.slice ? 1 : 0)]; size != ir::Size(1)) {
          dimensions.push_back(&(*access.at)[i]);
          // The beginning of a row, and not all of it: the next row does not follow.
          if ((*access.at)[i] == axis_index(inner) && size != program.axes[static_cast<size_t>(inner)].size)
            return false;
        }
      for (size_t d = 0; d < dimensions.size(); ++d) {
        const Index& index = *dimensions[d];
        const Axes axes = axes_of(index);
        const bool has_outer = has(axes, outer);
        const bool has_inner = has(axes, inner);
        if (has_outer &&
            (index != axis_index(outer) || d + 1 == dimensions.size() || *dimensions[d + 1] != axis_index(inner)))
          return false;
        if (has_inner && (index != axis_index(inner) || d == 0 || *dimensions[d - 1] != axis_index(outer)))
          return false;
      }
    }
    return true;
  };
  std::vector<LoopAxisId> parallel = nest.parallel, loop = nest.loop;
  if (nest.inner >= 0) (nest.reduces_inner() ? loop : parallel).push_back(nest.inner);
  std::vector<std::vector<LoopAxisId>> groups;
  for (const std::vector<LoopAxisId>& order : {parallel, loop})
    for (size_t i = 0; i < order.size(); ++i) {
      std::vector<LoopAxisId> group{order[i]};
      while (i + 1 < order.size() && merges(order[i], order[i + 1])) group.push_back(order[++i]);
      if (group.size() > 1) groups.push_back(std::move(group));
    }
  return groups;
}

}  // namespace kw::act::cpu
