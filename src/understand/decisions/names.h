// Names in the styles of Python: RMSNorm → rms_norm → RmsNorm.
#pragma once

#include <string>
#include <string_view>

namespace kw::understand {

std::string snake_case(std::string_view name);
std::string camel_case(std::string_view name);

}  // namespace kw::understand
