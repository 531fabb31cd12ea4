// gather, scatter, embeddings, segments: access along one dimension by an index tensor.
#include <algorithm>

#include "understand/torch/entry.h"
#include "understand/torch/index.h"
#include "understand/torch/views.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

Status require_integer(Call& call, const TensorValue& index) {
  if (type_of(call.builder, index).integer()) return {};
  return call.refuse("needs an integer tensor as its index, got " + describe(Value{index}, call.builder.graph()));
}

// The index (and the values that go with it) paired with the data's dimensions, except along the indexed one, which
// stays apart. A shorter index walks over the first elements of the data only.
struct Along {
  TensorValue data;  // cut to the index's extent in the other dimensions
  TensorValue index;
  AxisId axis = kUnit;  // of the data
  AxisId index_axis = kUnit;
};
Result<Along> pair_along(Call& call, TensorValue data, const TensorValue& index, size_t position, bool cut_data) {
  KW_CHECK(require_integer(call, index));
  if (index.dims.size() != data.dims.size())
    return call.refuse("needs an index of the input's rank, got shapes " + shape_text(call.builder.graph(), data) +
                       " and " + shape_text(call.builder.graph(), index));
  std::vector<AxisId> wanted(index.dims.size(), kUnit);
  for (size_t i = 0; i < data.dims.size(); ++i) {
    if (i == position) continue;
    const ir::Graph& graph = call.builder.graph();
    Size own = size_of_dim(graph, index.dims[i]), all = size_of_dim(graph, data.dims[i]);
    auto a = graph.hinted(own), b = graph.hinted(all);
    if (a && b && *a > *b)
      return call.refuse("has an index longer than the input: shapes " + shape_text(graph, data) + " and " +
                         shape_text(graph, index));
    if (own != all && a && b && *a < *b) {
      if (!cut_data) return call.refuse("with an index that covers only a part of the other dimensions is not read");
      KW_TRY(data, slice_dim(call.context, data, i, Size(0), own));
    }
    if (index.dims[i] != kUnit) wanted[i] = data.dims[i];
  }
  Along out;
  out.data = data;
  KW_TRY(out.index, rename_dims(call.context, index, wanted, data.dims));
  out.axis = data.dims[position];
  out.index_axis = out.index.dims[position];
  return out;
}

Result<Value> gather(Call& call) {
  KW_TRY(TensorValue data, call.tensor("input"));
  KW_TRY(TensorValue index, call.tensor("index"));
  KW_TRY(size_t position, call.dim("dim", data.dims.size()));
  if (data.dims.empty()) return Value{TensorValue{data.node, {}}};
  KW_TRY(Along along, pair_along(call, data, index, position, true));
  std::vector<AxisId> dims = along.data.dims;
  dims[position] = along.index_axis;
  NodeId node = along.data.node;
  if (along.axis != kUnit) node = call.make(Op::Gather, {node, along.index.node}, ir::AxisList{{along.axis}});
  return Value{expand_to(call.context, node, dims)};
}

Result<Value> index_select(Call& call) {
  KW_TRY(TensorValue data, call.tensor("input"));
  KW_TRY(TensorValue index, call.tensor("index"));
  KW_TRY(size_t position, call.dim_of("dim", data));
  KW_CHECK(require_integer(call, index));
  if (index.dims.size() != 1 || data.dims.empty()) return call.refuse("needs an index of rank 1");
  return Value{take(call.context, data, position, index)};
}

Result<Value> embedding(Call& call) {
  KW_TRY(TensorValue weight, call.tensor("weight"));
  KW_TRY(TensorValue index, call.tensor("input"));
  KW_CHECK(require_integer(call, index));
  if (weight.dims.size() != 2) return call.refuse("needs a weight of rank 2");
  if (call.has("max_norm") && call.given("max_norm"))
    return call.refuse("with max_norm changes its weight, which is not read");
  TensorValue out = take(call.context, weight, 0, index);
  if (!call.given("padding_idx")) return Value{out};
  // The row of the padding index takes no gradient.
  KW_TRY(Size padding, call.size("padding_idx"));
  auto known = call.builder.graph().hinted(padding);
  if (call.name.starts_with("aten.") || call.name == "torch.embedding") {
    if (known && *known < 0) return Value{out};  // there, a negative one means none
  } else if (known && *known < 0) {
    padding = padding + size_of_dim(call.builder.graph(), weight.dims[0]);
  }
  Expression rows = expression(call, out);
  TensorValue own = rename_apart(call.context, index, weight.dims);
  Expression is_padding =
      equals(expression(call, own), padding.constant() ? rows.integer(*padding.constant()) : rows.size(padding));
  return Value{TensorValue{select(is_padding, stop_gradient(rows), rows).node(), out.dims}};
}

enum class Scatter { Set, Add };

// scatter(input, dim, index, src): input with src written (or added) at index along dim.
Result<Value> scatter_along(Call& call, Scatter kind, const Value& source) {
  KW_TRY(TensorValue base, call.tensor("input"));
  KW_TRY(TensorValue index, call.tensor("index"));
  KW_TRY(size_t position, call.dim_of("dim", base));
  auto value = as_operand(call.builder, source);
  if (!value) return call.refuse("needs a tensor or a number as its source");
  if (base.dims.empty()) return call.refuse("needs tensors with dimensions");
  KW_TRY(Along along, pair_along(call, base, index, position, false));
  if (along.axis == kUnit || along.index_axis == kUnit) {
    // Give both a dimension that can be indexed.
    ir::GraphBuilder& b = call.builder;
    if (along.axis == kUnit) {
      along.axis = b.axis_like(kUnit, "slot", Size(1));
      along.data.node = b.broadcast(along.data.node, {along.axis});
    }
  }
  std::vector<AxisId> dims = along.data.dims;
  TensorValue spread = *value;
  if (!value->dims.empty()) {
    if (value->dims.size() != base.dims.size()) return call.refuse("needs a source of the input's rank");
    TensorValue cut{value->node, value->dims};
    for (size_t i = 0; i < cut.dims.size(); ++i) {  // a longer source is read as far as the index goes
      const ir::Graph& graph = call.builder.graph();
      Size own = size_of_dim(graph, cut.dims[i]), all = size_of_dim(graph, along.index.dims[i]);
      auto a = graph.hinted(own), b = graph.hinted(all);
      if (own != all && a && b && *a > *b) {
        KW_TRY(cut, slice_dim(call.context, cut, i, Size(0), all));
      }
    }
    KW_TRY(spread, rename_dims(call.context, cut, along.index.dims, along.data.dims));
  }
  Type type = type_of(call.builder, base);
  NodeId source_node = call.builder.cast(spread.node, type);
  KW_TRY(NodeId node,
         call.builder.try_make(kind == Scatter::Add ? Op::ScatterAdd : Op::ScatterSet,
                               {along.data.node, along.index.node, source_node}, ir::AxisList{{along.axis}}));
  TensorValue out{call.builder.cast(node, type), dims};
  if (base.dims[position] == kUnit) {
    out.node = call.make(Op::Gather, {out.node, call.builder.integer(0)}, ir::AxisList{{along.axis}});
  }
  return Value{out};
}

Result<Value> scatter(Call& call) {
  if (call.given("reduce")) {
    KW_TRY(size_t mode, call.choice("reduce", {"add", "multiply"}));
    if (mode == 1) return call.refuse("with reduce='multiply' is not read");
    return scatter_along(call, Scatter::Add, call.given("src") ? call["src"] : call["value"]);
  }
  return scatter_along(call, Scatter::Set, call.given("src") ? call["src"] : call["value"]);
}
Result<Value> scatter_add(Call& call) { return scatter_along(call, Scatter::Add, call["src"]); }

Result<Value> scatter_reduce(Call& call) {
  KW_TRY(size_t mode, call.choice("reduce", {"sum"}));
  KW_TRY(bool include_self, call.boolean("include_self"));
  if (mode != 0 || !include_self) return call.refuse("is read with reduce='sum' and include_self=True");
  return scatter_along(call, Scatter::Add, call["src"]);
}

// index_add(input, dim, index, source): whole slices, at an index of rank 1.
template <bool add>
Result<Value> index_write(Call& call) {
  KW_TRY(TensorValue base, call.tensor("input"));
  KW_TRY(TensorValue index, call.tensor("index"));
  KW_TRY(TensorValue source, call.tensor("source"));
  KW_TRY(size_t position, call.dim_of("dim", base));
  KW_CHECK(require_integer(call, index));
  if (index.dims.size() != 1 || base.dims.empty() || base.dims[position] == kUnit ||
      source.dims.size() != base.dims.size())
    return call.refuse("needs an index of rank 1 and a source of the input's rank");
  TensorValue own = rename_apart(call.context, index, base.dims);
  std::vector<AxisId> wanted = base.dims;
  wanted[position] = own.dims[0];
  KW_TRY(TensorValue value, rename_dims(call.context, source, wanted, base.dims));
  NodeId node = call.builder.cast(value.node, type_of(call.builder, base));
  if (add && call.has("alpha") && known_number(call.builder.graph(), call["alpha"]) != 1.0) {
    KW_TRY(TensorValue alpha, call.scalar("alpha"));
    node = call.make(Op::Mul, {node, alpha.node});
  }
  KW_TRY(NodeId out, call.builder.try_make(add ? Op::ScatterAdd : Op::ScatterSet, {base.node, own.node, node},
                                           ir::AxisList{{base.dims[position]}}));
  return Value{TensorValue{out, base.dims}};
}

Result<Value> one_hot(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_CHECK(require_integer(call, x));
  KW_TRY(Size classes, call.size("num_classes"));
  if (classes == Size(-1)) return call.refuse("without num_classes has a size that depends on data, which is not read");
  AxisId axis = new_dim(call.context, x.dims, "classes", classes);
  Expression positions(call.context, positions_along(call.builder, axis));
  TensorValue out{equals(expression(call, x), positions).as(Type(DType::I64)).node(), x.dims};
  out.dims.push_back(axis);
  return Value{out};
}

Result<Value> masked_select(Call& call) {
  return call.refuse("gives a tensor whose size depends on data, which is not read", "use torch.where or masked_fill");
}

// Runs of rows given by their offsets, or by their lengths.
Result<Value> segment_reduce(Call& call) {
  KW_TRY(TensorValue data, call.tensor("data"));
  KW_TRY(size_t mode, call.choice("reduce", {"sum", "mean", "max", "min"}));
  KW_TRY(int64_t dimension, call.integer("axis"));
  if (dimension != 0 || data.dims.empty() || data.dims[0] == kUnit)
    return call.refuse("is read along the first dimension");
  if (call.given("initial")) return call.refuse("with an initial value is not read");
  if (call.given("indices")) return call.refuse("is read with offsets or lengths");
  KW_TRY(auto offsets, call.optional_tensor("offsets"));
  KW_TRY(auto lengths, call.optional_tensor("lengths"));
  if (offsets.has_value() == lengths.has_value()) return call.refuse("needs either offsets or lengths");
  ir::GraphBuilder& b = call.builder;
  if (lengths) {  // offsets are 0 and the running sums
    if (lengths->dims.size() != 1 || lengths->dims[0] == kUnit) return call.refuse("is read with lengths of rank 1");
    AxisId runs = lengths->dims[0];
    NodeId ends = b.make(Op::CumSum, {b.cast(lengths->node, Type(DType::I64))}, ir::ScanAttr{runs});
    AxisId bounds = b.axis_like(runs, "bounds", b.graph().axis(runs).size + Size(1));
    offsets = TensorValue{b.make(Op::Pad, {ends, b.integer(0)}, ir::SliceAttr{runs, bounds, Size(1), 1}), {bounds}};
  }
  KW_CHECK(require_integer(call, *offsets));
  if (offsets->dims.size() != 1 || offsets->dims[0] == kUnit) return call.refuse("is read with offsets of rank 1");
  TensorValue own = rename_apart(call.context, *offsets, data.dims);
  AxisId bounds = own.dims[0];
  AxisId segments = b.axis_like(bounds, "segments", b.graph().axis(bounds).size - Size(1));
  ir::SegmentAttr attr{data.dims[0], segments, bounds};
  std::vector<AxisId> dims = data.dims;
  dims[0] = segments;
  Type type = type_of(b, data);
  constexpr Op kOps[] = {Op::SegmentSum, Op::SegmentSum, Op::SegmentMax, Op::SegmentMin};
  NodeId source = mode == 1 ? b.cast(data.node, opmath(type)) : data.node;
  KW_TRY(NodeId node, b.try_make(kOps[mode], {source, own.node}, attr));
  if (mode == 1) {
    // The mean of an empty run is 0/0.
    NodeId after = b.make(Op::Slice, {own.node}, ir::SliceAttr{bounds, segments, Size(1), 1});
    NodeId before = b.make(Op::Slice, {own.node}, ir::SliceAttr{bounds, segments, Size(0), 1});
    Expression count = (Expression(call.context, after) - Expression(call.context, before)).as(opmath(type));
    node = (Expression(call.context, node) / count).as(type).node();
  }
  return Value{TensorValue{node, dims}};
}

constexpr Entry kEntries[] = {
    {"gather", kTensor, "input, dim, index, *, sparse_grad=False", gather},
    {"take_along_dim", kTensor, "input, index, dim", gather},
    {"index_select", kTensor, "input, dim, index", index_select},
    {"embedding", kFunctional,
     "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False",
     embedding},
    {"embedding", kTorch | kAten, "weight, input, padding_idx=-1, scale_grad_by_freq=False, sparse=False", embedding},
    {"scatter", kTensor, "input, dim, index, src=None, *, value=None, reduce=None", scatter},
    {"scatter_add", kTensor, "input, dim, index, src", scatter_add},
    {"scatter_reduce", kTensor, "input, dim, index, src, reduce, *, include_self=True", scatter_reduce},
    {"index_add", kTensor, "input, dim, index, source, *, alpha=1", index_write<true>},
    {"index_copy", kTensor, "input, dim, index, source", index_write<false>},
    {"one_hot", kFunctional | kAten, "input, num_classes=-1", one_hot},
    {"masked_select", kTensor, "input, mask", masked_select},
    {"nonzero", kTensor, "input", masked_select},
    {"segment_reduce", kTorch | kAten,
     "data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None", segment_reduce},
};

}  // namespace

std::span<const Entry> indexing_entries() { return kEntries; }

}  // namespace kw::understand
