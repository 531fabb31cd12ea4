#include "device/cpu/shim.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace kw::device::cpu {
namespace {

using kernel::Argument;
using kernel::DType;
using kernel::Entry;
using kernel::Pass;

struct Parameter {
  std::string type;
  std::string value;  // from its slot
};

Result<Parameter> parameter(const Pass& pass, const Argument& argument, const kernel::TypeBinding& types,
                            std::size_t slot) {
  if (kernel::is_pointer(argument.kind)) {
    KW_TRY(const DType dtype, kernel::dtype_of(pass.find(argument.of)->type, types));
    KW_TRY(std::string element, cpp_type(dtype));
    const std::string type = (argument.kind == Argument::Kind::Read ? "const " : "") + element + "*";
    return Parameter{type, fmt::format("static_cast<{}>(a[{}].pointer)", type, slot)};
  }
  if (argument.kind == Argument::Kind::Scalar) {
    KW_TRY(const DType dtype, kernel::dtype_of(argument.type, types));
    KW_TRY(std::string type, cpp_type(dtype));
    const char* member = ir::is_floating(dtype) ? "real" : "whole";
    return Parameter{type, fmt::format("static_cast<{}>(a[{}].{})", type, slot, member)};
  }
  const std::string type = argument.type == "i32" ? "std::int32_t" : "std::int64_t";
  return Parameter{type, fmt::format("static_cast<{}>(a[{}].whole)", type, slot)};
}

Result<std::string> bridge(const Pass& pass, const Entry& entry, const kernel::TypeBinding& types) {
  std::vector<std::string> parameters, values;
  for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
    KW_TRY(Parameter one, parameter(pass, entry.arguments[i], types, i));
    parameters.push_back(std::move(one.type));
    values.push_back(std::move(one.value));
  }
  return fmt::format(
      "// The parameters of {0} as the manifest gives them: an error here says that the kernel has others.\n"
      "static constexpr void (*kw_{0})({1}) = &::{0};\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void {2}([[maybe_unused]] const KwSlot* a) noexcept {{\n"
      "  kw_{0}({3});\n"
      "}}\n",
      entry.symbol, join(parameters, ", "), shim_symbol(entry.symbol), join(values, ", "));
}

}  // namespace

Result<std::string> cpp_type(DType dtype) {
  static constexpr std::array<std::pair<DType, std::string_view>, 12> kNames = {{{DType::Bool, "bool"},
                                                                                 {DType::U8, "std::uint8_t"},
                                                                                 {DType::I8, "std::int8_t"},
                                                                                 {DType::I16, "std::int16_t"},
                                                                                 {DType::I32, "std::int32_t"},
                                                                                 {DType::I64, "std::int64_t"},
                                                                                 {DType::F8E4M3, "kw::f8e4m3"},
                                                                                 {DType::F8E5M2, "kw::f8e5m2"},
                                                                                 {DType::BF16, "kw::bf16"},
                                                                                 {DType::F16, "kw::f16"},
                                                                                 {DType::F32, "float"},
                                                                                 {DType::F64, "double"}}};
  for (const auto& [row, name] : kNames)
    if (row == dtype) return std::string(name);
  return bad_input(fmt::format("cpu kernels have no element type {}", ir::info(dtype).name));
}

std::string shim_symbol(std::string_view kernel) { return "kw_call_" + std::string(kernel); }

Result<std::string> shim_source(const kernel::Manifest& manifest, const std::string& file,
                                const kernel::TypeBinding& types) {
  std::string source =
      fmt::format("// How the manifest of {} calls {}.\n#include \"kw/element.h\"\n\n", manifest.name, file);
  for (const auto& [name, dtypes] : manifest.types) {
    const auto bound = types.find(name);
    if (bound == types.end()) return bad_input(fmt::format("the type parameter {} has no dtype", name));
    const std::string dtype(ir::info(bound->second).name);
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end())
      return bad_input(fmt::format("{} may not be {}", name, dtype), {}, "its dtypes: " + join(dtypes, ", "));
    KW_TRY(const std::string type, cpp_type(bound->second));
    source += fmt::format("#define KW_{} {}\n", name, type);
  }
  source += fmt::format(
      "#include \"{}\"\n\n"
      "union KwSlot {{\n  void* pointer;\n  std::int64_t whole;\n  double real;\n}};\n",
      file);
  std::vector<const Entry*> seen;
  for (const Pass& pass : manifest.passes) {
    for (const kernel::Step& step : pass.steps) {
      for (const Entry& entry : step.entries) {
        if (entry.file != file) continue;
        KW_TRY(const std::string text, bridge(pass, entry, types));
        const auto same =
            std::find_if(seen.begin(), seen.end(), [&](const Entry* e) { return e->symbol == entry.symbol; });
        if (same != seen.end()) {  // called twice: with the same parameters, or the compiler says so
          if (source.find(text) == std::string::npos)
            return bad_input(fmt::format("{} is called with two kinds of parameters", entry.symbol));
          continue;
        }
        seen.push_back(&entry);
        source += "\n" + text;
      }
    }
  }
  return source;
}

}  // namespace kw::device::cpu
