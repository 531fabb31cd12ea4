// The C++ of an op: reads shapes and strides, takes the first entry whose guards hold, allocates the results with
// PyTorch's strides and calls the kernel. The CPU's kernels are a file of their own, since they alone are worth a
// compiler's time; those of the GPU are images that the package's build makes.
#pragma once

#include <string>

#include "act/package/op_form.h"

namespace kw::act {

Result<std::string> op_cpp(const OpForm& form);

// The name under which the build gives the images of a pass: kw_images_rms_norm_forward[mixture][image].
std::string images_name(const OpForm& form, const OpPass& pass);

}  // namespace kw::act
