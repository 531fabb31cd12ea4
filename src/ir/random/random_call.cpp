#include "ir/random/random_call.h"

#include "ir/random/draft.h"

namespace kw::ir {

using namespace random;

Environment random_call(const Graph& graph, uint64_t seed) {
  Dice dice(seed ^ 0x5DEECE66Dull);
  Environment call;
  for (const Input& input : graph.inputs) {
    if (input.kind == InputKind::Scalar && input.default_value) continue;
    Array array;
    int64_t elements = 1;
    for (AxisId a : input.dims) {
      std::optional<int64_t> n = a == kUnit ? 1 : graph.hinted(graph.axis(a).size);
      KW_ASSERT(n.has_value(), "a random call needs sizes for every axis");
      array.shape.push_back(*n);
      elements *= *n;
    }
    DType type = bound_type(graph, input.type);
    for (int64_t i = 0; i < elements; ++i) {
      double value = type == DType::Bool ? double(dice.below(2))
                     : type == DType::U8 ? double(dice.below(10))
                     : is_floating(type) ? round_to(type, 4 * dice.uniform() - 2)
                                         : double(dice.between(-9, 9));
      array.values.push_back(value);
    }
    call.inputs.emplace(input.name, std::move(array));
  }
  for (const Symbol& symbol : graph.symbols)
    if (symbol.hint) call.sizes.emplace(symbol.name, *symbol.hint);
  return call;
}

}  // namespace kw::ir
