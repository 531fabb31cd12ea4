#include "understand/torch/reshape.h"

#include <algorithm>

#include "base/text.h"
#include "understand/torch/entry.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::SplitAttr;

void erase_dims(TensorValue& x, size_t begin, size_t end) {
  x.dims.erase(x.dims.begin() + static_cast<std::ptrdiff_t>(begin), x.dims.begin() + static_cast<std::ptrdiff_t>(end));
}

void insert_dims(TensorValue& x, size_t position, const std::vector<AxisId>& dims) {
  x.dims.insert(x.dims.begin() + static_cast<std::ptrdiff_t>(position), dims.begin(), dims.end());
}

Size product(const std::vector<Size>& sizes, size_t begin, size_t end) {
  Size out(1);
  for (size_t i = begin; i < end; ++i) out = out * sizes[i];
  return out;
}

std::string sizes_text(const ir::Graph& graph, const std::vector<Size>& sizes) {
  std::vector<std::string> parts;
  for (const Size& s : sizes) parts.push_back(graph.size_text(s));
  return "[" + join(parts, ", ") + "]";
}

// Is `larger` a proper multiple of `smaller`, whatever the symbols are?
bool is_multiple(const Size& larger, const Size& smaller) {
  if (smaller == Size(0) || larger == smaller) return false;
  Size quotient = floor_div(larger, smaller);
  return quotient * smaller == larger && !(quotient == Size(0));
}

enum class Order { Equal, Less, Greater, Unknown };

Order compare(const ir::Graph& graph, const Size& a, const Size& b) {
  if (a == b) return Order::Equal;
  if (is_multiple(b, a)) return Order::Less;
  if (is_multiple(a, b)) return Order::Greater;
  auto x = graph.hinted(a), y = graph.hinted(b);
  if (!x || !y) return Order::Unknown;
  return *x == *y ? Order::Equal : *x < *y ? Order::Less : Order::Greater;
}

Failure does_not_fit(const ir::Graph& graph, const TensorValue& x, const std::vector<Size>& sizes) {
  return bad_input("a tensor of shape " + shape_text(graph, x) + " cannot be viewed as " + sizes_text(graph, sizes));
}

Status infer_minus_one(TorchContext& context, const TensorValue& x, std::vector<Size>& sizes) {
  auto open = std::find(sizes.begin(), sizes.end(), Size(-1));
  if (open == sizes.end()) return {};
  if (std::find(open + 1, sizes.end(), Size(-1)) != sizes.end()) return bad_input("only one size can be -1");
  // Sizes that stand on both sides cancel.
  std::vector<Size> old = shape_of(context.builder.graph(), x), given;
  for (const Size& size : sizes) {
    if (size == Size(-1)) continue;
    auto same = std::find(old.begin(), old.end(), size);
    if (same != old.end()) {
      old.erase(same);
    } else {
      given.push_back(size);
    }
  }
  Size total = product(old, 0, old.size()), known = product(given, 0, given.size());
  if (known == Size(0)) return bad_input("a size of -1 cannot be inferred beside a size of 0");
  *open = floor_div(total, known);
  if (*open * known != total) {
    auto t = context.builder.graph().hinted(total), k = context.builder.graph().hinted(known);
    if (t && k && (*k == 0 || *t % *k != 0)) {
      *open = Size(-1);
      return does_not_fit(context.builder.graph(), x, sizes);
    }
    context.builder.constrain({ir::SizeConstraint::Kind::Divisible, total, known});
  }
  return {};
}

}  // namespace

TensorValue merge_dims(TorchContext& context, const TensorValue& x, size_t position) {
  AxisId outer = x.dims[position], inner = x.dims[position + 1];
  TensorValue out{x.node, x.dims};
  erase_dims(out, position, position + 2);
  if (outer == kUnit || inner == kUnit) {
    insert_dims(out, position, {outer == kUnit ? inner : outer});
    return out;
  }
  AxisId whole;
  auto known = context.merged_axes.find({outer, inner});
  if (known != context.merged_axes.end()) {
    whole = known->second;
  } else {
    const ir::Graph& graph = context.builder.graph();
    Size size = graph.axis(outer).size * graph.axis(inner).size;
    whole = context.builder.axis_like(outer, "merged with " + std::to_string(inner), size);
    context.merged_axes[{outer, inner}] = whole;
    context.split_axes[{whole, graph.axis(inner).size}] = {outer, inner};
  }
  out.node = context.builder.make(Op::Merge, {x.node}, SplitAttr{whole, outer, inner});
  insert_dims(out, position, {whole});
  return out;
}

Result<TensorValue> split_dim(TorchContext& context, const TensorValue& x, size_t position, const Size& outer_size,
                              const Size& inner_size) {
  AxisId whole = x.dims[position];
  TensorValue out{x.node, x.dims};
  erase_dims(out, position, position + 1);
  if (outer_size == Size(1) || inner_size == Size(1)) {
    bool outer_is_one = outer_size == Size(1);
    insert_dims(out, position, outer_is_one ? std::vector<AxisId>{kUnit, whole} : std::vector<AxisId>{whole, kUnit});
    return out;
  }
  ir::GraphBuilder& builder = context.builder;
  const Size whole_size = builder.graph().axis(whole).size;
  auto known = context.split_axes.find({whole, inner_size});
  if (known == context.split_axes.end()) {
    AxisId outer = builder.axis_like(whole, "outer of " + builder.graph().size_text(inner_size), outer_size);
    AxisId inner = builder.axis_like(whole, "inner", inner_size);
    known = context.split_axes.emplace(std::pair{whole, inner_size}, std::pair{outer, inner}).first;
    context.merged_axes[{outer, inner}] = whole;
  }
  auto [outer, inner] = known->second;
  KW_TRY(out.node, builder.try_make(Op::Split, {x.node}, SplitAttr{whole, outer, inner}));
  insert_dims(out, position, {outer, inner});
  return out;
}

Result<TensorValue> flatten(TorchContext& context, const TensorValue& x, size_t begin, size_t end) {
  TensorValue out{x.node, x.dims};
  if (begin >= end) {
    insert_dims(out, begin, {kUnit});
    return out;
  }
  for (size_t i = begin + 1; i < end; ++i) out = merge_dims(context, out, begin);
  return out;
}

Result<TensorValue> reshape(TorchContext& context, const TensorValue& x, std::vector<Size> sizes) {
  KW_CHECK(infer_minus_one(context, x, sizes));
  const ir::Graph& graph = context.builder.graph();
  TensorValue out{x.node, {}};
  for (AxisId axis : x.dims)
    if (axis != kUnit) out.dims.push_back(axis);
  std::vector<Size> old = shape_of(graph, out);
  std::vector<Size> wanted;  // sizes that are not one
  for (const Size& s : sizes)
    if (s != Size(1)) wanted.push_back(s);

  size_t i = 0, j = 0, position = 0;  // next old and new dimension; where the group begins in out.dims
  while (i < old.size() && j < wanted.size()) {
    size_t i_end = i + 1, j_end = j + 1;
    Size left = old[i], right = wanted[j];
    for (;;) {
      Order order = compare(graph, left, right);
      if (order == Order::Equal) break;
      if (order == Order::Unknown)
        return bad_input("cannot decide how " + shape_text(graph, x) + " is viewed as " + sizes_text(graph, sizes), {},
                         "give the sizes, or spell the view with sizes of its input");
      if (order == Order::Less && i_end < old.size())
        left = left * old[i_end++];
      else if (order == Order::Greater && j_end < wanted.size())
        right = right * wanted[j_end++];
      else
        return does_not_fit(graph, x, sizes);
    }
    // Sizes that are equal only by their hints become one. A split that leaves a remainder open states that there is
    // none.
    bool split_by_quotient = i_end - i == 1 && j_end - j > 1;
    if (left != right) {
      bool stated = false;
      for (size_t k = j; split_by_quotient && k < j_end; ++k) {
        Size rest = floor_div(right, wanted[k]);
        if (wanted[k] != floor_div(left, rest) || rest * wanted[k] != right) continue;
        context.builder.constrain({ir::SizeConstraint::Kind::Divisible, left, rest});
        stated = true;
        break;
      }
      if (!stated) KW_CHECK(require_same_size(context, left, right));
    }
    for (size_t k = i + 1; k < i_end; ++k) out = merge_dims(context, out, position);
    for (size_t k = j; k + 1 < j_end; ++k, ++position) {
      KW_TRY(out, split_dim(context, out, position, wanted[k], product(wanted, k + 1, j_end)));
    }
    ++position;
    i = i_end;
    j = j_end;
  }
  // What is left on one side can only be sizes of one.
  for (; i < old.size(); ++i) {
    auto hint = graph.hinted(old[i]);
    if (!hint || *hint != 1) return does_not_fit(graph, x, sizes);
    KW_CHECK(require_same_size(context, old[i], Size(1)));
    return does_not_fit(graph, x, sizes);
  }
  if (j < wanted.size()) return does_not_fit(graph, x, sizes);
  std::vector<AxisId> dims;
  size_t next = 0;
  for (const Size& s : sizes) dims.push_back(s == Size(1) ? kUnit : out.dims[next++]);
  out.dims = std::move(dims);
  return out;
}

Result<TensorValue> unflatten(TorchContext& context, const TensorValue& x, size_t position, std::vector<Size> sizes) {
  TensorValue one{x.node, {x.dims[position]}};
  KW_CHECK(infer_minus_one(context, one, sizes));
  std::vector<Size> all = shape_of(context.builder.graph(), x);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(position));
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(position), sizes.begin(), sizes.end());
  return reshape(context, x, std::move(all));
}

namespace {

Result<Value> view(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  if (const auto* items = call["shape"].get<SequenceValue>(); items && items->items.size() == 1) {
    if (const auto* d = items->items[0].get<DTypeValue>(); d && d->type == call.builder[x.node].type) return Value{x};
    if (items->items[0].get<DTypeValue>()) return call.refuse("as another dtype reinterprets bits, which is not read");
  }
  KW_TRY(std::vector<Size> sizes, call.sizes("shape"));
  KW_TRY(TensorValue out, reshape(call.context, x, std::move(sizes)));
  return Value{out};
}

Result<Value> view_as(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue other, call.tensor("other"));
  KW_TRY(TensorValue out, reshape(call.context, x, shape_of(call.builder.graph(), other)));
  return Value{out};
}

Result<Value> read_flatten(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t begin, call.dim("start_dim", x.dims.size()));
  KW_TRY(size_t last, call.dim("end_dim", x.dims.size()));
  if (last < begin) return call.refuse("needs start_dim before end_dim");
  KW_TRY(TensorValue out, flatten(call.context, x, begin, x.dims.empty() ? 0 : last + 1));
  return Value{out};
}

Result<Value> read_unflatten(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  if (x.dims.empty()) return call.refuse("needs a tensor with dimensions");
  KW_TRY(std::vector<Size> sizes, call.sizes("sizes"));
  KW_TRY(TensorValue out, unflatten(call.context, x, position, std::move(sizes)));
  return Value{out};
}

constexpr Entry kEntries[] = {
    {"view", kMethod | kAten, "input, *shape", view},
    {"reshape", kMethod | kAten, "input, *shape", view},
    {"reshape", kTorch, "input, shape", view},
    {"_unsafe_view", kAten, "input, *shape", view},
    {"view_as", kMethod | kAten, "input, other", view_as},
    {"reshape_as", kMethod | kAten, "input, other", view_as},
    {"flatten", kTensor, "input, start_dim=0, end_dim=-1", read_flatten},
    {"ravel", kTensor, "input, start_dim=0, end_dim=-1", read_flatten},
    {"unflatten", kTensor, "input, dim, sizes", read_unflatten},
};

}  // namespace

std::span<const Entry> reshape_entries() { return kEntries; }

}  // namespace kw::understand
