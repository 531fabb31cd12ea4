// The strides that PyTorch gives to a new tensor, from those of the inputs that it follows.
//
//   pointwise(sizes, {of(x), seen(sizes, w, {{{1}}, {}, {{0}}})})
//
// is how a pointwise op on x and on w lies, w seen with its dimension 1 first, then a dimension that it repeats, then
// its dimension 0.
#pragma once

#include <initializer_list>
#include <utility>

#include "kw_host/view.h"

namespace kw_torch {

using namespace kw_host;

struct Sizes {
  std::int64_t rank = 0;
  std::int64_t at[kMaxRank] = {};
  Sizes() = default;
  Sizes(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t size : sizes) at[rank++] = size;
  }
};

inline constexpr std::int64_t kMaxOperands = 16;

// A tensor without memory.
struct Laid {
  std::int64_t rank = 0;
  std::int64_t sizes[kMaxRank] = {};
  std::int64_t strides[kMaxRank] = {};
  View view() const { return {nullptr, sizes, strides, rank, Dtype::kOther}; }
};

// A dimension of an input, or one of the parts that it is cut into: the outermost is part 0.
struct Piece {
  int dim = 0;
  int part = -1;
};
using Dim = std::initializer_list<Piece>;  // none: repeated; several: seen as one
using Dims = std::initializer_list<Dim>;

inline void dense_strides(const std::int64_t* sizes, std::int64_t rank, std::int64_t* strides) {
  std::int64_t next = 1;
  for (std::int64_t d = rank; d-- > 0;) {
    strides[d] = next;
    next *= max(sizes[d], 1);
  }
}

// The strides that PyTorch gives to the result of a pointwise op on these operands, all of the result's shape: those of
// operands that agree and have no gaps, otherwise dense in the order of dimensions that their strides suggest.
inline void pointwise_strides(const std::int64_t* sizes, std::int64_t rank, const View* const* operands,
                              std::int64_t count, std::int64_t* strides) {
  bool all_dense = true, agree = true;
  const View& first = *operands[0];
  for (std::int64_t i = 0; i < count; ++i) {
    all_dense = all_dense && dense(*operands[i]);
    agree =
        agree && packed(*operands[i]) &&
        std::memcmp(operands[i]->strides, first.strides, static_cast<std::size_t>(rank) * sizeof(std::int64_t)) == 0;
  }
  if (all_dense) return dense_strides(sizes, rank, strides);
  if (agree) {
    for (std::int64_t d = 0; d < rank; ++d) strides[d] = first.strides[d];
    return;
  }
  // 1: dimension a belongs outside of b; -1: inside; 0: the operands do not say.
  const auto belongs_outside = [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at_a = operands[i]->strides[a], at_b = operands[i]->strides[b];
      if (at_a == 0 || at_b == 0) continue;
      if (at_a < at_b) return -1;
      if (at_a > at_b || sizes[a] > sizes[b]) return 1;
    }
    return 0;
  };
  // An insertion sort that leaves alone what the operands do not order, from the dense order on: innermost first.
  std::int64_t order[kMaxRank];
  for (std::int64_t d = 0; d < rank; ++d) order[d] = rank - 1 - d;
  for (std::int64_t i = 1; i < rank; ++i) {
    std::int64_t moving = i;
    for (std::int64_t other = i; other-- > 0;) {
      const int outside = belongs_outside(order[other], order[moving]);
      if (outside < 0) break;
      if (outside == 0) continue;
      std::swap(order[other], order[moving]);
      moving = other;
    }
  }
  std::int64_t next = 1;
  for (std::int64_t i = 0; i < rank; ++i) {
    strides[order[i]] = next;
    next *= max(sizes[order[i]], 1);
  }
}

inline void pointwise_strides(const std::int64_t* sizes, std::int64_t rank, std::initializer_list<const View*> operands,
                              std::int64_t* strides) {
  pointwise_strides(sizes, rank, operands.begin(), static_cast<std::int64_t>(operands.size()), strides);
}

inline Laid contiguous(const Sizes& sizes) {
  Laid out;
  out.rank = sizes.rank;
  for (std::int64_t d = 0; d < sizes.rank; ++d) out.sizes[d] = sizes.at[d];
  dense_strides(sizes.at, sizes.rank, out.strides);
  return out;
}

// An input as it is.
inline Laid of(const View& x) {
  Laid out;
  out.rank = x.rank;
  for (std::int64_t d = 0; d < x.rank; ++d) out.sizes[d] = x.sizes[d], out.strides[d] = x.strides[d];
  return out;
}

// As the result of a pointwise op lies. Operands are paired with it from the last dimension on.
inline Laid pointwise(const Sizes& sizes, std::initializer_list<Laid> operands) {
  Laid out = contiguous(sizes), spread[kMaxOperands];
  View views[kMaxOperands];
  const View* pointers[kMaxOperands];
  std::int64_t count = 0;
  for (const Laid& operand : operands) {
    Laid& one = spread[count] = contiguous(sizes);
    for (std::int64_t d = 0; d < sizes.rank; ++d) {
      const std::int64_t at = d - (sizes.rank - operand.rank);
      one.strides[d] = at < 0 || (operand.sizes[at] == 1 && sizes.at[d] != 1) ? 0 : operand.strides[at];
    }
    views[count] = one.view();
    pointers[count] = &views[count];
    if (++count == kMaxOperands) break;
  }
  pointwise_strides(sizes.at, sizes.rank, pointers, count, out.strides);
  return out;
}

// The stride of dimensions that are seen as one; -1 where they cannot be.
inline std::int64_t merged_stride(const View& x, const Dim& dim) {
  std::int64_t stride = -1, reach = 0;
  for (std::size_t i = dim.size(); i-- > 0;) {
    const Piece& piece = dim.begin()[i];
    const std::int64_t size = piece.part >= 0 ? 2 : x.sizes[piece.dim];
    if (size == 1) continue;
    if (stride >= 0 && x.strides[piece.dim] != reach) return -1;
    if (stride < 0) stride = x.strides[piece.dim];
    reach = x.strides[piece.dim] * size;
  }
  return stride < 0 ? 1 : stride;
}

// An input as an operand of a tensor of these sizes: of which of its dimensions each of the tensor's is made. What it
// does not allow is a contiguous copy.
inline Laid seen(const Sizes& sizes, const View& x, Dims dims) {
  Sizes own = sizes;
  for (std::int64_t d = 0; d < sizes.rank; ++d)
    if (dims.begin()[d].size() == 0) own.at[d] = 1;
  Laid out = contiguous(own);
  const Laid copy = out;
  for (std::int64_t d = 0; d < sizes.rank; ++d) {
    const Dim& dim = dims.begin()[d];
    if (dim.size() == 0) continue;
    out.strides[d] = merged_stride(x, dim);
    if (out.strides[d] < 0) return copy;
    const Piece& piece = *dim.begin();
    if (dim.size() > 1) continue;
    for (std::int64_t other = 0; other < sizes.rank && piece.part >= 0; ++other)
      for (const Piece& inner : dims.begin()[other])
        if (other != d && inner.dim == piece.dim && inner.part > piece.part) out.strides[d] *= max(sizes.at[other], 1);
  }
  return out;
}

// A new tensor of `rank` dimensions seen by one of these sizes: dims[d] is the new tensor's dimension, -1 for one that
// is repeated. `lay` says how the new tensor lies.
template <class Lay>
Laid made(const Sizes& sizes, std::int64_t rank, std::initializer_list<int> dims, const Lay& lay) {
  Sizes base, own = sizes;
  base.rank = rank;
  for (std::int64_t d = 0; d < rank; ++d) base.at[d] = 1;
  for (std::int64_t d = 0; d < sizes.rank; ++d) {
    if (dims.begin()[d] >= 0) base.at[dims.begin()[d]] = sizes.at[d];
    if (dims.begin()[d] < 0) own.at[d] = 1;
  }
  const Laid under = lay(base);
  Laid out = contiguous(own);
  for (std::int64_t d = 0; d < sizes.rank; ++d)
    if (dims.begin()[d] >= 0) out.strides[d] = under.strides[dims.begin()[d]];
  return out;
}

// Channels-last where PyTorch takes all operands for that, otherwise contiguous.
inline Laid format(const Sizes& sizes, std::initializer_list<Laid> operands) {
  const std::int64_t rank = sizes.rank;
  Laid out = contiguous(sizes);
  if (rank != 4 && rank != 5) return out;
  // The order of channels-last, the innermost dimension first.
  const auto dim = [&](std::int64_t i) { return i == 0 ? 1 : i == rank - 1 ? 0 : rank - i; };
  for (const Laid& x : operands) {
    if (x.rank != rank || x.strides[1] == 0) return out;
    std::int64_t least = 0;
    for (std::int64_t i = 0; i < rank; ++i) {
      const std::int64_t d = dim(i);
      if (x.sizes[d] == 0 || x.strides[d] < least) return out;
      if (d == 0 && least == x.strides[1]) return out;
      least = x.strides[d] * max(x.sizes[d], 1);
    }
  }
  std::int64_t next = 1;
  for (std::int64_t i = 0; i < rank; ++i) {
    out.strides[dim(i)] = next;
    next *= max(sizes.at[dim(i)], 1);
  }
  return out;
}

}  // namespace kw_torch
