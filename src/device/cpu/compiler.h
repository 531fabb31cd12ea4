// The system's C++ compiler, which builds cpu kernels.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace kw::device::cpu {

struct Compiler {
  std::string path;
  std::string version;  // the first line that it says of itself
  std::string machine;  // what "native" means to it here: the processor's name and features
};

// g++, c++ or clang++ from PATH, or the one that is asked for.
Result<Compiler> find_compiler(const std::string& wanted = {});

// How every cpu kernel is built: as fast as the language's own arithmetic lets it be. Nothing here changes a result
// that the source spells out: no fused multiply-add that was not asked for, no reordering, no flushing of small
// numbers.
const std::vector<std::string>& kernel_flags();
// The same, with a crash at the first index beyond one of a kernel's own arrays.
std::vector<std::string> checking_flags();
inline constexpr const char* kOfGccAlone = "-fno-thread-jumps";  // clang refuses what it has no such pass for

}  // namespace kw::device::cpu
