// Expressions of a manifest as C++, so that a call needs no interpreter: "cols % 8 == 0 and aligned(x, 16)" becomes
// kw_torch::floor_mod(cols, 8) == 0 && kw_torch::aligned(x, 16). Functions are those of runtime/torch/view.h; sizes and
// scalars keep their names, those of the machine are kw_threads and kw_multiprocessors, and the blocks of step 0 are
// kw_blocks_0. In Python an expression
// reads as it is written.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace kw::act {

Result<std::string> cpp_size(std::string_view text);
Result<std::string> cpp_condition(std::string_view text);

}  // namespace kw::act
