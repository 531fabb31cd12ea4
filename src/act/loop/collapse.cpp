#include "act/loop/collapse.h"

#include <algorithm>
#include <set>

#include "act/loop/identifier.h"
#include "act/loop/index.h"

namespace kw::act {
namespace {

// Calls visit(buffer, indices, first dimension that they index) for every access of the program.
template <class Program, class F>
void for_each_access(Program& program, F&& visit) {
  for (auto& kernel : program.kernels) {
    for (auto& value : kernel.values)
      if (auto* load = std::get_if<Load>(&value.what)) visit(load->buffer, load->at, 0);
    for (auto& stage : kernel.stages) {
      for (auto& store : stage.stores) visit(store.buffer, store.at, 0);
      for (auto& store : stage.after_stores) visit(store.buffer, store.at, 0);
      for (auto& sum : stage.accumulates) visit(sum.buffer, sum.at, 1);
    }
  }
}

// Every list of axes, and every index that is no address.
template <class F, class G>
void for_each_axes_and_index(LoopProgram& program, F&& visit_axes, G&& visit_index) {
  for (LoopKernel& kernel : program.kernels) {
    visit_axes(kernel.parallel);
    for (Stage& stage : kernel.stages) visit_axes(stage.loop);
    for (Value& value : kernel.values) {
      visit_axes(value.axes);
      if (IndexValue* index = std::get_if<IndexValue>(&value.what)) visit_index(index->index);
      if (Reduced* reduced = std::get_if<Reduced>(&value.what)) {
        visit_axes(reduced->over);
        visit_index(reduced->position);
      }
    }
  }
}

bool is_axis(const Index& index, LoopAxisId a) { return index.kind == Index::Kind::Axis && index.axis == a; }

void remember_shape(Buffer& buffer) {
  if (buffer.collapsed || buffer.role == Buffer::Role::Workspace) return;
  CollapsedShape own{buffer.shape, {}};
  for (size_t d = 0; d < buffer.shape.size(); ++d) own.dims.push_back({static_cast<int32_t>(d)});
  buffer.collapsed = std::move(own);
}

void drop_dimension(Buffer& buffer, size_t d) {
  remember_shape(buffer);
  const auto at = static_cast<std::ptrdiff_t>(d);
  buffer.shape.erase(buffer.shape.begin() + at);
  if (buffer.collapsed) buffer.collapsed->dims.erase(buffer.collapsed->dims.begin() + at);
}

void merge_dimensions(Buffer& buffer, size_t d) {
  remember_shape(buffer);
  buffer.shape[d] = buffer.shape[d] * buffer.shape[d + 1];
  if (buffer.collapsed) {
    std::vector<int32_t>& outer = buffer.collapsed->dims[d];
    const std::vector<int32_t>& inner = buffer.collapsed->dims[d + 1];
    outer.insert(outer.end(), inner.begin(), inner.end());
    buffer.collapsed->dims.erase(buffer.collapsed->dims.begin() + static_cast<std::ptrdiff_t>(d + 1));
  }
  buffer.shape.erase(buffer.shape.begin() + static_cast<std::ptrdiff_t>(d + 1));
}

// A dimension of size one is always at index 0, and stands between axes that could be neighbours.
void drop_unit_dimensions(LoopProgram& program) {
  for (size_t b = 0; b < program.buffers.size(); ++b)
    for (size_t d = program.buffers[b].shape.size(); d-- > 0;) {
      if (program.buffers[b].shape[d] != ir::Size(1)) continue;
      for_each_access(program, [&](BufferId buffer, std::vector<Index>& at, size_t first) {
        if (static_cast<size_t>(buffer) == b) at.erase(at.begin() + static_cast<std::ptrdiff_t>(d - first));
      });
      drop_dimension(program.buffers[b], d);
    }
}

// Walks the axes a and b of a program as one, if that can be.
class Merge {
 public:
  Merge(const LoopProgram& program, LoopAxisId outer, LoopAxisId inner)
      : out_(program), outer_(outer), inner_(inner), inner_size_(axis(inner).size), arithmetic_(out_.axes) {}

  std::optional<LoopProgram> run() {
    LoopAxis& merged = out_.axes[static_cast<size_t>(outer_)];
    const LoopAxis& inner = axis(inner_);
    merged.name += "_" + inner.name;
    merged.size = merged.size * inner.size;
    merged.parts.insert(merged.parts.end(), inner.parts.begin(), inner.parts.end());
    find_merged_dimensions();
    for_each_access(out_, [&](BufferId buffer, std::vector<Index>& at, size_t first) { rewrite(buffer, at, first); });
    for_each_axes_and_index(
        out_, [&](Axes& axes) { rewrite(axes); }, [&](Index& index) { rewrite(index); });
    keep_order_of_combines();
    if (!possible_) return std::nullopt;
    for (const auto& [buffer, d] : dimension_) merge_dimensions(out_.buffers[static_cast<size_t>(buffer)], d);
    return std::move(out_);
  }

 private:
  const LoopAxis& axis(LoopAxisId a) const { return out_.axes[static_cast<size_t>(a)]; }

  // Where a buffer has the two axes as neighbouring dimensions, and all of the inner one.
  void find_merged_dimensions() {
    for_each_access(out_, [&](BufferId buffer, const std::vector<Index>& at, size_t first) {
      const std::vector<ir::Size>& shape = out_.buffers[static_cast<size_t>(buffer)].shape;
      for (size_t i = 0; i + 1 < at.size(); ++i)
        if (is_axis(at[i], outer_) && is_axis(at[i + 1], inner_) && shape[i + 1 + first] == inner_size_)
          dimension_.emplace(buffer, i + first);
    });
  }

  // All accesses of a buffer must agree on what is one dimension.
  void rewrite(BufferId buffer, std::vector<Index>& at, size_t first) {
    if (auto d = dimension_.find(buffer); d != dimension_.end()) {
      const size_t i = d->second - first;
      if (!is_axis(at[i], outer_) || !is_axis(at[i + 1], inner_)) {
        possible_ = false;
        return;
      }
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(i + 1));
      for (size_t k = 0; k < at.size(); ++k)
        if (k != i) rewrite(at[k]);
    } else {
      for (Index& index : at) rewrite(index);
    }
  }

  void rewrite(Index& index) {
    std::optional<Index> fused = arithmetic_.fuse(index, outer_, inner_, inner_size_);
    if (fused)
      index = *std::move(fused);
    else
      possible_ = false;
  }

  void rewrite(Axes& axes) {
    const bool has_outer = has(axes, outer_), has_inner = has(axes, inner_);
    if (has_outer != has_inner) possible_ = false;
    std::erase(axes, inner_);
  }

  // A combine runs in the row-major order of its axes, and the merged axis must stand where both stood.
  void keep_order_of_combines() {
    for (const LoopKernel& kernel : out_.kernels)
      for (const Value& value : kernel.values)
        if (const Reduced* reduced = std::get_if<Reduced>(&value.what);
            reduced && reduced->combined && has(reduced->over, outer_))
          for (LoopAxisId a : reduced->over)
            if (outer_ > inner_ || (a > outer_ && a < inner_)) possible_ = false;
  }

  LoopProgram out_;
  LoopAxisId outer_, inner_;
  ir::Size inner_size_;
  IndexArithmetic arithmetic_;
  std::map<BufferId, size_t> dimension_;  // the first of the two
  bool possible_ = true;
};

// Pairs that are neighbours somewhere, in order of appearance.
std::vector<std::pair<LoopAxisId, LoopAxisId>> neighbours(const LoopProgram& program) {
  std::vector<std::pair<LoopAxisId, LoopAxisId>> pairs;
  for_each_access(program, [&](BufferId, const std::vector<Index>& at, size_t) {
    for (size_t i = 0; i + 1 < at.size(); ++i) {
      if (at[i].kind != Index::Kind::Axis || at[i + 1].kind != Index::Kind::Axis) continue;
      std::pair pair{at[i].axis, at[i + 1].axis};
      if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(pair);
    }
  });
  return pairs;
}

bool counts_workers(const LoopProgram& program, LoopAxisId a) {
  return program.workers && program.axes[static_cast<size_t>(a)].size == ir::Size::symbol(*program.workers);
}

bool merge_once(LoopProgram& program) {
  for (auto [outer, inner] : neighbours(program)) {
    if (counts_workers(program, outer) || counts_workers(program, inner)) continue;
    if (std::optional<LoopProgram> merged = Merge(program, outer, inner).run()) {
      program = *std::move(merged);
      return true;
    }
  }
  return false;
}

// Axes that no kernel walks any more go; the others keep their order.
void drop_unused_axes(LoopProgram& program) {
  std::set<LoopAxisId> used;
  for (const LoopKernel& kernel : program.kernels) {
    used.insert(kernel.parallel.begin(), kernel.parallel.end());
    for (const Stage& stage : kernel.stages) used.insert(stage.loop.begin(), stage.loop.end());
  }
  std::vector<LoopAxisId> image(program.axes.size(), -1);
  std::vector<LoopAxis> axes;
  Identifiers names;
  for (LoopAxisId a : used) {
    image[static_cast<size_t>(a)] = static_cast<LoopAxisId>(axes.size());
    axes.push_back(std::move(program.axes[static_cast<size_t>(a)]));
    axes.back().name = names.take(axes.back().name, "i");
  }
  program.axes = std::move(axes);
  auto renumber = [&](auto&& self, Index& index) -> void {
    if (index.kind == Index::Kind::Axis) index.axis = image[static_cast<size_t>(index.axis)];
    for (Index& operand : index.operands) self(self, operand);
  };
  for_each_access(program, [&](BufferId, std::vector<Index>& at, size_t) {
    for (Index& index : at) renumber(renumber, index);
  });
  for_each_axes_and_index(
      program,
      [&](Axes& list) {
        for (LoopAxisId& a : list) a = image[static_cast<size_t>(a)];
      },
      [&](Index& index) { renumber(renumber, index); });
}

}  // namespace

LoopProgram collapse(const LoopProgram& program) {
  LoopProgram out = program;
  drop_unit_dimensions(out);
  while (merge_once(out)) {
  }
  drop_unused_axes(out);
  return out;
}

}  // namespace kw::act
