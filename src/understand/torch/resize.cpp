// Views that enlarge or rearrange: padding, nearest-neighbour upsampling, pixel shuffles, halves of gated units,
// unfolding.
#include <algorithm>
#include <cmath>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"
#include "understand/torch/reshape.h"
#include "understand/torch/views.h"
#include "understand/torch/window.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

Result<TensorValue> pad_constant(Call& call, TensorValue x, size_t position, const Size& before, const Size& after,
                                 NodeId fill) {
  const ir::Graph& graph = call.builder.graph();
  auto front = graph.hinted(before), back = graph.hinted(after);
  if (!front || !back) return call.refuse("needs amounts that are known");
  // A negative amount cuts.
  if (*front < 0 || *back < 0) {
    Size start = *front < 0 ? Size(0) - before : Size(0), end = *back < 0 ? Size(0) - after : Size(0);
    Size size = size_of_dim(graph, x.dims[position]);
    KW_TRY(x, slice_dim(call.context, x, position, start, size - start - end));
  }
  Size add_front = *front > 0 ? before : Size(0), add_back = *back > 0 ? after : Size(0);
  if (add_front == Size(0) && add_back == Size(0)) return x;
  x = with_axis(call.context, x, position, "point" + std::to_string(position));
  AxisId axis = x.dims[position];
  std::string key = "padded " + graph.size_text(add_front);
  AxisId to = call.builder.axis_like(axis, key, graph.axis(axis).size + add_front + add_back);
  TensorValue out{x.node, x.dims};
  out.dims[position] = to;
  KW_TRY(out.node, call.builder.try_make(Op::Pad, {x.node, fill}, ir::SliceAttr{axis, to, add_front, 1}));
  return out;
}

// What stands beyond the edge repeats the tensor: mirrored without its edge, the edge itself, or from the other side.
Result<TensorValue> pad_repeating(Call& call, const TensorValue& x, size_t position, int64_t before, int64_t after,
                                  size_t mode) {
  Size size = size_of_dim(call.builder.graph(), x.dims[position]);
  std::vector<TensorValue> parts;
  auto edge = [&](int64_t amount, bool front) -> Status {
    if (amount < 0) return call.refuse("cuts with negative amounts in mode 'constant' only");
    if (amount == 0) return {};
    TensorValue part = x;
    if (mode == 2) {  // replicate
      KW_TRY(part, slice_dim(call.context, x, position, front ? Size(0) : size - Size(1), Size(1)));
      part = repeat_unit(call.context, part, position, Size(amount));
    } else if (mode == 3) {  // circular
      KW_TRY(part, slice_dim(call.context, x, position, front ? size - Size(amount) : Size(0), Size(amount)));
    } else {
      Size start = front ? Size(1) : size - Size(1) - Size(amount);
      KW_TRY(part, slice_dim(call.context, x, position, start, Size(amount)));
      KW_TRY(part, flip_dim(call.context, part, position));
    }
    parts.push_back(part);
    return {};
  };
  KW_CHECK(edge(before, true));
  parts.push_back(x);
  KW_CHECK(edge(after, false));
  if (parts.size() == 1) return x;
  return concatenate(call.context, parts, position);
}

Result<Value> pad(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::vector<Size> amounts, call.sizes("pad"));
  KW_TRY(size_t mode, call.choice("mode", {"constant", "reflect", "replicate", "circular"}));
  if (amounts.size() % 2 != 0 || amounts.size() / 2 > x.dims.size())
    return call.refuse("needs two amounts for each padded dimension");
  NodeId fill = call.builder.constant(0.0);
  if (call.given("value")) {
    KW_TRY(TensorValue value, call.scalar("value"));
    fill = value.node;
  }
  if (!type_of(call.builder, x).floating() && !call.given("value")) fill = call.builder.integer(0);
  TensorValue out{x.node, x.dims};
  for (size_t i = 0; i < amounts.size() / 2; ++i) {
    size_t position = x.dims.size() - 1 - i;
    if (mode == 0) {
      KW_TRY(out, pad_constant(call, out, position, amounts[2 * i], amounts[2 * i + 1], fill));
      continue;
    }
    KW_TRY(int64_t before, require_fixed(call.context, amounts[2 * i]));
    KW_TRY(int64_t after, require_fixed(call.context, amounts[2 * i + 1]));
    KW_TRY(out, pad_repeating(call, out, position, before, after, mode));
  }
  return Value{out};
}

// Every element repeated `times` along the dimension.
Result<TensorValue> enlarge(Call& call, const TensorValue& x, size_t position, int64_t times) {
  if (times == 1) return x;
  KW_TRY(Value out, call_torch(call.context, "torch.repeat_interleave",
                               {{Value{x}, Value{Size(times)}, Value{Size(static_cast<int64_t>(position))}}, {}}));
  return *out.get<TensorValue>();
}

Result<Value> upsample_nearest(Call& call, const TensorValue& x) {
  if (x.dims.size() < 3) return call.refuse("needs an input of rank 3 or more");
  size_t spatial = x.dims.size() - 2;
  TensorValue out{x.node, x.dims};
  auto per_dimension = [&](std::string_view parameter, size_t i) -> Value {
    if (const auto* sequence = call[parameter].get<SequenceValue>())
      return sequence->items.size() == 1  ? sequence->items[0]
             : i < sequence->items.size() ? sequence->items[i]
                                          : Value{};
    return call[parameter];
  };
  for (size_t i = 0; i < spatial; ++i) {
    const ir::Graph& graph = call.builder.graph();
    double factor = 0;
    auto from = graph.hinted(size_of_dim(graph, out.dims[2 + i]));
    if (call.given("scale_factor")) {
      factor = known_number(graph, per_dimension("scale_factor", i)).value_or(0);
    } else if (call.given("size")) {
      auto to = known_number(graph, per_dimension("size", i));
      if (to && from && *from > 0) factor = *to / static_cast<double>(*from);
    }
    if (factor < 1 || factor != std::floor(factor))
      return call.refuse("is read for whole factors in mode 'nearest' only");
    KW_TRY(out, enlarge(call, out, 2 + i, static_cast<int64_t>(factor)));
  }
  return Value{out};
}

Result<Value> interpolate(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  const auto* mode = call["mode"].get<std::string>();
  if (!mode || (*mode != "nearest" && *mode != "nearest-exact"))
    return call.refuse("is read for whole factors in mode 'nearest' only");
  return upsample_nearest(call, x);
}

Result<Value> aten_upsample_nearest(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return upsample_nearest(call, x);
}

// [n, c·r², h, w] to [n, c, h·r, w·r], and back.
template <bool enlarges>
Result<Value> pixel_shuffle(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(Size r, call.size("factor"));
  if (x.dims.size() < 3) return call.refuse("needs an input of rank 3 or more");
  size_t c = x.dims.size() - 3;
  auto reorder = [c](TensorValue& t, std::initializer_list<size_t> order) {
    std::vector<AxisId> dims(t.dims.begin(), t.dims.begin() + static_cast<std::ptrdiff_t>(c));
    for (size_t i : order) dims.push_back(t.dims[c + i]);
    t.dims = std::move(dims);
  };
  TensorValue out = x;
  if (enlarges) {
    KW_TRY(out, unflatten(call.context, x, c, {Size(-1), r, r}));  // c, r, s, h, w
    reorder(out, {0, 3, 1, 4, 2});                                 // c, h, r, w, s
    KW_TRY(out, flatten(call.context, out, c + 1, c + 3));
    KW_TRY(out, flatten(call.context, out, c + 2, c + 4));
    return Value{out};
  }
  KW_TRY(out, unflatten(call.context, x, c + 1, {Size(-1), r}));    // c, h, r, w
  KW_TRY(out, unflatten(call.context, out, c + 3, {Size(-1), r}));  // c, h, r, w, s
  reorder(out, {0, 2, 4, 1, 3});                                    // c, r, s, h, w
  KW_TRY(out, flatten(call.context, out, c, c + 3));
  return Value{out};
}

// The first half times the sigmoid of the second, rounded once.
Result<Value> glu(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  if (x.dims.empty()) return call.refuse("needs a tensor with dimensions");
  KW_TRY(Value halves, call_torch(call.context, "torch.chunk",
                                  {{Value{x}, Value{Size(2)}, Value{Size(static_cast<int64_t>(position))}}, {}}));
  const auto& items = halves.get<SequenceValue>()->items;
  if (items.size() != 2) return call.refuse("cannot halve " + shape_text(call.builder.graph(), x));
  return rounded_once(call, {*items[0].get<TensorValue>(), *items[1].get<TensorValue>()},
                      [](const std::vector<Expression>& e) { return e[0] * sigmoid(e[1]); });
}

// x.unfold(dim, size, step): windows without padding; the taps become the last dimension.
Result<Value> unfold(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim_of("dimension", x));
  KW_TRY(Size size, call.size("size"));
  KW_TRY(int64_t step, call.integer("step"));
  if (x.dims.empty() || step < 1) return call.refuse("needs a dimension and a step of at least 1");
  Size whole = size_of_dim(call.builder.graph(), x.dims[position]);
  AxisId taps = call.builder.axis_like(kUnit, "tap", size);
  KW_TRY(TensorValue out,
         slide(call.context, x, position, taps, window_count(whole, size, 0, 0, step, 1), step, 0, 1, 0.0));
  out.dims.push_back(taps);
  return Value{without_unit_axes(call.context, out)};
}

constexpr Entry kEntries[] = {
    {"pad", kFunctional | kAten, "input, pad, mode='constant', value=None", pad},
    {"constant_pad_nd", kAten, "input, pad, value=0, *, mode='constant'", pad},
    {"interpolate", kFunctional,
     "input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, "
     "antialias=False",
     interpolate},
    {"upsample_nearest1d", kAten, "input, size=None, scale_factor=None", aten_upsample_nearest},
    {"upsample_nearest2d", kAten, "input, size=None, scale_factor=None", aten_upsample_nearest},
    {"upsample_nearest3d", kAten, "input, size=None, scale_factor=None", aten_upsample_nearest},
    {"pixel_shuffle", kTorch | kFunctional | kAten, "input, factor", pixel_shuffle<true>},
    {"pixel_unshuffle", kTorch | kFunctional | kAten, "input, factor", pixel_shuffle<false>},
    {"glu", kFunctional | kAten, "input, dim=-1", glu},
    {"unfold", kMethod | kAten, "input, dimension, size, step", unfold},
};

}  // namespace

std::span<const Entry> resize_entries() { return kEntries; }

}  // namespace kw::understand
