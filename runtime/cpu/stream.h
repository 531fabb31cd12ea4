// Writing results that are larger than the cache past it: a plain store first reads the line that it overwrites, a
// streaming store does not. A kernel computes a tile of its output into a block in the first-level cache and streams it
// out.
#pragma once

#include <cstdint>
#include <cstring>

#include "tensor.h"

namespace kw {

// Copies n elements to memory without going through the cache.
template <class Element>
inline void stream_out(Element* to, const Element* from, int64_t n) {
#if defined(__AVX512F__)
  typedef long long Line __attribute__((vector_size(64), aligned(1), may_alias));
  constexpr int64_t kLine = 64;
#elif defined(__AVX__)
  typedef long long Line __attribute__((vector_size(32), aligned(1), may_alias));
  constexpr int64_t kLine = 32;
#elif defined(__SSE2__)
  typedef long long Line __attribute__((vector_size(16), aligned(1), may_alias));
  constexpr int64_t kLine = 16;
#endif
#if defined(__SSE2__)
  char* out = reinterpret_cast<char*>(to);
  const char* in = reinterpret_cast<const char*>(from);
  const int64_t bytes = n * static_cast<int64_t>(sizeof(Element));
  const int64_t misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % 64);
  int64_t done = misaligned == 0 ? 0 : (64 - misaligned < bytes ? 64 - misaligned : bytes);
  std::memcpy(out, in, static_cast<size_t>(done));
  for (; done + kLine <= bytes; done += kLine) {
    const Line line = *reinterpret_cast<const Line*>(in + done);
#if defined(__AVX512F__)
    __builtin_ia32_movntdq512(reinterpret_cast<decltype(line + line)*>(out + done), line);
#elif defined(__AVX__)
    __builtin_ia32_movntdq256(reinterpret_cast<decltype(line + line)*>(out + done), line);
#else
    __builtin_ia32_movntdq(reinterpret_cast<decltype(line + line)*>(out + done), line);
#endif
  }
  std::memcpy(out + done, in + done, static_cast<size_t>(bytes - done));
#else
  std::memcpy(to, from, static_cast<size_t>(n) * sizeof(Element));
#endif
}

// Whether an output of `elements` in rows of `row` is written past the cache: it would not stay there, and its rows are
// long enough to be whole lines.
template <class Element>
inline bool streams(int64_t elements, int64_t row, int64_t stream_bytes) {
  constexpr int64_t kBytes = sizeof(Element);
  return elements * kBytes >= stream_bytes && row * kBytes >= 512;
}

// Where the elements [first, first + n) of an output row are written: in place, or in a block that `finish` streams.
template <class Element, bool kUnit, int kTile>
class OutputTile {
 public:
  OutputTile(Row<Element, kUnit> row, int64_t first, bool streamed)
      : out_{&row[first], row.stride}, streamed_(kUnit && streamed) {}
  Row<Element, kUnit> row() { return streamed_ ? Row<Element, kUnit>{block_, 1} : out_; }
  void finish(int64_t n) const {
    if (streamed_) stream_out(out_.data, block_, n);
  }

 private:
  Row<Element, kUnit> out_;
  bool streamed_;
  alignas(64) Element block_[kTile];
};

}  // namespace kw
