// Every buffer access of a kernel, whatever the target makes of it.
#pragma once

#include "act/loop/loop.h"

namespace kw::act {

struct Access {
  BufferId buffer;
  const std::vector<Index>* at;
  bool slice = false;  // of an accumulation: without the buffer's first dimension
};
std::vector<Access> accesses_of(const LoopKernel& kernel);

}  // namespace kw::act
