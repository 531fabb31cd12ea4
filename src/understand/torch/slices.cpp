// Parts of tensors, and tensors from parts.
#include <algorithm>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"
#include "understand/torch/reshape.h"
#include "understand/torch/views.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::kUnit;
using ir::Op;
using ir::Size;

Result<std::optional<Size>> optional_size(Call& call, std::string_view parameter) {
  if (!call.given(parameter)) return std::optional<Size>{};
  KW_TRY(Size s, call.size(parameter));
  return std::optional<Size>(s);
}

Result<Value> slice(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  KW_TRY(auto start, optional_size(call, "start"));
  KW_TRY(auto end, optional_size(call, "end"));
  KW_TRY(int64_t step, call.integer("step"));
  KW_TRY(TensorValue out, python_slice(call.context, x, position, start, end, step));
  return Value{out};
}

Result<Value> narrow(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  KW_TRY(Size start, call.size("start"));
  KW_TRY(Size length, call.size("length"));
  auto hint = call.builder.graph().hinted(start);
  if (hint && *hint < 0) start = start + size_of_dim(call.builder.graph(), x.dims[position]);
  KW_TRY(TensorValue out, slice_dim(call.context, x, position, start, length));
  return Value{out};
}

Result<Value> select(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  KW_TRY(Size index, call.size("index"));
  KW_TRY(TensorValue out, select_dim(call.context, x, position, index));
  return Value{out};
}

Result<std::vector<TensorValue>> pieces(Call& call, const TensorValue& x, size_t position,
                                        const std::vector<Size>& lengths) {
  std::vector<TensorValue> out;
  Size start(0);
  for (const Size& length : lengths) {
    KW_TRY(TensorValue piece, slice_dim(call.context, x, position, start, length));
    out.push_back(std::move(piece));
    start = start + length;
  }
  return out;
}

// As many whole pieces as there are, then what is left. A symbolic size that its hint divides is taken to be divisible.
Result<std::vector<Size>> piece_lengths(Call& call, const Size& size, const Size& length, const Size& wanted_count,
                                        bool by_count) {
  const ir::Graph& graph = call.builder.graph();
  auto n = graph.hinted(size);
  if (by_count) {
    KW_TRY(int64_t count, require_fixed(call.context, wanted_count));
    if (count < 1) return call.refuse("needs at least one piece");
    if (!n || *n % count == 0) {
      Size part = floor_div(size, Size(count));
      if (part * Size(count) != size) call.builder.constrain({ir::SizeConstraint::Kind::Divisible, size, Size(count)});
      return std::vector<Size>(static_cast<size_t>(count), part);
    }
    Size part = ceil_div(size, Size(count));
    int64_t hinted_part = (*n + count - 1) / count, whole = *n / hinted_part;
    std::vector<Size> out(static_cast<size_t>(whole), part);
    if (*n % hinted_part != 0) out.push_back(size - part * Size(whole));
    return out;
  }
  auto part = graph.hinted(length);
  if (!n || !part || *part < 1) return call.refuse("needs sizes that are known to tell how many pieces there are");
  int64_t whole = *n / *part;
  std::vector<Size> out(static_cast<size_t>(whole), length);
  if (*n % *part != 0) {
    out.push_back(size - length * Size(whole));
  } else if (length * Size(whole) != size) {
    KW_CHECK(require_same_size(call.context, size, length * Size(whole)));
  }
  return out;
}

Result<Value> chunk(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  KW_TRY(Size count, call.size("chunks"));
  KW_TRY(auto lengths, piece_lengths(call, size_of_dim(call.builder.graph(), x.dims[position]), Size(0), count, true));
  KW_TRY(auto out, pieces(call, x, position, lengths));
  return to_tuple(std::move(out));
}

Result<Value> split(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  Size size = size_of_dim(call.builder.graph(), x.dims[position]);
  std::vector<Size> lengths;
  if (call["split_size"].get<SequenceValue>()) {
    KW_TRY(lengths, call.sizes("split_size"));
    Size total(0);
    for (const Size& s : lengths) total = total + s;
    KW_CHECK(require_same_size(call.context, size, total));
  } else {
    KW_TRY(Size length, call.size("split_size"));
    KW_TRY(lengths, piece_lengths(call, size, length, Size(0), false));
  }
  KW_TRY(auto out, pieces(call, x, position, lengths));
  return to_tuple(std::move(out));
}

Result<Value> unbind(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  if (x.dims.empty()) return call.refuse("needs a tensor with dimensions");
  KW_TRY(int64_t count, require_fixed(call.context, size_of_dim(call.builder.graph(), x.dims[position])));
  std::vector<TensorValue> out;
  for (int64_t i = 0; i < count; ++i) {
    KW_TRY(TensorValue piece, select_dim(call.context, x, position, Size(i)));
    out.push_back(std::move(piece));
  }
  return to_tuple(std::move(out));
}

Result<Value> cat(Call& call) {
  KW_TRY(std::vector<TensorValue> parts, call.tensors("tensors"));
  KW_TRY(size_t position, call.dim_of("dim", parts[0]));
  KW_TRY(TensorValue out, concatenate(call.context, parts, position));
  return Value{out};
}

Result<Value> read_stack(Call& call) {
  KW_TRY(std::vector<TensorValue> parts, call.tensors("tensors"));
  KW_TRY(size_t position, call.dim("dim", parts[0].dims.size() + 1));
  for (const TensorValue& part : parts)
    if (part.dims.size() != parts[0].dims.size()) return call.refuse("needs tensors of one rank");
  KW_TRY(TensorValue out, stack(call.context, parts, position));
  return Value{out};
}

Result<Value> flip(Call& call) {
  KW_TRY(TensorValue out, call.tensor("input"));
  KW_TRY(std::vector<size_t> positions, call.dims("dims", out.dims.size()));
  for (size_t position : positions) {
    KW_TRY(out, flip_dim(call.context, out, position));
  }
  return Value{out};
}

Result<Value> roll(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::vector<Size> shifts, call.sizes("shifts"));
  if (!call.given("dims")) return call.refuse("is read with dims=");
  KW_TRY(std::vector<size_t> positions, call.dims("dims", x.dims.size()));
  if (positions.size() != shifts.size()) return call.refuse("needs as many shifts as dims");
  for (size_t i = 0; i < positions.size(); ++i) {
    Size size = size_of_dim(call.builder.graph(), x.dims[positions[i]]);
    auto n = call.builder.graph().hinted(size), s = call.builder.graph().hinted(shifts[i]);
    if (!n || !s || *n < 1) return call.refuse("needs sizes that are known");
    Size shift = *s < 0 ? shifts[i] + size : shifts[i];
    if (*s < -*n || *s > *n) shift = modulo(shifts[i], size);
    if (*s % *n == 0) continue;
    KW_TRY(TensorValue tail, slice_dim(call.context, x, positions[i], size - shift, shift));
    KW_TRY(TensorValue head, slice_dim(call.context, x, positions[i], Size(0), size - shift));
    KW_TRY(x, concatenate(call.context, {tail, head}, positions[i]));
  }
  return Value{TensorValue{x.node, x.dims}};
}

constexpr Entry kEntries[] = {
    {"slice", kAten, "input, dim=0, start=None, end=None, step=1", slice},
    {"narrow", kTensor, "input, dim, start, length", narrow},
    {"select", kTensor, "input, dim, index", select},
    {"chunk", kTensor, "input, chunks, dim=0", chunk},
    {"split", kTensor, "input, split_size, dim=0", split},
    {"split_with_sizes", kTensor, "input, split_size, dim=0", split},
    {"unbind", kTensor, "input, dim=0", unbind},
    {"cat", kTorch | kAten, "tensors, dim=0", cat},
    {"concat", kTorch | kAten, "tensors, dim=0", cat},
    {"concatenate", kTorch | kAten, "tensors, dim=0", cat},
    {"stack", kTorch | kAten, "tensors, dim=0", read_stack},
    {"flip", kMethod, "input, *dims", flip},
    {"flip", kTorch | kAten, "input, dims", flip},
    {"roll", kTensor, "input, shifts, dims=None", roll},
};

}  // namespace

std::span<const Entry> slice_entries() { return kEntries; }

}  // namespace kw::understand
