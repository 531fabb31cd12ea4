// One kernel in the making: takes values of the pass, with what they rest on, into the kernel, and puts each where it
// is computed.
#pragma once

#include "act/loop/identifier.h"
#include "act/loop/loop.h"

namespace kw::act {

class KernelDraft {
 public:
  // `values` are the pass's, `in_memory` the reductions that earlier kernels wrote.
  KernelDraft(std::string name, const std::vector<Value>& values, const std::map<ValueId, BufferId>& in_memory)
      : values_(values), in_memory_(in_memory) {
    kernel.name = std::move(name);
  }

  ValueId import(ValueId v);                                  // a value of the pass, as one of the kernel
  ValueId add(Value value);                                   // a value of the kernel's own
  void stand_in(ValueId v, ValueId own) { local_[v] = own; }  // `own` is what the pass calls v

  // Lists every value in the body of each stage whose loop it depends on and whose results need it, or once per
  // parallel point, after the stage that it waits for. Stages that have nothing to do vanish.
  LoopKernel finish() &&;

  LoopKernel kernel;  // stages hold reductions, stores and accumulations; `finish` lists the rest

 private:
  void import_operands(Load& load);
  void import_operands(Map& map);
  void import_operands(Reduced& reduced);
  void import_operands(IndexValue& value);
  void import_operands(Number&) {}
  void import_operands(Scalar&) {}
  void import_index(Index& index);

  const std::vector<Value>& values_;
  const std::map<ValueId, BufferId>& in_memory_;
  std::map<ValueId, ValueId> local_;
  Identifiers names_;
};

}  // namespace kw::act
