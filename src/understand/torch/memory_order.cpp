#include "understand/torch/memory_order.h"

#include <algorithm>
#include <map>
#include <set>

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::LayoutDim;
using ir::LayoutOperand;
using ir::LayoutPiece;
using ir::NodeId;
using Base = LayoutOperand::Base;
using Dims = std::vector<LayoutDim>;

// While reading, an operand says its dimensions in full, and an input is its number. Of a pointwise base every
// dimension is seen, so that its shape can be told from the result's.

bool is_unit(const ir::Graph& graph, AxisId axis) { return axis == ir::kUnit || graph.axis(axis).size.constant() == 1; }

Dims as_they_are(const ir::Graph& graph, const std::vector<AxisId>& axes) {
  Dims dims;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    dims.emplace_back();
    if (!is_unit(graph, axes[d])) dims.back().push_back({static_cast<std::int32_t>(d)});
  }
  return dims;
}

MemoryOrder known(LayoutOperand operand) { return {MemoryOrder::Is::Known, std::move(operand)}; }
MemoryOrder unknown() { return {MemoryOrder::Is::Unknown, {}}; }
MemoryOrder contiguous(const ir::Graph& graph, const TensorValue& tensor) {
  return known({Base::Contiguous, {}, {}, as_they_are(graph, tensor.dims)});
}

MemoryOrder order_of(const ir::Graph& graph, const TensorValue& tensor) {
  if (tensor.order.is != MemoryOrder::Is::AsMade) return tensor.order;
  const ir::Node& node = graph[tensor.node];
  if (node.op != ir::Op::Input) return unknown();
  return known({Base::Input, std::to_string(node.as<ir::InputRef>().index), {}, as_they_are(graph, tensor.dims)});
}

std::size_t seen_dims(const Dims& dims) {
  return static_cast<std::size_t>(
      std::count_if(dims.begin(), dims.end(), [](const LayoutDim& dim) { return !dim.empty(); }));
}

// A pointwise op's result from the operands that have a say in it.
MemoryOrder pointwise(const ir::Graph& graph, const std::vector<TensorValue>& operands, const TensorValue& result) {
  const Dims own = as_they_are(graph, result.dims);
  const std::size_t rank = own.size();
  LayoutOperand made{Base::Pointwise, {}, {}, own};
  if (seen_dims(own) < 2) return contiguous(graph, result);
  for (const TensorValue& operand : operands) {
    if (operand.dims.size() > rank) return unknown();
    const MemoryOrder order = order_of(graph, operand);
    const std::size_t offset = rank - operand.dims.size();
    Dims seen(rank);
    for (std::size_t d = 0; d < operand.dims.size(); ++d) {
      if (is_unit(graph, operand.dims[d])) continue;
      seen[offset + d] = order.is == MemoryOrder::Is::Known ? (*order.operand.dims)[d] : LayoutDim{{0}};
    }
    if (seen_dims(seen) < 2) continue;  // one dimension alone is in every order
    if (order.is != MemoryOrder::Is::Known) return unknown();
    LayoutOperand one = order.operand;
    one.dims = seen;
    // What was made anew and is not repeated leaves nothing open.
    const bool decides = one.base != Base::Input && seen_dims(seen) == seen_dims(own);
    if (decides && made.of.empty()) return known(std::move(one));
    // What was laid out like the operands before it says nothing that they do not.
    if (decides && one.base == Base::Pointwise && *one.dims == own && one.of == made.of) break;
    if (std::find(made.of.begin(), made.of.end(), one) == made.of.end()) made.of.push_back(std::move(one));
    if (decides) break;
  }
  if (made.of.empty()) return contiguous(graph, result);
  return known(std::move(made));
}

// For each dimension of the result the operand's dimensions that it is made of. Nothing where the nodes between them do
// more than that.
std::optional<Dims> dims_before(const ir::Graph& graph, const TensorValue& operand, const TensorValue& result) {
  std::vector<NodeId> between;
  for (NodeId at = result.node; at != operand.node; at = graph[at].args[0]) {
    const ir::Node& node = graph[at];
    if (node.args.empty() || node.args[0] >= at) return std::nullopt;
    between.push_back(at);
  }
  std::map<AxisId, LayoutDim> now;
  for (std::size_t d = 0; d < operand.dims.size(); ++d)
    if (operand.dims[d] != ir::kUnit) now[operand.dims[d]] = {{static_cast<std::int32_t>(d)}};
  for (std::size_t i = between.size(); i-- > 0;) {
    const ir::Node& node = graph[between[i]];
    if (node.op == ir::Op::Slice) {
      const auto& slice = node.as<ir::SliceAttr>();
      now[slice.to] = now[slice.from];
    } else if (node.op == ir::Op::Rename) {
      std::map<AxisId, LayoutDim> renamed = now;
      for (const auto& [from, to] : node.as<ir::RenameAttr>().pairs) renamed[to] = now[from];
      now = std::move(renamed);
    } else if (node.op == ir::Op::Merge) {
      const auto& merge = node.as<ir::SplitAttr>();
      LayoutDim whole = now[merge.outer];
      const LayoutDim inner = now[merge.inner];
      whole.insert(whole.end(), inner.begin(), inner.end());
      now[merge.whole] = std::move(whole);
    } else if (node.op == ir::Op::Split) {
      const auto& split = node.as<ir::SplitAttr>();
      const LayoutDim whole = now[split.whole];
      if (whole.size() != 1) return std::nullopt;
      const std::int32_t part = std::max(whole[0].part, 0);
      for (auto& [axis, pieces] : now)
        for (LayoutPiece& piece : pieces)
          if (piece.dim == whole[0].dim && piece.part > part) ++piece.part;
      now[split.outer] = {{whole[0].dim, part}};
      now[split.inner] = {{whole[0].dim, part + 1}};
    } else if (node.op == ir::Op::Gather) {
      if (!graph[node.args[1]].axes.empty()) return std::nullopt;  // by an index tensor
    } else if (node.op != ir::Op::Broadcast && node.op != ir::Op::StopGradient) {
      return std::nullopt;
    }
  }
  Dims out;
  for (const AxisId axis : result.dims) {
    const auto found = axis == ir::kUnit ? now.end() : now.find(axis);
    out.push_back(found == now.end() ? LayoutDim{} : found->second);
  }
  return out;
}

// A dense base seen otherwise: its dimensions are numbered anew in its own order. What cannot be merged is copied.
std::optional<Dims> renumbered(const Dims& base, const Dims& views) {
  using Key = std::pair<std::int32_t, std::int32_t>;
  std::vector<std::vector<Key>> keys;
  std::vector<Key> all;
  for (const LayoutDim& view : views) {
    keys.emplace_back();
    for (const LayoutPiece& piece : view) {
      const LayoutDim& under = base[static_cast<std::size_t>(piece.dim)];
      if (under.empty()) continue;  // repeated, or of size one
      keys.back().push_back({under[0].dim, piece.part});
      all.push_back(keys.back().back());
    }
  }
  std::sort(all.begin(), all.end());
  std::set<Key> merged;  // into the one before them
  for (const std::vector<Key>& view : keys)
    for (std::size_t i = 1; i < view.size(); ++i) {
      const auto at = std::find(all.begin(), all.end(), view[i]);
      if (at == all.begin() || *(at - 1) != view[i - 1]) return std::nullopt;
      merged.insert(view[i]);
    }
  std::map<Key, std::int32_t> number;
  for (const Key& key : all)
    if (!merged.contains(key)) {
      const auto next = static_cast<std::int32_t>(number.size());
      number.emplace(key, next);
    }
  Dims out;
  for (const std::vector<Key>& view : keys) {
    out.emplace_back();
    if (!view.empty()) out.back().push_back({number.at(view[0])});
  }
  return out;
}

// The two dimensions of an input that were one, as one again.
bool join(LayoutDim& outer, const LayoutDim& inner) {
  if (outer.empty() && inner.empty()) return true;
  if (outer.size() != 1 || inner.size() != 1 || outer[0].dim != inner[0].dim || outer[0].part != 0 ||
      inner[0].part != 1)
    return false;
  outer = {{outer[0].dim}};
  return true;
}

// An input's dimensions seen otherwise; nothing where more than its strides would be needed to tell.
std::optional<Dims> composed(const ir::Graph& graph, const LayoutOperand& leaf, const TensorValue& operand,
                             const Dims& views) {
  const ir::Input& input = graph.inputs[static_cast<std::size_t>(std::stoi(leaf.input))];
  const auto is_whole = [&](std::int32_t at) {  // neither a part nor a slice
    const LayoutDim& dim = (*leaf.dims)[static_cast<std::size_t>(at)];
    return dim.size() == 1 && dim[0].part < 0 &&
           graph.axis(input.dims[static_cast<std::size_t>(dim[0].dim)]).size ==
               graph.axis(operand.dims[static_cast<std::size_t>(at)]).size;
  };
  Dims out;
  for (const LayoutDim& view : views) {
    LayoutDim& dim = out.emplace_back();
    for (const LayoutPiece& piece : view) {
      const LayoutDim& under = (*leaf.dims)[static_cast<std::size_t>(piece.dim)];
      if (under.empty()) continue;
      if (piece.part >= 0 && (under.size() != 1 || under[0].part >= 0)) return std::nullopt;
      if (view.size() == 1 && piece.part < 0) dim = under;
      if (view.size() == 1 && piece.part >= 0) dim = {{under[0].dim, piece.part}};
      if (view.size() == 1) continue;
      LayoutDim added = under;
      if (piece.part >= 0) added = {{under[0].dim, piece.part}};
      if (dim.size() == 1 && join(dim, added)) continue;
      const bool first = dim.empty();
      // The size of what comes further in must be the input's own.
      if (!first && !is_whole(piece.dim)) return std::nullopt;
      const bool innermost = added[0].part < 0 || added[0].part == 1;
      if (first && !innermost && view.size() > 2) return std::nullopt;
      dim.insert(dim.end(), added.begin(), added.end());
    }
    if (dim.size() > 1 && dim[0].part == 0) return std::nullopt;
  }
  return out;
}

MemoryOrder viewed(const ir::Graph& graph, const TensorValue& operand, const TensorValue& result);

// A tensor that was laid out like others, seen otherwise: the others are, each for itself.
MemoryOrder regrouped(const LayoutOperand& group, const Dims& views) {
  // Dimensions of the base in its own order, as the views cut and join them.
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> number;
  for (const LayoutDim& view : views) {
    for (const LayoutPiece& piece : view) {
      const LayoutDim& under = (*group.dims)[static_cast<std::size_t>(piece.dim)];
      if (!under.empty()) number[{under[0].dim, piece.part}] = 0;
    }
  }
  LayoutOperand out{group.base, {}, {}, Dims{}};
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> joined;  // to the one before
  for (const LayoutDim& view : views) {
    if (view.size() > 2) return unknown();
    if (view.size() < 2) continue;
    const LayoutDim& a = (*group.dims)[static_cast<std::size_t>(view[0].dim)];
    const LayoutDim& b = (*group.dims)[static_cast<std::size_t>(view[1].dim)];
    if (a.empty() || b.empty() || view[0].part >= 0 || view[1].part >= 0) return unknown();
    joined[{b[0].dim, -1}] = a[0].dim;
  }
  std::int32_t next = 0;
  for (auto& [key, at] : number) at = joined.contains(key) ? -1 : next++;
  for (const LayoutOperand& one : group.of) {
    LayoutOperand& seen = out.of.emplace_back(one);
    seen.dims = Dims(static_cast<std::size_t>(next));
    for (const auto& [key, at] : number) {
      LayoutDim dim = (*one.dims)[static_cast<std::size_t>(key.first)];
      if (key.second >= 0) {
        if (dim.size() > 1 || (!dim.empty() && dim[0].part >= 0)) return unknown();
        if (!dim.empty()) dim[0].part = key.second;
        if (one.base != Base::Input && !dim.empty()) return unknown();
      }
      if (at >= 0) {
        (*seen.dims)[static_cast<std::size_t>(at)] = dim;
        continue;
      }
      LayoutDim& outer = (*seen.dims)[static_cast<std::size_t>(number.at({joined.at(key), -1}))];
      if (!join(outer, dim)) return unknown();
    }
  }
  for (const LayoutDim& view : views) {
    out.dims->emplace_back();
    for (const LayoutPiece& piece : view) {
      const LayoutDim& under = (*group.dims)[static_cast<std::size_t>(piece.dim)];
      if (under.empty()) continue;
      const std::int32_t at = number.at({under[0].dim, piece.part});
      if (at >= 0) out.dims->back().push_back({at});
    }
  }
  return known(std::move(out));
}

MemoryOrder viewed(const ir::Graph& graph, const TensorValue& operand, const TensorValue& result) {
  const MemoryOrder order = order_of(graph, operand);
  if (order.is != MemoryOrder::Is::Known) return unknown();
  const std::optional<Dims> views = dims_before(graph, operand, result);
  if (!views) return unknown();
  LayoutOperand out = order.operand;
  switch (out.base) {
    case Base::Input: {
      auto dims = composed(graph, out, operand, *views);
      if (!dims) return unknown();
      out.dims = std::move(*dims);
      return known(std::move(out));
    }
    case Base::Contiguous: {
      auto dims = renumbered(*out.dims, *views);
      if (!dims) return contiguous(graph, result);
      out.dims = std::move(*dims);
      return known(std::move(out));
    }
    case Base::Pointwise:
      return regrouped(out, *views);
    case Base::Format:
      break;
  }
  out.dims = Dims{};
  for (const LayoutDim& view : *views) {
    if (view.size() > 1 || (!view.empty() && view[0].part >= 0)) return unknown();
    out.dims->push_back(view.empty() ? LayoutDim{} : (*order.operand.dims)[static_cast<std::size_t>(view[0].dim)]);
  }
  return known(std::move(out));
}

// Dense in the order of its dimensions, all of which it has.
bool is_contiguous(const ir::Graph& graph, const TensorValue& tensor) {
  const MemoryOrder order = order_of(graph, tensor);
  if (order.is != MemoryOrder::Is::Known || order.operand.base != Base::Contiguous) return false;
  std::int32_t last = -1;
  for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
    if (is_unit(graph, tensor.dims[d])) continue;
    const LayoutDim& dim = (*order.operand.dims)[d];
    if (dim.empty() || dim[0].dim <= last) return false;
    last = dim[0].dim;
  }
  return true;
}

// Channels-last has four dimensions or five.
bool may_be_channels_last(const TensorValue& tensor) { return tensor.dims.size() == 4 || tensor.dims.size() == 5; }

MemoryOrder formatted(const ir::Graph& graph, const std::vector<TensorValue>& operands, const TensorValue& result) {
  if (!may_be_channels_last(result)) return contiguous(graph, result);
  LayoutOperand out{Base::Format, {}, {}, as_they_are(graph, result.dims)};
  for (const TensorValue& operand : operands) {
    if (operand.dims.size() != result.dims.size()) continue;  // a weight
    const MemoryOrder order = order_of(graph, operand);
    if (order.is != MemoryOrder::Is::Known) return unknown();
    if (order.operand.base == Base::Contiguous && is_contiguous(graph, operand)) return contiguous(graph, result);
    if (std::find(out.of.begin(), out.of.end(), order.operand) == out.of.end()) out.of.push_back(order.operand);
  }
  return out.of.empty() ? contiguous(graph, result) : known(std::move(out));
}

MemoryOrder ordered(const ir::Graph& graph, MemoryRule rule, const std::vector<TensorValue>& operands,
                    const TensorValue& result) {
  const bool unchanged = !operands.empty() && operands[0].node == result.node && operands[0].dims == result.dims;
  switch (rule) {
    case MemoryRule::Inner:
      return result.order;
    case MemoryRule::Same:
      return operands.empty() ? unknown() : order_of(graph, operands[0]);
    case MemoryRule::Copy:
    case MemoryRule::Clone:
      if (operands.empty()) return unknown();
      if (unchanged && rule == MemoryRule::Copy) return order_of(graph, operands[0]);
      return pointwise(graph, {operands[0]}, result);
    case MemoryRule::Pointwise:
      return unchanged ? order_of(graph, operands[0]) : pointwise(graph, operands, result);
    case MemoryRule::Reshape:
      if (!operands.empty() && is_contiguous(graph, operands[0])) return contiguous(graph, result);
      [[fallthrough]];
    case MemoryRule::View:
      for (const TensorValue& operand : operands) {
        MemoryOrder order = viewed(graph, operand, result);
        if (order.is == MemoryOrder::Is::Known) return order;
      }
      return unknown();
    case MemoryRule::Contiguous:
      return contiguous(graph, result);
    case MemoryRule::Format:
      return formatted(graph, operands, result);
    case MemoryRule::Unknown:
      break;
  }
  return unknown();
}

// ---- as text ----

bool is_identity(const Dims& dims, std::size_t rank, std::size_t base_rank) {
  if (base_rank > rank || dims.size() != rank) return false;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t offset = rank - base_rank;
    if (dims[d].empty()) continue;
    if (dims[d].size() != 1 || dims[d][0].part >= 0 || d < offset ||
        static_cast<std::size_t>(dims[d][0].dim) != d - offset)
      return false;
  }
  return true;
}

LayoutOperand shortened(const ir::Graph& graph, LayoutOperand operand);

std::vector<LayoutOperand> shortened(const ir::Graph& graph, const std::vector<LayoutOperand>& operands) {
  std::vector<LayoutOperand> out;
  for (const LayoutOperand& operand : operands) out.push_back(shortened(graph, operand));
  return out;
}

// Without what goes without saying, and with names.
LayoutOperand shortened(const ir::Graph& graph, LayoutOperand operand) {
  const Dims dims = *operand.dims;
  const std::size_t seen = seen_dims(dims);
  if (operand.base == Base::Input) {
    const ir::Input& input = graph.inputs[static_cast<std::size_t>(std::stoi(operand.input))];
    operand.input = input.name;
    // A dimension that is repeated must show as one of the input's of size one, or as one that it lacks.
    bool plain = is_identity(dims, dims.size(), input.dims.size());
    for (std::size_t d = 0; d < dims.size() && plain; ++d) {
      const std::size_t offset = dims.size() - input.dims.size();
      if (dims[d].empty() && d >= offset) plain = is_unit(graph, input.dims[d - offset]);
    }
    if (plain) operand.dims.reset();
    return operand;
  }
  if (operand.base == Base::Contiguous) {
    if (seen == dims.size() && is_identity(dims, dims.size(), dims.size())) operand.dims.reset();
    return operand;
  }
  const std::size_t base_rank = operand.of.empty() ? 0 : operand.of[0].dims->size();
  if (is_identity(dims, dims.size(), base_rank) && base_rank == dims.size()) operand.dims.reset();
  operand.of = shortened(graph, operand.of);
  return operand;
}

}  // namespace

void order_result(const ir::Graph& graph, MemoryRule rule, const std::vector<TensorValue>& operands, Value& result) {
  if (auto* tensor = std::get_if<TensorValue>(&result.data)) {
    MemoryOrder order = ordered(graph, rule, operands, *tensor);
    // A tensor that may be a copy is not the operand itself, though it may share its memory.
    if (rule == MemoryRule::Contiguous) tensor->identity = 0;
    const bool fits = order.is != MemoryOrder::Is::Known || order.operand.dims->size() == tensor->dims.size();
    tensor->order = fits ? std::move(order) : unknown();
  }
  if (auto* sequence = std::get_if<SequenceValue>(&result.data))
    for (Value& item : sequence->items) order_result(graph, rule, operands, item);
}

ir::Layout layout_of(const ir::Graph& graph, const TensorValue& tensor) {
  if (seen_dims(as_they_are(graph, tensor.dims)) < 2 || is_contiguous(graph, tensor)) return {};
  const MemoryOrder order = order_of(graph, tensor);
  if (order.is != MemoryOrder::Is::Known) return {false, {}};
  LayoutOperand operand = shortened(graph, order.operand);
  if (operand.base == Base::Pointwise && !operand.dims) return {true, std::move(operand.of)};
  return {true, {std::move(operand)}};
}

}  // namespace kw::understand
