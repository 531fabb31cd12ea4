// A tensor as what calls a kernel sees it, and what the guards of a manifest ask of it. Strides count elements.
#pragma once

#include <cstdint>
#include <cstring>

// A call asks the same of the same tensor in the guards of several kernels, and computes the same size for several
// launches: a function of its own is asked once, and compiled once.
#define KW_QUESTION [[gnu::noinline, gnu::pure]]
#define KW_FORMULA [[gnu::noinline, gnu::const]]

namespace kw_host {

inline constexpr int kMaxRank = 8;

enum class Dtype : std::uint8_t { kOther, kBool, kU8, kI8, kI16, kI32, kI64, kBF16, kF16, kF32, kF64 };

constexpr std::int64_t bytes_of(Dtype dtype) {
  constexpr std::int64_t kBytes[] = {0, 1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<int>(dtype)];
}

constexpr const char* name_of(Dtype dtype) {
  constexpr const char* kNames[] = {"another type", "bool", "u8",  "i8",  "i16", "i32",
                                    "i64",          "bf16", "f16", "f32", "f64"};
  return kNames[static_cast<int>(dtype)];
}

struct View {
  void* data = nullptr;
  const std::int64_t* sizes = nullptr;
  const std::int64_t* strides = nullptr;
  std::int64_t rank = 0;
  Dtype dtype = Dtype::kOther;
};

constexpr std::int64_t min(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t max(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
KW_FORMULA constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - floor_div(a, b) * b; }
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }
KW_FORMULA constexpr std::int64_t next_pow2(std::int64_t a) {
  std::int64_t power = 1;
  while (power < a) power *= 2;
  return power;
}
constexpr bool fits_i32(std::int64_t value) { return value == static_cast<std::int32_t>(value); }

inline std::int64_t bytes(const View& view) { return bytes_of(view.dtype); }
inline std::int64_t shape(const View& view, std::int64_t d) { return view.sizes[d < 0 ? d + view.rank : d]; }
inline std::int64_t stride(const View& view, std::int64_t d) { return view.strides[d < 0 ? d + view.rank : d]; }
KW_QUESTION inline std::int64_t numel(const View& view) {
  std::int64_t count = 1;
  for (std::int64_t d = 0; d < view.rank; ++d) count *= view.sizes[d];
  return count;
}

// A dimension of size one has no say in any of these, and nor has anything in a tensor without elements.
KW_QUESTION inline bool dense(const View& view) {
  if (numel(view) == 0) return true;
  std::int64_t expected = 1;
  for (std::int64_t d = view.rank; d-- > 0;) {
    if (view.sizes[d] == 1) continue;
    if (view.strides[d] != expected) return false;
    expected *= view.sizes[d];
  }
  return true;
}

// Without gap or overlap, in whatever order of dimensions.
KW_QUESTION inline bool packed(const View& view) {
  if (numel(view) == 0) return true;
  std::int64_t expected = 1;
  bool seen[kMaxRank] = {};
  for (std::int64_t found = 0; found < view.rank; ++found) {
    std::int64_t next = -1;
    for (std::int64_t d = view.rank; d-- > 0;)
      if (!seen[d] && view.sizes[d] == 1) next = d;
    for (std::int64_t d = view.rank; d-- > 0 && next < 0;)
      if (!seen[d] && view.strides[d] == expected) next = d;
    if (next < 0) return false;
    seen[next] = true;
    expected *= view.sizes[next];
  }
  return true;
}

KW_QUESTION inline bool unit(const View& view) {
  return view.rank == 0 || numel(view) == 0 || view.sizes[view.rank - 1] == 1 || view.strides[view.rank - 1] == 1;
}

KW_QUESTION inline bool aligned(const View& view, std::int64_t to) {
  if (numel(view) == 0) return true;
  if (reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(to) != 0) return false;
  for (std::int64_t d = 0; d < view.rank; ++d)
    if (view.sizes[d] != 1 && view.strides[d] != 1 && (view.strides[d] * bytes(view)) % to != 0) return false;
  return true;
}

// Its address alone.
KW_QUESTION inline bool starts(const View& view, std::int64_t at) {
  return numel(view) == 0 || reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(at) == 0;
}

inline bool same_shape(const View& a, const std::int64_t* sizes, std::int64_t rank) {
  return a.rank == rank && std::memcmp(a.sizes, sizes, static_cast<std::size_t>(rank) * sizeof(std::int64_t)) == 0;
}

KW_QUESTION inline bool same_strides(const View& a, const View& b) {
  if (!same_shape(a, b.sizes, b.rank)) return false;
  if (numel(a) == 0) return true;
  for (std::int64_t d = 0; d < a.rank; ++d)
    if (a.sizes[d] != 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

}  // namespace kw_host
