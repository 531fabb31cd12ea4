// An op as functions for C++: a header, and the calls behind it. Its caller allocates the results.
#pragma once

#include <string>

#include "act/package/op_form.h"

namespace kw::act {

std::string library_header(const OpForm& form, const Ingredients& kernel, const std::string& library);
Result<std::string> library_source(const OpForm& form, const Ingredients& kernel, const std::string& library);

// A program that runs the op on the CPU and on a GPU, at small sizes of its profile and in fp32, and prints the
// results.
Result<std::string> library_example(const OpForm& form, const Ingredients& kernel, const std::string& library);

}  // namespace kw::act
