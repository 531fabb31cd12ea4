// Writing results that are larger than the cache past it: a plain store first reads the line that it overwrites, a
// streaming store does not. A kernel computes a tile of its output into a block in the first-level cache, in the type
// that it computes in, and the block is rounded and written at once.
#pragma once

#include <cstdint>
#include <cstring>

#include "narrow.h"
#include "tensor.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

namespace kw {

// Writes `kLine` bytes to an address that is a multiple of them, without going through the cache.
#if defined(__AVX512F__)
inline constexpr int64_t kLine = 64;
typedef long long Line __attribute__((vector_size(64), aligned(1), may_alias));
inline void stream_line(char* to, Line line) {
  __builtin_ia32_movntdq512(reinterpret_cast<decltype(line + line)*>(to), line);
}
#elif defined(__AVX__)
inline constexpr int64_t kLine = 32;
typedef long long Line __attribute__((vector_size(32), aligned(1), may_alias));
inline void stream_line(char* to, Line line) {
  __builtin_ia32_movntdq256(reinterpret_cast<decltype(line + line)*>(to), line);
}
#elif defined(__SSE2__)
inline constexpr int64_t kLine = 16;
typedef long long Line __attribute__((vector_size(16), aligned(1), may_alias));
inline void stream_line(char* to, Line line) {
  __builtin_ia32_movntdq(reinterpret_cast<decltype(line + line)*>(to), line);
}
#else
inline constexpr int64_t kLine = 16;
typedef long long Line __attribute__((vector_size(16), aligned(1), may_alias));
inline void stream_line(char* to, Line line) { *reinterpret_cast<Line*>(to) = line; }
#endif

// Rounds n values to memory without going through the cache: what stands before the first and behind the last whole
// line is written as usual.
template <class Element>
inline void stream_out(Element* to, const Computed<Element>* from, int64_t n) {
  constexpr int64_t kElements = kLine / static_cast<int64_t>(sizeof(Element));
  const int64_t misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
  const int64_t before = (kLine - misaligned) % kLine / static_cast<int64_t>(sizeof(Element));
  int64_t done = before < n ? before : n;
  narrow(to, from, done);
  for (; done + kElements <= n; done += kElements)
    stream_line(reinterpret_cast<char*>(to + done), narrowed_line<Element, Line>(from + done));
  narrow(to + done, from + done, n - done);
}

// Memory that was never touched is handed out page by page as it is written: of an output that is written whole, in
// large pages, where the system has them.
inline void ask_for_large_pages(void* start, int64_t bytes) {
#if defined(__linux__)
  constexpr uintptr_t kLargePage = 2 << 20;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(start) + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(start) + static_cast<uintptr_t>(bytes)) / kLargePage * kLargePage;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  (void)start, (void)bytes;
#endif
}

// Streaming saves bytes, and through a block it costs a core time. Bytes are what counts once so many threads share the
// memory; two of a server's cores are faster with plain stores. Lanes need no block: those of full-width elements,
// which cost little more than their bytes, are always streamed, those of 16-bit ones with two threads (1.5 times as
// fast with little arithmetic), those of long bodies, which go by two lanes, with as many as a block (0.96 with two).
inline constexpr int kStreamThreads = 4, kLaneStreamThreads = 2;
inline int most_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

// Other threads may read the output however they learn of its end: what this one has written past the cache is in order
// by then. (Those of a parallel loop are in order at its barrier.)
class Streamed {
 public:
  explicit Streamed(bool streamed) : streamed_(streamed) {}
  Streamed(const Streamed&) = delete;
  Streamed& operator=(const Streamed&) = delete;
  ~Streamed() {
#if defined(__SSE2__)
    if (streamed_) __builtin_ia32_sfence();
#endif
  }
  operator bool() const { return streamed_; }

 private:
  bool streamed_;
};

// Whether an output of `elements` in rows of `row` is written past the cache: it would not stay there, and its rows are
// long enough to be whole lines.
template <bool kLanesFit, bool kWideFit = false, class Element>
inline Streamed streams(Element* output, int64_t elements, int64_t row, int64_t stream_bytes) {
  constexpr int64_t kBytes = sizeof(Element);
  if (elements * kBytes < stream_bytes || row * kBytes < 512) return Streamed(false);
  ask_for_large_pages(output, elements * kBytes);
  constexpr int kThreads = kLanesFit && !kWideFit ? kLaneStreamThreads : kStreamThreads;
  return Streamed((kLanesFit && !kIsNarrow<Element>) || most_threads() >= kThreads);
}

// Where the elements [first, first + n) of an output row are computed: in place, or in a block that `finish` rounds and
// writes. Lanes are rounded and written one by one.
template <class Element, bool kUnit, int kTile, bool kLanesFit>
class OutputTile {
 public:
  using Value = Computed<Element>;
  OutputTile(Row<Element, kUnit> row, int64_t first, bool streamed)
      : out_{&row[first], row.stride}, streamed_(kUnit && streamed) {}
  Row<Value, kUnit> row() {
    if constexpr (kIsNarrow<Element>)
      return {block_, 1};
    else
      return streamed_ ? Row<Value, kUnit>{block_, 1} : out_;
  }
  void finish(int64_t n) const {
    if (streamed_) {
      stream_out(out_.data, block_, n);
    } else if constexpr (kIsNarrow<Element>) {
      if constexpr (kUnit)
        narrow(out_.data, block_, n);
      else
        for (int64_t i = 0; i < n; ++i) out_[i] = Element(block_[i]);
    }
  }

 private:
  Row<Element, kUnit> out_;
  bool streamed_;
  alignas(64) Value block_[kTile];
};

#if KW_HAS_LANES
template <class Element, int kTile>
class OutputTile<Element, true, kTile, true> {
 public:
  OutputTile(Row<Element, true> row, int64_t first, bool streamed)
      : out_(&row[first]), streamed_(streamed && reinterpret_cast<uintptr_t>(out_) % kLine == 0) {}
  struct Place {
    Element* to;
    Lane::Mask mask;
    bool streamed;
    KW_INLINE void operator=(Floats values) const {
      if (streamed && mask == Lane::kWhole)
        stream_lane(to, values);
      else
        store_lane(to, values, mask);
    }
  };
  struct WidePlace {
    Place low, high;
    KW_INLINE void operator=(WideFloats values) const {
      low = values.low;
      high = values.high;
    }
  };
  struct Places {
    Element* out;
    bool streamed;
    KW_INLINE Place operator[](Lane lane) const { return {out + lane.at, lane.mask, streamed}; }
    KW_INLINE WidePlace operator[](WideLane lane) const { return {(*this)[lane.low()], (*this)[lane.high()]}; }
  };
  KW_INLINE Places row() const { return {out_, streamed_}; }
  KW_INLINE void finish(int64_t) const {}

 private:
  Element* out_;
  bool streamed_;
};
#endif

}  // namespace kw
