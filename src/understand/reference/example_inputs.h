// The function of a reference that makes tensors to try it on, at the user's own sizes.
#pragma once

#include <string>

#include "understand/reference/body.h"

namespace kw::understand::reference {

std::string example_inputs_function(const Body& body);

}  // namespace kw::understand::reference
