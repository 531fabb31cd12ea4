// How a new tensor lies in memory, as an expression of C++ (runtime/torch/layout.h) and of Python (op.py).
#pragma once

#include <string>

#include "base/result.h"
#include "kernel/manifest.h"

namespace kw::act {

// The operands are inputs of the output's own shape, as they are (or none): what a call can say by their names alone.
Result<bool> has_plain_layout(const kernel::Buffer& output, const std::vector<kernel::Buffer>& inputs);

// `sizes`: the name of a kw_torch::Sizes of the output's sizes. Inputs are kw_call.NAME.
Result<std::string> layout_in_cpp(const kernel::Buffer& output, const std::string& sizes);
// `shape`: the output's sizes as a tuple; a tuple of tensors of this shape, for _op.empty.
Result<std::string> layout_in_python(const kernel::Buffer& output, const std::vector<kernel::Buffer>& inputs,
                                     const std::string& shape);

}  // namespace kw::act
