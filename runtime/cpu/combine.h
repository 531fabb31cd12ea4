// Reductions by a combine of the op's own, on the CPU. A Tuple has the parts of its values and two functions:
//
//   Tuple::of(left, right)   what two runs of neighbours become; it need not commute
//   Tuple::identity()        what a reduction of nothing gives
//
// Terms are joined in order, as a tree whose shape depends on their number alone: no rounding error is carried further
// than about log2(n) steps, and every machine gives the same bits.
#pragma once

#include <cstdint>

namespace kw {

// What a tile's terms become; n > 0. The terms are used up.
template <class Tuple>
inline Tuple tile_combine(Tuple* terms, int64_t n) {
  while (n > 1) {
    const int64_t pairs = n / 2;
    // A pair is read before anything is written where it stood.
#pragma omp simd
    for (int64_t i = 0; i < pairs; ++i) terms[i] = Tuple::of(terms[2 * i], terms[2 * i + 1]);
    if (n % 2) terms[pairs] = terms[n - 1];
    n -= pairs;
  }
  return terms[0];
}

// kWidth reductions side by side, each of which gets its next term at the same time. A level holds what twice as many
// terms as the one below became.
template <class Tuple, int64_t kWidth = 1>
class InOrder {
 public:
  // The next term of the first n reductions. The terms are used up.
  void add(Tuple* terms, int64_t n) {
    int level = 0;
    for (uint64_t full = count_++; full & 1; full >>= 1, ++level) {
      Tuple* const before = levels_[level];
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) terms[i] = Tuple::of(before[i], terms[i]);
    }
    for (int64_t i = 0; i < n; ++i) levels_[level][i] = terms[i];
  }
  void add(Tuple term) { add(&term, 1); }
  // The result of reduction i.
  Tuple total(int64_t i = 0) const {
    if (count_ == 0) return Tuple::identity();
    int level = __builtin_ctzll(count_);  // the last terms
    Tuple all = levels_[level][i];
    for (uint64_t rest = count_ >> (level + 1); rest; rest >>= 1) {
      ++level;
      if (rest & 1) all = Tuple::of(levels_[level][i], all);
    }
    return all;
  }
  bool empty() const { return count_ == 0; }

 private:
  uint64_t count_ = 0;  // terms so far
  Tuple levels_[40][kWidth];
};

// What one chunk of the terms became, if it had any.
template <class Tuple>
struct Part {
  Tuple tuple;
  bool any;
};
template <class Tuple>
inline Tuple parts_combine(const Part<Tuple>* parts, int64_t n) {
  InOrder<Tuple> all;
  for (int64_t i = 0; i < n; ++i)
    if (parts[i].any) all.add(parts[i].tuple);
  return all.total();
}

}  // namespace kw
