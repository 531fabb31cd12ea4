#include "act/emit/access.h"

#include <set>

#include "act/loop/index.h"

namespace kw::act {

std::vector<Access> accesses_of(const LoopKernel& kernel) {
  std::vector<Access> all;
  std::set<ValueId> seen;
  auto visit = [&](auto&& self, ValueId v) -> void {
    if (!seen.insert(v).second) return;
    if (const Load* load = std::get_if<Load>(&kernel[v].what)) all.push_back({load->buffer, &load->at});
    for (ValueId operand : operands_of(kernel[v])) self(self, operand);
  };
  for (const Stage& stage : kernel.stages) {
    for (ValueId r : stage.reductions) visit(visit, r);
    for (const std::vector<Store>* stores : {&stage.stores, &stage.after_stores})
      for (const Store& store : *stores) {
        visit(visit, store.value);
        for (const Index& index : store.at)
          for (ValueId v : values_of(index)) visit(visit, v);
        all.push_back({store.buffer, &store.at});
      }
    for (const Accumulate& sum : stage.accumulates) {
      visit(visit, sum.value);
      all.push_back({sum.buffer, &sum.at, true});
    }
  }
  return all;
}

}  // namespace kw::act
