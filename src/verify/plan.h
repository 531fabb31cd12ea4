// Which cases kernels are judged on: the profile's shapes and hostile ones, each way to lie in memory, each range of
// values, each mixture of types, and the shapes that reach what these do not. The plan is the same for everyone; the
// values come from a seed that stays in the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/call.h"
#include "verify/cases.h"
#include "verify/subject.h"

namespace kw::verify {

struct CaseOptions {
  std::uint64_t seed = 0;
  std::int64_t most_elements = 150'000;  // of the largest tensor: what the interpreter can do quickly
  std::int64_t most_to_reach = 300'000;  // likewise, of a shape that alone reaches a kernel
  std::int64_t most_in_parts = 0;        // likewise, of one with parts of a sum from many blocks
  std::int64_t most_along_axis = 0;      // likewise, of one whose only purpose is that an axis is long
  std::int64_t most_threads = 0;         // that such a call may launch; 0: any number
  bool may_overlap = true;               // elements of a tensor may be one number in memory: it is only read
  bool vast = false;                     // tensors may take far more addresses than memory
  kernel::Machine machine;               // that decides which kernels a shape reaches
  bool only_own_types = false;
};

std::vector<Case> plan_cases(const Subject& subject, const CaseOptions& options);

}  // namespace kw::verify
