// Poolings: reductions over sliding windows, or over equal parts of a dimension (adaptive).
#include <cmath>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"
#include "understand/torch/reduce.h"
#include "understand/torch/reshape.h"
#include "understand/torch/views.h"
#include "understand/torch/window.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

struct Pooling {
  TensorValue x;
  size_t first = 0;  // of the spatial dimensions
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil_mode = false;
};

Result<Pooling> arguments_of(Call& call, size_t rank, bool dilated) {
  Pooling p;
  KW_TRY(p.x, call.tensor("input"));
  if (p.x.dims.size() != rank + 1 && p.x.dims.size() != rank + 2)
    return call.refuse("needs an input of rank " + std::to_string(rank + 1) + " or " + std::to_string(rank + 2) +
                       ", got " + shape_text(call.builder.graph(), p.x));
  p.first = p.x.dims.size() - rank;
  KW_TRY(p.kernel, call.per_dimension("kernel_size", rank));
  const auto* given_stride = call["stride"].get<SequenceValue>();
  p.stride = p.kernel;
  if (call.given("stride") && !(given_stride && given_stride->items.empty())) {
    KW_TRY(p.stride, call.per_dimension("stride", rank));
  }
  KW_TRY(p.padding, call.per_dimension("padding", rank));
  p.dilation.assign(rank, 1);
  if (dilated) {
    KW_TRY(p.dilation, call.per_dimension("dilation", rank));
  }
  for (size_t i = 0; i < rank; ++i) {
    if (p.kernel[i] < 1 || p.stride[i] < 1) return call.refuse("needs a window and a stride of at least 1");
    if (p.padding[i] * 2 > p.kernel[i]) return call.refuse("needs a padding of at most half the window");
  }
  KW_TRY(p.ceil_mode, call.boolean("ceil_mode"));
  return p;
}

// How many windows there are. With ceil_mode the last one may hang over the edge, if it begins inside.
Result<Size> count_of(Call& call, const Pooling& p, size_t i) {
  Size size = size_of_dim(call.builder.graph(), p.x.dims[p.first + i]);
  Size plain = window_count(size, Size(p.kernel[i]), p.padding[i], p.padding[i], p.stride[i], p.dilation[i]);
  if (!p.ceil_mode) return plain;
  Size more = window_count(size + Size(p.stride[i] - 1), Size(p.kernel[i]), p.padding[i], p.padding[i], p.stride[i],
                           p.dilation[i]);
  auto n = call.builder.graph().hinted(size), count = call.builder.graph().hinted(more);
  if (!n || !count) return call.refuse("with ceil_mode needs sizes that are known");
  if ((*count - 1) * p.stride[i] >= *n + p.padding[i]) return more - Size(1);
  return more;
}

struct Windows {
  TensorValue x;
  std::vector<AxisId> taps;
};

Result<Windows> windows_of(Call& call, const Pooling& p, const TensorValue& source, double fill) {
  Windows out{{source.node, source.dims}, {}};
  for (size_t i = 0; i < p.kernel.size(); ++i) {
    if (p.kernel[i] == 1 && p.stride[i] == 1 && p.padding[i] == 0) continue;
    AxisId taps = call.builder.axis_like(kUnit, "tap" + std::to_string(i), Size(p.kernel[i]));
    KW_TRY(Size count, count_of(call, p, i));
    KW_TRY(out.x, slide(call.context, out.x, p.first + i, taps, count, p.stride[i], p.padding[i], p.dilation[i], fill));
    out.taps.push_back(taps);
  }
  return out;
}

template <size_t rank>
Result<Value> max_pool(Call& call) {
  KW_TRY(bool indices, call.boolean("return_indices"));
  if (indices) return call.refuse("with return_indices=True is not read");
  KW_TRY(Pooling p, arguments_of(call, rank, true));
  KW_TRY(Windows w, windows_of(call, p, p.x, -HUGE_VAL));
  TensorValue out{call.reduce(Op::ReduceMax, w.x.node, w.taps), w.x.dims};
  return Value{without_unit_axes(call.context, out)};
}

template <size_t rank>
Result<Value> avg_pool(Call& call) {
  KW_TRY(Pooling p, arguments_of(call, rank, false));
  KW_TRY(bool include_padding, call.boolean("count_include_pad"));
  KW_TRY(Windows w, windows_of(call, p, p.x, 0.0));
  bool padded = false;
  for (int64_t amount : p.padding) padded = padded || amount > 0;
  Type type = type_of(call.builder, p.x);
  Expression windows(call.context, w.x.node);
  bool overhang = p.ceil_mode;
  if (!call.given("divisor_override") && !overhang && (include_padding || !padded)) {
    TensorValue out{windows.reduce(Op::Mean, w.taps).node(), w.x.dims};
    return Value{without_unit_axes(call.context, out)};
  }
  Expression total = windows.widened().reduce(Op::Sum, w.taps);
  if (call.given("divisor_override")) {
    KW_TRY(Size divisor, call.size("divisor_override"));
    total = total / total.size(divisor);
  } else {
    // The divisor counts what a window covers: of the input, and of its padding if that counts.
    std::vector<AxisId> spatial;
    for (size_t i = 0; i < rank; ++i)
      if (p.x.dims[p.first + i] != kUnit) spatial.push_back(p.x.dims[p.first + i]);
    if (overhang && include_padding && padded)
      return call.refuse("with ceil_mode and a padding that counts is not read");
    TensorValue ones{call.builder.broadcast(call.builder.cast(call.builder.constant(1.0), opmath(type)), spatial), {}};
    for (size_t i = 0; i < p.x.dims.size(); ++i) ones.dims.push_back(i < p.first ? kUnit : p.x.dims[i]);
    KW_TRY(Windows covered, windows_of(call, p, ones, 0.0));
    total = total / Expression(call.context, call.reduce(Op::Sum, covered.x.node, covered.taps));
  }
  return Value{without_unit_axes(call.context, {total.as(type).node(), w.x.dims})};
}

// Each output element pools one of `output_size` equal parts.
template <size_t rank, Op op>
Result<Value> adaptive_pool(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  if (op == Op::ReduceMax && call.given("return_indices")) {
    KW_TRY(bool indices, call.boolean("return_indices"));
    if (indices) return call.refuse("with return_indices=True is not read");
  }
  if (x.dims.size() != rank + 1 && x.dims.size() != rank + 2)
    return call.refuse("needs an input of rank " + std::to_string(rank + 1) + " or " + std::to_string(rank + 2));
  std::vector<Value> wanted(rank, call["output_size"]);
  if (const auto* sequence = call["output_size"].get<SequenceValue>()) {
    if (sequence->items.size() == rank)
      wanted = sequence->items;
    else if (sequence->items.size() == 1)
      wanted.assign(rank, sequence->items[0]);
    else
      return call.wrong("output_size", std::to_string(rank) + " ints");
  }
  size_t first = x.dims.size() - rank;
  std::vector<AxisId> reduced;
  TensorValue out{x.node, x.dims};
  for (size_t i = 0, at = first; i < rank; ++i, ++at) {
    if (wanted[i].is_none()) continue;
    const auto* size = wanted[i].get<Size>();
    if (!size) return call.wrong("output_size", std::to_string(rank) + " ints");
    if (out.dims[at] == kUnit) {
      out = repeat_unit(call.context, out, at, *size);
      continue;
    }
    Size whole = call.builder.graph().axis(out.dims[at]).size;
    if (whole == *size) continue;
    if (*size == Size(1)) {
      reduced.push_back(out.dims[at]);
      out.dims[at] = kUnit;
      continue;
    }
    auto n = call.builder.graph().hinted(whole), parts = call.builder.graph().hinted(*size);
    if (!n || !parts || *parts < 1 || *n % *parts != 0)
      return call.refuse("cannot divide " + call.builder.graph().size_text(whole) + " into " +
                         call.builder.graph().size_text(*size) + " equal parts");
    if (*n == *parts) {
      KW_CHECK(require_same_size(call.context, whole, *size));
      continue;
    }
    Size inner = floor_div(whole, *size);
    if (inner * *size != whole) call.builder.constrain({ir::SizeConstraint::Kind::Divisible, whole, *size});
    KW_TRY(TensorValue divided, split_dim(call.context, out, at, *size, inner));
    reduced.push_back(divided.dims[at + 1]);
    divided.dims.erase(divided.dims.begin() + static_cast<std::ptrdiff_t>(at + 1));
    out = divided;
  }
  out.node = call.reduce(op, out.node, reduced);
  return Value{out};
}

constexpr std::string_view kMax =
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False";
constexpr std::string_view kAverage1 =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, *, divisor_override=None";
constexpr std::string_view kAverage =
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None";
constexpr std::string_view kAdaptive = "input, output_size";
constexpr std::string_view kAdaptiveMax = "input, output_size, return_indices=False";
constexpr unsigned kPooling = kTorch | kFunctional | kAten;

constexpr Entry kEntries[] = {
    {"max_pool1d", kPooling, kMax, max_pool<1>},
    {"max_pool2d", kPooling, kMax, max_pool<2>},
    {"max_pool3d", kPooling, kMax, max_pool<3>},
    {"avg_pool1d", kPooling, kAverage1, avg_pool<1>},
    {"avg_pool2d", kFunctional | kAten, kAverage, avg_pool<2>},
    {"avg_pool3d", kFunctional | kAten, kAverage, avg_pool<3>},
    {"adaptive_avg_pool1d", kPooling, kAdaptive, adaptive_pool<1, Op::Mean>},
    {"adaptive_avg_pool2d", kFunctional | kAten, kAdaptive, adaptive_pool<2, Op::Mean>},
    {"adaptive_avg_pool3d", kFunctional | kAten, kAdaptive, adaptive_pool<3, Op::Mean>},
    {"adaptive_max_pool1d", kFunctional, kAdaptiveMax, adaptive_pool<1, Op::ReduceMax>},
    {"adaptive_max_pool2d", kFunctional, kAdaptiveMax, adaptive_pool<2, Op::ReduceMax>},
    {"adaptive_max_pool3d", kFunctional, kAdaptiveMax, adaptive_pool<3, Op::ReduceMax>},
};

}  // namespace

std::span<const Entry> pooling_entries() { return kEntries; }

}  // namespace kw::understand
