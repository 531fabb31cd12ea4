// Names in the styles of Python: RMSNorm → rms_norm → RmsNorm.
#pragma once

#include <string>
#include <string_view>

namespace kw::understand {

std::string snake_case(std::string_view name);
std::string camel_case(std::string_view name);
bool says_nothing(std::string_view name);  // of the op: "model", "forward"

}  // namespace kw::understand
