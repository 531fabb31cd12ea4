#include "act/emit/cpp/compared_products.h"

#include <algorithm>

#include "act/emit/cpp/spelling.h"

namespace kw::act::cpp {
namespace {

using ir::Op;

// Or may choose among its terms, as a combine may.
bool is_extreme(Op op) {
  return op == Op::ReduceMax || op == Op::ReduceMin || op == Op::ArgMax || op == Op::ArgMin || op == Op::Reduce;
}

bool may_end_in_a_product(const Value& value) {
  const Map* map = std::get_if<Map>(&value.what);
  if (!map || !value.type.floating() || spelling_of(map->op).exact) return false;
  return map->op != Op::Add && map->op != Op::Sub && map->op != Op::Cast;
}

// Whether it is made of anything but numbers and scalars.
bool is_of_data(const LoopKernel& kernel, ValueId id) {
  const Value& value = kernel[id];
  if (std::holds_alternative<Load>(value.what) || std::holds_alternative<Reduced>(value.what)) return true;
  const Map* map = std::get_if<Map>(&value.what);
  return map && std::any_of(map->args.begin(), map->args.end(), [&](ValueId arg) { return is_of_data(kernel, arg); });
}

}  // namespace

std::set<ValueId> find_compared_products(const LoopKernel& kernel) {
  std::set<ValueId> seen, products;
  auto visit = [&](auto&& self, ValueId id) -> void {
    const Value& value = kernel[id];
    if (std::holds_alternative<Reduced>(value.what) || !seen.insert(id).second) return;  // computed once
    if (may_end_in_a_product(value)) products.insert(id);
    for (ValueId operand : operands_of(value)) self(self, operand);
  };
  for (const Value& value : kernel.values) {
    if (const Reduced* reduced = std::get_if<Reduced>(&value.what); reduced && is_extreme(reduced->op))
      for (ValueId term : reduced->combined ? reduced->combined->args : std::vector{reduced->arg}) visit(visit, term);
    const Map* map = std::get_if<Map>(&value.what);
    if (!map) continue;
    const bool equality = map->op == Op::Eq || map->op == Op::Ne, order = map->op == Op::Lt || map->op == Op::Le;
    const auto of_data = [&](ValueId arg) { return is_of_data(kernel, arg); };
    if (equality || (order && std::all_of(map->args.begin(), map->args.end(), of_data)))
      for (ValueId arg : map->args) visit(visit, arg);
  }
  return products;
}

}  // namespace kw::act::cpp
