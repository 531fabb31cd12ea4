// How long each buffer of a pass is needed, and how much memory the pass takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/call.h"

namespace kw::kernel {

// Steps count from 0. Inputs, outputs and saved values live through the whole pass.
struct Lifetime {
  std::string buffer;
  int first = 0;
  int last = 0;
};

std::vector<Lifetime> lifetimes(const Pass& pass);  // in the order of the buffers

struct MemoryUse {
  std::int64_t inputs = 0;     // bytes that the caller holds anyway
  std::int64_t outputs = 0;    // results, without those that take the memory of an input
  std::int64_t saved = 0;      // what the forward pass keeps for the backward
  std::int64_t workspace = 0;  // the most workspace alive at one step
  std::int64_t peak() const { return outputs + saved + workspace; }  // what the pass adds to what was there
};

// Tensors of inputs may be in `facts` (a strided input holds what lies between its first and last element); what is not
// there is dense.
Result<MemoryUse> memory_use(const Pass& pass, const TypeBinding& types, const Facts& facts);

}  // namespace kw::kernel
