// Convolutions as contractions of sliding windows with the weight; transposed ones as contractions whose windows are
// summed back. Both accumulate in fp32 and round once, bias included.
#include <algorithm>

#include "understand/torch/contract.h"
#include "understand/torch/entry.h"
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

struct Convolution {
  TensorValue x;       // [batch, channels, spatial…]
  TensorValue weight;  // [out, in/groups, taps…]; transposed: [in, out/groups, taps…]
  std::optional<TensorValue> bias;
  std::vector<int64_t> stride, padding, padding_after, dilation, output_padding;
  Size groups = Size(1);
  bool batched = true;
  size_t spatial() const { return x.dims.size() - 2; }
};

Result<Convolution> arguments_of(Call& call, size_t rank) {
  Convolution c;
  KW_TRY(c.x, call.tensor("input"));
  KW_TRY(c.weight, call.tensor("weight"));
  KW_TRY(c.bias, call.optional_tensor("bias"));
  KW_CHECK(require_one_type(call, {c.x, c.weight, c.bias.value_or(c.weight)}));
  if (rank == 0) rank = std::max<size_t>(c.weight.dims.size(), 3) - 2;  // aten.convolution
  if (c.weight.dims.size() != rank + 2 || c.x.dims.size() < rank + 1 || c.x.dims.size() > rank + 2)
    return call.refuse("needs an input of rank " + std::to_string(rank + 2) + " and a weight of rank " +
                       std::to_string(rank + 2) + ", got " + shape_text(call.builder.graph(), c.x) + " and " +
                       shape_text(call.builder.graph(), c.weight));
  if (c.bias && c.bias->dims.size() != 1) return call.refuse("needs a bias of rank 1");
  c.batched = c.x.dims.size() == rank + 2;
  if (!c.batched) c.x = unsqueeze(c.x, 0);
  KW_TRY(c.stride, call.per_dimension("stride", rank));
  KW_TRY(c.dilation, call.per_dimension("dilation", rank));
  KW_TRY(c.groups, call.size("groups"));
  for (int64_t s : c.stride)
    if (s < 1) return call.refuse("needs a stride of at least 1");
  if (call["padding"].get<std::string>()) {
    KW_TRY(size_t same, call.choice("padding", {"valid", "same"}));
    for (size_t i = 0; i < rank; ++i) {
      int64_t total = 0;
      if (same) {
        KW_TRY(int64_t taps, require_fixed(call.context, size_of_dim(call.builder.graph(), c.weight.dims[2 + i])));
        total = c.dilation[i] * (taps - 1);
        if (c.stride[i] != 1) return call.refuse("with padding='same' needs a stride of 1");
      }
      c.padding.push_back(total / 2);
      c.padding_after.push_back(total - total / 2);
    }
  } else {
    KW_TRY(c.padding, call.per_dimension("padding", rank));
    c.padding_after = c.padding;
  }
  return c;
}

// The channels of x and of the weight as [groups, channels in a group]; without groups the first is a dimension of size
// one.
Result<TensorValue> split_groups(Call& call, const TensorValue& x, size_t position, const Size& groups) {
  if (groups == Size(1)) return unsqueeze(x, position);
  const ir::Graph& graph = call.builder.graph();
  Size channels = size_of_dim(graph, x.dims[position]);
  auto c = graph.hinted(channels), g = graph.hinted(groups);
  if (c && g && (*g < 1 || *c % *g != 0))
    return call.refuse("cannot divide " + std::to_string(*c) + " channels into " + std::to_string(*g) + " groups");
  Size inner = channels == groups || (c && g && *c == *g) ? Size(1) : floor_div(channels, groups);
  if (inner == Size(1)) {
    KW_CHECK(require_same_size(call.context, channels, groups));
  } else if (inner * groups != channels) {
    call.builder.constrain({ir::SizeConstraint::Kind::Divisible, channels, groups});
  }
  return split_dim(call.context, x, position, groups, inner);
}

Result<Value> finish(Call& call, const Convolution& c, TensorValue y, Type type) {
  // y is [batch, groups, out/groups, spatial…]
  TensorValue out = merge_dims(call.context, y, 1);
  if (c.bias) {
    TensorValue bias = *c.bias;
    bias.dims.insert(bias.dims.end(), c.spatial(), kUnit);
    KW_TRY(Broadcasted common, broadcast_together(call.context, {out, bias}));
    Expression sum = Expression(call.context, common.nodes[0]) + Expression(call.context, common.nodes[1]).widened();
    out = {sum.node(), common.dims};
  }
  out.node = call.builder.cast(out.node, type);
  out = without_unit_axes(call.context, out);
  if (!c.batched) out.dims.erase(out.dims.begin());
  return Value{out};
}

// Pairs the groups and the contracted channels of weight and input; both have them at positions 1 and 2 or 0 and 1.
Result<TensorValue> pair_channels(Call& call, const TensorValue& x, const TensorValue& weight, size_t weight_groups,
                                  size_t weight_channels) {
  std::vector<AxisId> wanted(weight.dims.size(), kUnit);
  wanted[weight_groups] = x.dims[1];
  wanted[weight_channels] = x.dims[2];
  for (size_t i : {weight_groups, weight_channels})
    if ((weight.dims[i] == kUnit) != (wanted[i] == kUnit))
      return call.refuse("cannot pair the channels of " + shape_text(call.builder.graph(), x) +
                         " with a weight of shape " + shape_text(call.builder.graph(), weight));
  return rename_dims(call.context, weight, wanted, x.dims);
}

template <size_t rank>
Result<Value> convolution(Call& call) {
  KW_TRY(Convolution c, arguments_of(call, rank));
  Type type = type_of(call.builder, c.x);
  KW_TRY(TensorValue x, split_groups(call, c.x, 1, c.groups));            // [n, g, in, spatial…]
  KW_TRY(TensorValue weight, split_groups(call, c.weight, 0, c.groups));  // [g, out, in, taps…]
  KW_TRY(weight, pair_channels(call, x, weight, 0, 2));
  std::vector<AxisId> summed;
  if (x.dims[2] != kUnit) summed.push_back(x.dims[2]);
  for (size_t i = 0; i < c.spatial(); ++i) {
    size_t at = 3 + i;
    if (weight.dims[at] == kUnit && c.stride[i] == 1 && c.padding[i] == 0 && c.padding_after[i] == 0) continue;
    weight = with_axis(call.context, weight, at, "tap" + std::to_string(i));
    AxisId taps = weight.dims[at];
    Size size = size_of_dim(call.builder.graph(), x.dims[at]);
    Size count = window_count(size, call.builder.graph().axis(taps).size, c.padding[i], c.padding_after[i], c.stride[i],
                              c.dilation[i]);
    KW_TRY(x, slide(call.context, x, at, taps, count, c.stride[i], c.padding[i], c.dilation[i], 0.0));
    summed.push_back(taps);
  }
  Expression windows = expression(call, x), taps = expression(call, weight);
  if (c.bias) {
    windows = windows.widened();
    taps = taps.widened();
  }
  TensorValue y{contract(call.builder, windows.node(), taps.node(), summed), x.dims};
  y.dims[2] = weight.dims[1];
  return finish(call, c, y, type);
}

// Every input position spreads its products over the taps; what falls on one output position is summed.
template <size_t rank>
Result<Value> transposed_convolution(Call& call) {
  KW_TRY(Convolution c, arguments_of(call, rank));
  KW_TRY(c.output_padding, call.per_dimension("output_padding", c.spatial()));
  Type type = type_of(call.builder, c.x);
  KW_TRY(TensorValue x, split_groups(call, c.x, 1, c.groups));            // [n, g, in, spatial…]
  KW_TRY(TensorValue weight, split_groups(call, c.weight, 0, c.groups));  // [g, in, out, taps…]
  KW_TRY(weight, pair_channels(call, x, weight, 0, 1));
  for (size_t i = 0; i < c.spatial(); ++i) {
    x = with_axis(call.context, x, 3 + i, "point" + std::to_string(3 + i));
    weight = with_axis(call.context, weight, 3 + i, "tap" + std::to_string(i));
  }
  std::vector<AxisId> summed;
  if (x.dims[2] != kUnit) summed.push_back(x.dims[2]);
  TensorValue y{
      contract(call.builder, expression(call, x).widened().node(), expression(call, weight).widened().node(), summed),
      x.dims};
  y.dims[2] = weight.dims[2];
  for (size_t i = 0; i < c.spatial(); ++i) {
    size_t at = 3 + i;
    AxisId axis = y.dims[at], taps = weight.dims[at];
    const ir::Graph& graph = call.builder.graph();
    Size size = (graph.axis(axis).size - Size(1)) * Size(c.stride[i]) - Size(2 * c.padding[i]) +
                Size(c.dilation[i]) * (graph.axis(taps).size - Size(1)) + Size(c.output_padding[i] + 1);
    std::string key = "spread " + std::to_string(c.stride[i]) + " " + std::to_string(c.padding[i]) + " " +
                      std::to_string(c.dilation[i]);
    AxisId whole = call.builder.axis_like(axis, key, size);
    KW_TRY(y.node,
           call.builder.try_make(Op::Fold, {y.node},
                                 ir::WindowAttr{whole, axis, taps, c.stride[i], c.dilation[i], Size(c.padding[i]), 1}));
    y.dims[at] = whole;
  }
  return finish(call, c, y, type);
}

Result<Value> any_convolution(Call& call) {  // aten.convolution
  KW_TRY(bool transposed, call.boolean("transposed"));
  return transposed ? transposed_convolution<0>(call) : convolution<0>(call);
}

constexpr unsigned kConvolution = kTorch | kFunctional | kAten;
constexpr std::string_view kPlain = "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1";
constexpr std::string_view kTransposed =
    "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1";

constexpr Entry kEntries[] = {
    {"conv1d", kConvolution, kPlain, convolution<1>},
    {"conv2d", kConvolution, kPlain, convolution<2>},
    {"conv3d", kConvolution, kPlain, convolution<3>},
    {"conv_transpose1d", kConvolution, kTransposed, transposed_convolution<1>},
    {"conv_transpose2d", kConvolution, kTransposed, transposed_convolution<2>},
    {"conv_transpose3d", kConvolution, kTransposed, transposed_convolution<3>},
    {"convolution", kTorch | kAten,
     "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups", any_convolution},
};

}  // namespace

std::span<const Entry> convolution_entries() { return kEntries; }

}  // namespace kw::understand
