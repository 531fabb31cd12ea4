// The kernels of an op for every mixture of types, compiled in one file of C++ or CUDA C++, and the tables through
// which they are called.
#pragma once

#include <string>

#include "act/package/op_form.h"

namespace kw::act {

// One namespace holds the kernels of a pass for one mixture of types; a table has each of them for every mixture.
Result<std::string> kernels_by_type(const OpForm& form, kernel::Target target);

// "void (*const kw_cpu_softmax_forward_0[3])(void*, std::int64_t)"; kernels of a GPU are known by their address alone.
Result<std::string> kernel_table(const OpForm& form, const OpPass& pass, kernel::Target target, std::size_t symbol);
std::string kernel_table_name(const OpForm& form, const OpPass& pass, kernel::Target target, std::size_t symbol);

}  // namespace kw::act
