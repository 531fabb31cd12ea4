// The C++ of an op: reads shapes and strides, takes the first entry whose guards hold, allocates the results with
// PyTorch's strides and calls the kernel. It holds the CPU's kernels of every mixture of types; those of the GPU are
// images that the package's build makes.
#pragma once

#include <string>

#include "act/package/op_form.h"

namespace kw::act {

Result<std::string> op_cpp(const OpForm& form);

// The name under which the build gives the images of a pass: kw_images_rms_norm_forward[mixture][image].
std::string images_name(const OpForm& form, const OpPass& pass);
// The macros of a mixture: KW_T → kw::bf16.
Result<std::map<std::string, std::string>> type_macros(const kernel::TypeBinding& mixture);

}  // namespace kw::act
