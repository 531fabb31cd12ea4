#include "act/loop/uses.h"

#include <set>

namespace kw::act {

bool is_trivial(const Value& value) {
  return std::holds_alternative<Number>(value.what) || std::holds_alternative<Scalar>(value.what) ||
         std::holds_alternative<IndexValue>(value.what);
}

std::vector<int> use_counts(const LoopKernel& kernel) {
  std::vector<int> uses(kernel.values.size(), 0);
  std::set<ValueId> seen;
  const auto use = [&](auto&& self, ValueId v) -> void {
    ++uses[static_cast<size_t>(v)];
    if (!seen.insert(v).second) return;
    for (ValueId operand : operands_of(kernel[v])) self(self, operand);
  };
  for (const Stage& stage : kernel.stages) {
    for (ValueId r : stage.reductions) use(use, r);
    for (const auto* stores : {&stage.stores, &stage.after_stores})
      for (const Store& store : *stores) use(use, store.value);
    for (const Accumulate& sum : stage.accumulates) use(use, sum.value);
  }
  return uses;
}

std::vector<ValueId> in_order(const LoopKernel& kernel, const std::vector<ValueId>& roots,
                              const std::function<bool(ValueId)>& known,
                              const std::function<std::vector<ValueId>(ValueId)>& operands) {
  std::vector<ValueId> order;
  std::set<ValueId> seen;
  const auto visit = [&](auto&& self, ValueId v) -> void {
    if (known(v) || is_trivial(kernel[v]) || !seen.insert(v).second) return;
    for (ValueId operand : operands ? operands(v) : operands_of(kernel[v])) self(self, operand);
    order.push_back(v);
  };
  for (ValueId root : roots) visit(visit, root);
  return order;
}

}  // namespace kw::act
