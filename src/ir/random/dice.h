// Random choices that are the same on every machine (the standard library's distributions are not).
#pragma once

#include <cstdint>
#include <vector>

namespace kw::ir::random {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x7F4A7C15F39CC060ull) {}

  uint64_t next() {  // SplitMix64
    uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double p) { return uniform() < p; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

 private:
  uint64_t state_;
};

}  // namespace kw::ir::random
