// The Python of an op: its fake kernels and autograd formula, the autograd.Function of eager mode, the function and the
// module that users call.
#pragma once

#include <string>

#include "act/package/op_form.h"

namespace kw::act {

Result<std::string> op_python(const OpForm& form, const Ingredients& kernel);

// The shapes of the op's tensors at the profile's test sizes, as Python: those of few elements, and those of none.
struct TestShapes {
  std::string some, none;
};
Result<TestShapes> test_shapes(const OpForm& form, const profile::Profile& profile);

// The source holds the module that was read, and can be imported beside the op.
bool has_source_module(const Ingredients& kernel);

}  // namespace kw::act
