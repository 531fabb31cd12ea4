// x[…]: Python's indexing of tensors, read and assigned.
#include <algorithm>

#include "understand/torch/entry.h"
#include "understand/torch/index.h"
#include "understand/torch/views.h"

namespace kw::understand {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

TensorValue take(TorchContext& context, const TensorValue& data, size_t position, const TensorValue& index) {
  TensorValue own = rename_apart(context, index, data.dims);
  TensorValue out{data.node, data.dims};
  AxisId axis = out.dims[position];
  out.dims.erase(out.dims.begin() + static_cast<std::ptrdiff_t>(position));
  out.dims.insert(out.dims.begin() + static_cast<std::ptrdiff_t>(position), own.dims.begin(), own.dims.end());
  if (axis == kUnit) {  // every valid index is 0
    std::vector<AxisId> added;
    for (AxisId a : own.dims)
      if (a != kUnit) added.push_back(a);
    out.node = context.builder.broadcast(data.node, added);
  } else {
    out.node = context.builder.make(Op::Gather, {data.node, own.node}, ir::AxisList{{axis}});
  }
  return out;
}

NodeId positions_along(ir::GraphBuilder& builder, AxisId axis) {
  if (axis == kUnit) return builder.cast(builder.integer(0), Type(DType::I64));
  return builder.make(Op::Iota, {}, ir::AxisList{{axis}});
}

namespace {

bool is_index_tensor(const Value& item) { return item.is_tensor() || item.get<SequenceValue>(); }

// How many dimensions of x an item consumes.
size_t consumed(const Value& item) { return item.is_none() || item.get<EllipsisValue>() ? 0 : 1; }

// Spells out the ellipsis and the dimensions that are not named.
Result<std::vector<Value>> full_index(const ir::Graph& graph, const TensorValue& x, const std::vector<Value>& items) {
  size_t named = 0;
  bool open = false;
  for (const Value& item : items) {
    named += consumed(item);
    if (item.get<bool>()) return bad_input("indexing by a bool is not read");
    if (item.get<EllipsisValue>()) {
      if (open) return bad_input("an index can have one ellipsis only");
      open = true;
    }
  }
  if (named > x.dims.size()) return bad_input("too many indices for a tensor of shape " + shape_text(graph, x));
  std::vector<Value> out;
  Value everything{SliceValue{}};
  for (const Value& item : items) {
    if (item.get<EllipsisValue>()) {
      out.insert(out.end(), x.dims.size() - named, everything);
    } else {
      out.push_back(item);
    }
  }
  if (!open) out.insert(out.end(), x.dims.size() - named, everything);
  return out;
}

Result<std::optional<Size>> slice_end(const ir::Graph& graph, const std::shared_ptr<Value>& end) {
  if (!end || end->is_none()) return std::optional<Size>{};
  if (const auto* s = end->get<Size>()) return std::optional<Size>(*s);
  if (const auto* b = end->get<bool>()) return std::optional<Size>(Size(*b ? 1 : 0));
  return bad_input("a slice needs ints, got " + describe(*end, graph));
}

struct SliceRange {
  std::optional<Size> start, stop;
  int64_t step = 1;
};
Result<SliceRange> slice_range(TorchContext& context, const SliceValue& slice) {
  SliceRange out;
  KW_TRY(out.start, slice_end(context.builder.graph(), slice.start));
  KW_TRY(out.stop, slice_end(context.builder.graph(), slice.stop));
  KW_TRY(std::optional<Size> step, slice_end(context.builder.graph(), slice.step));
  if (step) {
    KW_TRY(out.step, require_fixed(context, *step));
  }
  return out;
}

// A list of ints as an index tensor.
Result<TensorValue> index_of(TorchContext& context, const Value& item) {
  if (const auto* t = item.get<TensorValue>()) {
    Type type = context.builder[t->node].type;
    if (type.boolean())
      return bad_input("indexing by a mask gives a size that depends on data, which is not read", {},
                       "use torch.where or masked_fill");
    if (!type.integer()) return bad_input("an index is an integer tensor");
    return *t;
  }
  KW_TRY(Value tensor, call_torch(context, "torch.tensor", {{item}, {}}));
  return index_of(context, tensor);
}

}  // namespace

Result<TensorValue> index_tensor(TorchContext& context, const TensorValue& x, const std::vector<Value>& items) {
  KW_TRY(std::vector<Value> full, full_index(context.builder.graph(), x, items));
  TensorValue out{x.node, x.dims};
  // Views first; index tensors are remembered with the dimension that they index.
  std::vector<std::pair<size_t, TensorValue>> indexed;
  size_t position = 0;
  bool gap = false;
  for (const Value& item : full) {
    if (item.is_none()) {
      out = unsqueeze(out, position++);
    } else if (const auto* index = item.get<Size>()) {
      KW_TRY(out, select_dim(context, out, position, *index));
    } else if (const auto* slice = item.get<SliceValue>()) {
      KW_TRY(SliceRange range, slice_range(context, *slice));
      KW_TRY(out, python_slice(context, out, position++, range.start, range.stop, range.step));
    } else if (is_index_tensor(item)) {
      KW_TRY(TensorValue tensor, index_of(context, item));
      if (!indexed.empty() && indexed.back().first + 1 != position) gap = true;
      indexed.emplace_back(position++, std::move(tensor));
    } else {
      return bad_input("cannot index by " + describe(item, context.builder.graph()));
    }
  }
  if (indexed.empty()) return out;
  if (indexed.size() == 1) return take(context, out, indexed[0].first, indexed[0].second);
  // Several indices broadcast together and walk in step. Their dimensions stand where the first index was, or in front
  // if the indices are not side by side.
  std::vector<TensorValue> tensors;
  for (auto& [at, tensor] : indexed) tensors.push_back(rename_apart(context, tensor, out.dims));
  KW_TRY(Broadcasted common, broadcast_together(context, tensors));
  std::vector<AxisId> added, kept;
  for (AxisId a : common.dims)
    if (a != kUnit) added.push_back(a);
  NodeId node = out.node;
  for (size_t i = 0; i < indexed.size(); ++i) {
    AxisId axis = out.dims[indexed[i].first];
    if (axis != kUnit) node = context.builder.make(Op::Gather, {node, common.nodes[i]}, ir::AxisList{{axis}});
  }
  node = context.builder.broadcast(node, added);
  size_t first = gap ? 0 : indexed[0].first;
  for (size_t i = 0; i < out.dims.size(); ++i) {
    bool is_indexed = std::any_of(indexed.begin(), indexed.end(), [&](const auto& e) { return e.first == i; });
    if (!is_indexed) kept.push_back(out.dims[i]);
  }
  kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(std::min(first, kept.size())), common.dims.begin(),
              common.dims.end());
  return TensorValue{node, kept};
}

// Every element asks whether the assignment covers it and, if so, where its value comes from.
Result<TensorValue> assign_index(TorchContext& context, const TensorValue& x, const std::vector<Value>& items,
                                 const TensorValue& value) {
  ir::GraphBuilder& builder = context.builder;
  Type type = builder[x.node].type;
  // x[mask] = number
  if (items.size() == 1 && items[0].is_tensor() && builder[items[0].get<TensorValue>()->node].type.boolean()) {
    const TensorValue& mask = *items[0].get<TensorValue>();
    if (!value.dims.empty()) return bad_input("assigning through a mask is read for one number only");
    TensorValue aligned{mask.node, mask.dims};
    if (aligned.dims.size() > x.dims.size()) return bad_input("the mask has more dimensions than the tensor");
    aligned.dims.insert(aligned.dims.end(), x.dims.size() - aligned.dims.size(), kUnit);
    KW_TRY(Broadcasted common, broadcast_together(context, {x, aligned}));
    KW_TRY(NodeId node,
           builder.try_make(Op::Select, {common.nodes[1], builder.cast(value.node, type), common.nodes[0]}));
    return TensorValue{builder.cast(node, type), x.dims};
  }
  KW_TRY(std::vector<Value> full, full_index(builder.graph(), x, items));
  KW_TRY(TensorValue part, index_tensor(context, x, items));
  for (AxisId axis : part.dims)
    if (builder.graph().hinted(size_of_dim(builder.graph(), axis)) == 0) return TensorValue{x.node, x.dims};  // nothing
  KW_TRY(TensorValue spread, expand_like(context, value, part.dims));
  NodeId source = builder.cast(spread.node, type);
  NodeId covered = ir::kNoNode;
  // Each dimension that is cut maps positions of x to positions of the part.
  size_t position = 0, part_position = 0;
  for (const Value& item : full) {
    if (item.is_none()) {
      ++part_position;
      continue;
    }
    AxisId axis = x.dims[position];
    if (is_index_tensor(item)) return bad_input("assigning through an index tensor is not read", {}, "use scatter");
    const Size size = size_of_dim(builder.graph(), axis);
    Size start(0);
    int64_t step = 1;
    Size length = size;
    bool whole = false;
    if (const auto* index = item.get<Size>()) {
      auto hint = builder.graph().hinted(*index);
      start = hint && *hint < 0 ? size + *index : *index;
      length = Size(1);
    } else {
      KW_TRY(SliceRange range, slice_range(context, *item.get<SliceValue>()));
      AxisId to = part.dims[part_position];
      length = size_of_dim(builder.graph(), to);
      step = range.step;
      whole = to == axis;
      if (range.start) {
        auto hint = builder.graph().hinted(*range.start);
        start = hint && *hint < 0 ? size + *range.start : *range.start;
      }
    }
    if (!whole && axis != kUnit) {
      Expression at(context, positions_along(builder, axis));
      Expression offset = start == Size(0) ? at : at - at.size(start);
      Expression inside = less_equal(at.integer(0), offset) && less(offset, at.size(length * Size(step)));
      Expression index = offset;
      if (step != 1) {
        inside = inside && equals(offset.apply(Op::Mod, at.integer(step)), at.integer(0));
        index = offset.apply(Op::FloorDiv, at.integer(step));
      }
      covered = covered == ir::kNoNode ? inside.node() : (Expression(context, covered) && inside).node();
      AxisId from = item.get<Size>() ? kUnit : part.dims[part_position];
      if (from != kUnit) {
        Expression safe = select(inside, index, at.integer(0));
        source = builder.make(Op::Gather, {source, safe.node()}, ir::AxisList{{from}});
      }
    }
    ++position;
    if (!item.get<Size>()) ++part_position;
  }
  if (covered == ir::kNoNode) return expand_to(context, source, x.dims);
  return expand_to(context, builder.make(Op::Select, {covered, source, x.node}), x.dims);
}

namespace {

std::vector<Value> items_of(const Value& index) {
  const auto* sequence = index.get<SequenceValue>();
  if (sequence && sequence->is_tuple) return sequence->items;
  return {index};
}

Result<Value> get_item(Call& call) {
  if (const auto* sequence = call["input"].get<SequenceValue>()) {
    KW_TRY(int64_t index, call.integer("index"));
    int64_t n = static_cast<int64_t>(sequence->items.size());
    if (index < -n || index >= n) return call.refuse("has no item " + std::to_string(index));
    return sequence->items[static_cast<size_t>(index < 0 ? index + n : index)];
  }
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue out, index_tensor(call.context, x, items_of(call["index"])));
  return Value{out};
}

Result<Value> set_item(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  auto value = as_operand(call.builder, call["value"]);
  if (!value) return call.wrong("value", "a tensor or a number");
  KW_TRY(TensorValue out, assign_index(call.context, x, items_of(call["index"]), *value));
  return Value{out};
}

// aten.index(x, [None, i, …]): None stands for a whole dimension.
Result<Value> aten_index(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  const auto* sequence = call["indices"].get<SequenceValue>();
  if (!sequence) return call.wrong("indices", "a list of tensors");
  std::vector<Value> items;
  for (const Value& item : sequence->items) items.push_back(item.is_none() ? Value{SliceValue{}} : item);
  KW_TRY(TensorValue out, index_tensor(call.context, x, items));
  return Value{out};
}

constexpr Entry kEntries[] = {
    {"getitem", kOperator, "input, index", get_item},
    {"setitem", kOperator, "input, index, value", set_item},
    {"index", kAten, "input, indices", aten_index},
};

}  // namespace

std::span<const Entry> subscript_entries() { return kEntries; }

}  // namespace kw::understand
