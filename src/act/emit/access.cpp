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

std::vector<BufferId> tensors_of(const LoopProgram& program, const LoopKernel& kernel) {
  std::set<BufferId> used;
  for (const Access& access : accesses_of(kernel)) used.insert(access.buffer);
  std::vector<BufferId> tensors;
  for (size_t b = 0; b < program.buffers.size(); ++b)
    if (used.contains(static_cast<BufferId>(b))) tensors.push_back(static_cast<BufferId>(b));
  return tensors;
}

std::vector<std::string> scalars_of(const LoopProgram& program, const LoopKernel& kernel) {
  std::set<std::string> used;
  for (const Value& value : kernel.values)
    if (const Scalar* scalar = std::get_if<Scalar>(&value.what)) used.insert(scalar->name);
  std::vector<std::string> scalars;
  for (const auto& [name, _] : program.scalars)
    if (used.contains(name)) scalars.push_back(name);
  return scalars;
}

std::set<BufferId> written_by(const LoopKernel& kernel) {
  std::set<BufferId> written;
  for (const Stage& stage : kernel.stages) {
    for (const Store& store : stage.stores) written.insert(store.buffer);
    for (const Store& store : stage.after_stores) written.insert(store.buffer);
    for (const Accumulate& sum : stage.accumulates) written.insert(sum.buffer);
  }
  return written;
}

}  // namespace kw::act
