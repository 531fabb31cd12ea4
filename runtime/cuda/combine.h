// Reductions by a combine of the op's own, over the threads that share a row or a column. A Tuple has the parts of its
// values, Tuple::of(left, right), what two runs of neighbours become, which need not commute, and Tuple::identity(),
// what a reduction of nothing gives. Runs are joined in order, the same way every time. Built on thread.h and
// reduction.h alone, and so the same on a GPU and in emulation.
#pragma once

#include "reduction.h"

namespace kw {

// What a run of terms became, if there were any: the identity joins nothing, not even itself.
template <class Tuple>
struct Run {
  Tuple tuple;
  bool any;
  KW_DEVICE void add(const Tuple& term) {
    tuple = any ? Tuple::of(tuple, term) : term;
    any = true;
  }
  KW_DEVICE Tuple total() const { return any ? tuple : Tuple::identity(); }
};
template <class Tuple>
KW_DEVICE Run<Tuple> no_run() {
  return {Tuple::identity(), false};
}

// As an operation of reduction.h.
struct Joined {
  template <class Tuple>
  KW_DEVICE static Run<Tuple> combine(const Run<Tuple>& left, const Run<Tuple>& right) {
    if (!left.any || !right.any) return left.any ? left : right;
    return {Tuple::of(left.tuple, right.tuple), true};
  }
};

// The part that the lane whose number differs by the bits of the mask has.
struct FromLane {
  int mask;
  template <class T>
  KW_DEVICE T operator()(T part) const {
    return shuffle_xor(part, mask);
  }
};

// Over groups of `lanes` neighbours of a warp, a power of two; each of them has the result.
template <class Tuple>
KW_DEVICE Run<Tuple> lanes_join(const Run<Tuple>& own, int lanes) {
  Run<Tuple> run = own;
  for (int mask = 1; mask < lanes; mask *= 2) {
    Run<Tuple> other;
    other.tuple = run.tuple.moved(FromLane{mask});
    other.any = shuffle_xor(static_cast<int>(run.any), mask) != 0;
    run = lane() & mask ? Joined::combine(other, run) : Joined::combine(run, other);
  }
  return run;
}

// Terms that one thread has one after the other, as a tree: level k holds what 2^k runs became.
template <class Tuple, int kLevels>
class InOrder {
 public:
  KW_DEVICE void add(const Run<Tuple>& run) {
    if (!run.any) return;
    Tuple term = run.tuple;
    int level = 0;
    for (uint64_t full = count_++; (full & 1) && level < kLevels - 1; full >>= 1, ++level)
      term = Tuple::of(levels_[level], term);
    // The last level takes all that comes.
    const bool last = level == kLevels - 1 && (count_ - 1) >> level;
    levels_[level] = last ? Tuple::of(levels_[level], term) : term;
  }
  KW_DEVICE void add(const Tuple& term) { add(Run<Tuple>{term, true}); }
  KW_DEVICE Run<Tuple> run() const {
    Run<Tuple> all = no_run<Tuple>();
    int level = 0;
    for (uint64_t rest = count_; rest; rest >>= 1, ++level) {
      const bool last = level == kLevels - 1;
      if (last || (rest & 1)) all = Joined::combine(Run<Tuple>{levels_[level], true}, all);
      if (last) break;
    }
    return all;
  }

 private:
  uint64_t count_ = 0;
  Tuple levels_[kLevels];
};

// A tile of a row: the threads have vectors of neighbours, and runs[v] is what each became. Adds all of them to `total`
// of every thread, in order. `parts` has room for 2 * kMostWarps.
template <bool kBlockRow, class Total, class Tuple, int kVectors>
KW_DEVICE void add_tile(Total& total, const Run<Tuple> (&runs)[kVectors], int lanes,
                        typename shared_of<Run<Tuple>>::type parts, int& turn) {
  KW_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    if (kBlockRow) {
      Run<Tuple> run = lanes_join(runs[v], 32);
      if (warps() > 1) {
        if (lane() == 0) parts[turn * kMostWarps + warp()] = run;
        barrier();
        run = lane() < warps() ? Run<Tuple>(parts[turn * kMostWarps + lane()]) : no_run<Tuple>();
        run = lanes_join(run, 32);
        turn = 1 - turn;
      }
      total.add(run);
    } else {
      total.add(lanes_join(runs[v], lanes));
    }
  }
}

}  // namespace kw
