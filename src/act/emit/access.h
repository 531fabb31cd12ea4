// What a kernel reads, writes and is called with, whatever the target makes of it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "act/loop/loop.h"

namespace kw::act {

struct Access {
  BufferId buffer;
  const std::vector<Index>* at;
  bool slice = false;  // of an accumulation: without the buffer's first dimension
};
std::vector<Access> accesses_of(const LoopKernel& kernel);

// In the program's order.
std::vector<BufferId> tensors_of(const LoopProgram& program, const LoopKernel& kernel);
std::vector<std::string> scalars_of(const LoopProgram& program, const LoopKernel& kernel);
std::set<BufferId> written_by(const LoopKernel& kernel);

}  // namespace kw::act
