#include "kernel/types.h"

#include <fmt/format.h>

#include "base/text.h"

namespace kw::kernel {

std::string text(const TypeBinding& binding) {
  std::vector<std::string> parts;
  for (const auto& [name, dtype] : binding) parts.push_back(fmt::format("{} = {}", name, ir::info(dtype).name));
  return join(parts, ", ");
}

bool is_element(DType dtype) { return ir::info(dtype).bytes > 0; }

Result<std::vector<std::string>> type_parts(std::string_view type) {
  std::vector<std::string> parts;
  for (const std::string& part : split(type, '|')) {
    parts.emplace_back(trim(part));
    if (parts.back().empty())
      return bad_input(fmt::format("'{}' is not a type", type), {},
                       "a type is a dtype (f32), a parameter (T), or T|f32");
  }
  return parts;
}

Result<DType> dtype_of(std::string_view type, const TypeBinding& binding) {
  KW_TRY(const std::vector<std::string> parts, type_parts(type));
  DType joined = DType::None;
  for (const std::string& part : parts) {
    const auto parameter = binding.find(part);
    const std::optional<DType> dtype =
        parameter != binding.end() ? std::optional(parameter->second) : ir::dtype_from_name(part);
    if (!dtype || !is_element(*dtype)) return bad_input(fmt::format("there is no type '{}'", part));
    const DType before = joined;
    joined = before == DType::None ? *dtype : ir::promote(before, *dtype);
    if (joined == DType::None)
      return bad_input(
          fmt::format("{} and {} promote to nothing in '{}'", ir::info(before).name, ir::info(*dtype).name, type));
  }
  return joined;
}

}  // namespace kw::kernel
