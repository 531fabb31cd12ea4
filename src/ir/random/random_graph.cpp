#include "ir/random/random_graph.h"

#include "ir/random/recipe.h"

namespace kw::ir {

using namespace random;

Graph random_graph(uint64_t seed, const RandomGraphOptions& options) {
  Draft draft(seed, options);
  auto allowed = [&](Op op) { return recipe(op).tier <= options.highest_tier; };
  auto grow = [&](Op op) {
    std::optional<Drawn> drawn = recipe(op).draw(draft, op);
    if (drawn && draft.b[drawn->node].op != Op::Input) draft.keep(*drawn);
    return drawn.has_value();
  };
  // The op that this seed is to hold comes somewhere on the way, once its operands can be drawn.
  Op wanted = static_cast<Op>(seed % static_cast<uint64_t>(kOpCount));
  bool pending = allowed(wanted);
  int64_t turn = draft.dice.below(options.operations);
  for (int i = 0; i < options.operations || pending; ++i) {
    if (pending && i >= turn && grow(wanted)) {
      pending = false;
      continue;
    }
    if (i > options.operations + 64) break;
    for (int attempt = 0; attempt < 20; ++attempt) {
      Op op = static_cast<Op>(draft.dice.below(kOpCount));
      if (allowed(op) && grow(op)) break;
    }
  }
  return draft.finish();
}

}  // namespace kw::ir
