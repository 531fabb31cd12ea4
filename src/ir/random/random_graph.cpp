#include "ir/random/random_graph.h"

#include <algorithm>

#include "ir/random/recipe.h"

namespace kw::ir {

using namespace random;

namespace {

constexpr int kWantedOps = 5;         // of each graph
constexpr uint64_t kWantedStep = 41;  // apart in the list of ops

constexpr int kSteeredAttempts = 8;
constexpr int kMostAttempts = 40;

// An op that a seed's graph is to hold, and how often earlier seeds have held it for the same reason.
struct Wanted {
  Op op;
  int visit;
};

std::vector<Wanted> wanted_by(uint64_t seed, const RandomGraphOptions& options) {
  std::vector<Wanted> wanted;
  constexpr auto kOps = static_cast<uint64_t>(kOpCount);
  for (int k = 0; k < kWantedOps; ++k) {
    Op op = static_cast<Op>((seed + static_cast<uint64_t>(k) * kWantedStep) % kOps);
    if (recipe(op).tier <= options.highest_tier) wanted.push_back({op, static_cast<int>(seed / kOps) * kWantedOps + k});
  }
  return wanted;
}

}  // namespace

Graph random_graph(uint64_t seed, const RandomGraphOptions& options) {
  Draft draft(seed, options);
  auto grow = [&](Op op) {
    if (recipe(op).tier > options.highest_tier) return false;
    std::optional<Drawn> drawn = recipe(op).draw(draft, op);
    if (drawn && draft.b[drawn->node].op != Op::Input) draft.keep(*drawn);
    return drawn.has_value();
  };
  auto grow_anything = [&] {
    for (int attempt = 0; attempt < 30; ++attempt) {
      Op op = static_cast<Op>(draft.dice.below(kOpCount));
      // Reductions and views are few among many pointwise ops, but they are what shapes a graph.
      if (info(op).kind == OpKind::Pointwise && draft.dice.chance(0.4)) continue;
      if (grow(op)) return;
    }
  };
  std::vector<Wanted> wanted = wanted_by(seed, options);
  int failures = 0;
  for (int left = options.operations; left > 0 || !wanted.empty(); --left) {
    // The wanted ops come at random places. Where no operand of the turn's type fits, any will do.
    bool turn = !wanted.empty() && draft.dice.below(std::max(left, 1)) < static_cast<int64_t>(wanted.size());
    if (!turn) {
      grow_anything();
      continue;
    }
    if (failures < kSteeredAttempts) draft.visit = wanted.back().visit;
    bool grown = grow(wanted.back().op);
    draft.visit.reset();
    if (!grown && ++failures <= kSteeredAttempts) grow_anything();
    // Under some options there may never be an operand: no shift without integers.
    if (!grown && failures < kMostAttempts) continue;
    wanted.pop_back();
    failures = 0;
  }
  return draft.finish();
}

}  // namespace kw::ir
