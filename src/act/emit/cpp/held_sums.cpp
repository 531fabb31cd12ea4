#include "act/emit/cpp/held_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "act/loop/uses.h"

namespace kw::act::cpp {
namespace {

using ir::DType;
using ir::Op;

// value < number, value <= number, or the other way round.
struct Comparison {
  ValueId value;
  double number;
  bool above;   // true of greater values
  bool strict;  // not of the number itself
};

std::optional<double> number_of(const LoopKernel& kernel, ValueId id) {
  const Number* number = std::get_if<Number>(&kernel[id].what);
  return number ? std::optional(number->literal.number()) : std::nullopt;
}

std::optional<Comparison> comparison_of(const LoopKernel& kernel, ValueId id) {
  const Map* map = std::get_if<Map>(&kernel[id].what);
  if (!map || (map->op != Op::Lt && map->op != Op::Le)) return {};
  const std::optional<double> left = number_of(kernel, map->args[0]), right = number_of(kernel, map->args[1]);
  if (left.has_value() == right.has_value()) return {};
  return Comparison{map->args[left ? 1 : 0], left ? *left : *right, left.has_value(), map->op == Op::Lt};
}

// select(value <= number, number, rest)
struct Bound {
  Comparison beyond;
  ValueId rest;
};

std::optional<Bound> bound_of(const LoopKernel& kernel, ValueId id) {
  const Map* map = std::get_if<Map>(&kernel[id].what);
  if (!map || map->op != Op::Select) return {};
  const std::optional<Comparison> beyond = comparison_of(kernel, map->args[0]);
  const std::optional<double> number = number_of(kernel, map->args[1]);
  if (!beyond || !number || *number != beyond->number || std::signbit(*number)) return {};
  if (!(kernel[map->args[2]].type == kernel[id].type)) return {};
  return Bound{*beyond, map->args[2]};
}

bool is_sum(const LoopKernel& kernel, ValueId id) {
  const Map* map = std::get_if<Map>(&kernel[id].what);
  return map && (map->op == Op::Add || map->op == Op::Sub) && kernel[id].type.floating() &&
         std::all_of(map->args.begin(), map->args.end(), [&](ValueId arg) {
           const std::optional<double> number = number_of(kernel, arg);
           return number ? std::isfinite(*number) && is_exact_everywhere(*number) : kernel[arg].type == kernel[id].type;
         });
}

// Whether it is true of the sum where it is true of what is held. Only the number at its own end tells them apart: a
// sum may be less than the least, what is held is not.
bool is_blind_to(const Comparison& comparison, const HeldSum& held) {
  const double number = comparison.number;
  const bool of_the_least = comparison.above == comparison.strict;  // asks whether it is above the number, or not
  return of_the_least ? held.least <= number && number < held.most : held.least < number && number <= held.most;
}

}  // namespace

bool is_exact_everywhere(double value) { return !std::isfinite(value) || ir::round_to(DType::F8E5M2, value) == value; }

HeldSums find_held_sums(const LoopKernel& kernel, const std::function<bool(ir::Type)>& rounds) {
  HeldSums found;
  const std::vector<int> uses = use_counts(kernel);
  const auto uses_of = [&](ValueId id) { return uses[static_cast<size_t>(id)]; };
  for (ValueId outer = 0; outer < static_cast<ValueId>(kernel.values.size()); ++outer) {
    const std::optional<Bound> second = bound_of(kernel, outer);
    const std::optional<Bound> first = second ? bound_of(kernel, second->rest) : std::nullopt;
    if (!first || uses_of(outer) == 0) continue;
    const ValueId inner = second->rest, sum = first->rest;
    const bool tests_inner = second->beyond.value == inner;
    if (first->beyond.value != sum || !(tests_inner || second->beyond.value == sum)) continue;
    if (first->beyond.above == second->beyond.above || !is_sum(kernel, sum) || !rounds(kernel[sum].type)) continue;
    const Comparison& below = first->beyond.above ? second->beyond : first->beyond;
    const Comparison& above = first->beyond.above ? first->beyond : second->beyond;
    const HeldSum held{below.number, above.number};
    if (!(held.least < held.most) || !std::isfinite(held.most)) continue;
    if (!is_exact_everywhere(held.least) || !is_exact_everywhere(held.most)) continue;
    if (held.least == 0 && below.strict) continue;  // -0 would stay what it is
    if (uses_of(inner) != (tests_inner ? 2 : 1)) continue;
    int blind = 1;  // the inner choice
    for (ValueId user = 0; user < static_cast<ValueId>(kernel.values.size()); ++user) {
      const std::optional<Comparison> comparison = comparison_of(kernel, user);
      blind += uses_of(user) > 0 && comparison && comparison->value == sum && is_blind_to(*comparison, held);
    }
    if (blind != uses_of(sum)) continue;
    found.sums[sum] = held;
    found.same[inner] = found.same[outer] = sum;
  }
  return found;
}

}  // namespace kw::act::cpp
