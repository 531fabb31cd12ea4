// Reductions of kernels on the CPU. OpenMP's own max and min lose a NaN; here a NaN wins, as in PyTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "lanes.h"

namespace kw {

template <class T>
inline T maximum(T a, T b) {
  return (a > b) | (a != a) ? a : b;
}
template <class T>
inline T minimum(T a, T b) {
  return (a < b) | (a != a) ? a : b;
}

// Where a maximum or a minimum of any type starts.
struct Least {
  template <class T>
  operator T() const {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
};
struct Greatest {
  template <class T>
  operator T() const {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};

// The sum of n terms as a tree, so that no rounding error is carried further than log2(n) additions.
template <class T>
inline T sum_of(const T* terms, int64_t n) {
  if (n == 1) return terms[0];
  return n == 0 ? T(0) : sum_of(terms, n / 2) + sum_of(terms + n / 2, n - n / 2);
}

// The sum of a tile's terms: in lanes, then as a tree. The order is fixed here, not by the compiler, and no chain is
// longer than a 32nd of the tile.
template <class T>
inline T tile_sum(const T* terms, int64_t n) {
  typedef T Lanes __attribute__((vector_size(64)));
  constexpr int64_t kLanes = 64 / sizeof(T), kStep = 4 * kLanes;
  Lanes parts[4] = {};
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep)
    for (int k = 0; k < 4; ++k) {
      Lanes next;
      __builtin_memcpy(&next, terms + i + k * kLanes, sizeof next);
      parts[k] += next;
    }
  T rest[kStep] = {};
  __builtin_memcpy(rest, terms + i, static_cast<size_t>(n - i) * sizeof(T));
  for (int k = 0; k < 4; ++k) {
    Lanes next;
    __builtin_memcpy(&next, rest + k * kLanes, sizeof next);
    parts[k] += next;
  }
  const Lanes all = (parts[0] + parts[1]) + (parts[2] + parts[3]);
  T lanes[kLanes];
  __builtin_memcpy(lanes, &all, sizeof all);
  return sum_of(lanes, kLanes);
}

// The sum of a tile whose terms are written one after the other, each once: of all of them as `tile_sum` has it, or, by
// lanes, without keeping them.
template <class T, int kTile, bool kLanesFit>
class TileSum {
 public:
  T& operator[](int64_t i) { return terms_[i]; }
  T total(int64_t n) const { return tile_sum(terms_, n); }

 private:
  alignas(64) T terms_[kTile];
};
#if KW_HAS_LANES
template <int kTile>
class TileSum<float, kTile, true> {
 public:
  struct Term {
    __m512& sum;
    Lane::Mask mask;
    KW_INLINE void operator=(Floats term) const {
      if (mask != Lane::kWhole) KW_EACH_PART term.part[p] = _mm512_maskz_mov_ps(part_of(mask, p), term.part[p]);
      sum = _mm512_add_ps(
          sum, _mm512_add_ps(_mm512_add_ps(term.part[0], term.part[1]), _mm512_add_ps(term.part[2], term.part[3])));
    }
  };
  KW_INLINE Term operator[](Lane lane) { return {sum_, lane.mask}; }
  KW_INLINE float total(int64_t) const { return _mm512_reduce_add_ps(sum_); }

 private:
  __m512 sum_ = _mm512_setzero_ps();
};
#endif

// reduction(kw::maximum : x) and reduction(kw::minimum : x)
#ifdef _OPENMP
#pragma omp declare reduction(maximum                                                     \
                              : float, double, int64_t, int32_t, int16_t, int8_t, uint8_t \
                              : omp_out = maximum(omp_out, omp_in)) initializer(omp_priv = Least())
#pragma omp declare reduction(minimum                                                     \
                              : float, double, int64_t, int32_t, int16_t, int8_t, uint8_t \
                              : omp_out = minimum(omp_out, omp_in)) initializer(omp_priv = Greatest())
#endif

}  // namespace kw
