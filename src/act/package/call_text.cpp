#include "act/package/call_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "act/package/expression_text.h"
#include "base/text.h"

namespace kw::act {

using kernel::Argument;
using kernel::DType;
using kernel::Entry;

namespace {

struct Spelling {
  DType dtype;
  std::string_view element;  // in a kernel
  std::string_view torch;    // of kw_host::Dtype
};
constexpr Spelling kSpellings[] = {
    {DType::Bool, "bool", "kBool"},     {DType::U8, "unsigned char", "kU8"}, {DType::I8, "signed char", "kI8"},
    {DType::I16, "short", "kI16"},      {DType::I32, "int", "kI32"},         {DType::I64, "long long", "kI64"},
    {DType::BF16, "kw::bf16", "kBF16"}, {DType::F16, "kw::f16", "kF16"},     {DType::F32, "float", "kF32"},
    {DType::F64, "double", "kF64"},
};

Result<const Spelling*> spelling_of(DType dtype) {
  for (const Spelling& spelling : kSpellings)
    if (spelling.dtype == dtype) return &spelling;
  return bad_input(fmt::format("an op of a package has no elements of type {}", ir::info(dtype).name));
}

}  // namespace

Result<std::string> dtype_text(DType dtype) {
  KW_TRY(const Spelling* spelling, spelling_of(dtype));
  return "Dtype::" + std::string(spelling->torch);
}
Result<std::string> element_text(DType dtype) {
  KW_TRY(const Spelling* spelling, spelling_of(dtype));
  return std::string(spelling->element);
}

Result<std::string> type_rows(const OpForm& form, const std::vector<kernel::Buffer>& buffers) {
  std::vector<std::string> rows;
  for (const kernel::TypeBinding& mixture : form.mixtures) {
    std::vector<std::string> row;
    for (const kernel::Buffer& buffer : buffers) {
      KW_TRY(const DType dtype, kernel::dtype_of(buffer.type, mixture));
      KW_TRY(const Spelling* spelling, spelling_of(dtype));
      row.push_back("Dtype::" + std::string(spelling->torch));
    }
    rows.push_back("{" + join(row, ", ") + "}");
  }
  return join(rows, ", ");
}

// The type of a scalar argument is the same in every mixture: those that are compiled compute in fp32 alike.
static Result<std::string> scalar_type(const OpForm& form, const Argument& argument) {
  std::set<std::string> types;
  for (const kernel::TypeBinding& mixture : form.mixtures) {
    KW_TRY(const DType dtype, kernel::dtype_of(argument.type, mixture));
    KW_TRY(const Spelling* spelling, spelling_of(dtype));
    types.insert(std::string(spelling->element));
  }
  if (types.size() != 1)
    return bad_input(fmt::format("the scalar {} has another type in another mixture of types", argument.of));
  return *types.begin();
}

Result<std::vector<std::string>> sizes_of(const std::vector<std::string>& shape) {
  std::vector<std::string> sizes;
  for (const std::string& size : shape) {
    KW_TRY(std::string text, cpp_size(size));
    sizes.push_back(std::move(text));
  }
  return sizes;
}

Result<std::string> condition_of(const Entry& entry, bool on_gpu) {
  std::vector<std::string> conditions;
  for (const std::string& guard : entry.guards) {
    KW_TRY(const std::string text, cpp_condition(guard));
    conditions.push_back(text.find(" || ") == std::string::npos ? text : "(" + text + ")");
  }
  for (const Argument& argument : entry.arguments) {
    if (argument.type != "i32") continue;
    if (argument.kind == Argument::Kind::Stride)
      conditions.push_back(fmt::format("kw_host::fits_i32(kw_host::stride({}, {}))", argument.of, argument.dimension));
    if (argument.kind == Argument::Kind::Size && !parse_integer(argument.of)) {
      KW_TRY(const std::string text, cpp_size(argument.of));
      conditions.push_back("kw_host::fits_i32(" + text + ")");
    }
  }
  if (on_gpu && entry.launch.shared_bytes != "0") {
    KW_TRY(const std::string bytes, cpp_size(entry.launch.shared_bytes));
    conditions.push_back(bytes + " <= kw_gpu.shared_limit");
  }
  return conditions.empty() ? std::string("true") : join(conditions, " && ");
}

Result<std::vector<std::string>> arguments_of(const OpForm& form, const Entry& entry) {
  std::vector<std::string> arguments;
  for (const Argument& argument : entry.arguments) {
    const std::string whole = argument.type == "i32" ? "std::int32_t" : "std::int64_t";
    if (kernel::is_pointer(argument.kind)) {
      arguments.push_back(argument.of + ".data");
    } else if (argument.kind == Argument::Kind::Stride) {
      arguments.push_back(fmt::format("{}(kw_host::stride({}, {}))", whole, argument.of, argument.dimension));
    } else if (argument.kind == Argument::Kind::Size) {
      KW_TRY(const std::string text, cpp_size(argument.of));
      arguments.push_back(whole + "(" + text + ")");
    } else {
      KW_TRY(const std::string type, scalar_type(form, argument));
      arguments.push_back(fmt::format("static_cast<{}>({})", type, argument.of));
    }
  }
  return arguments;
}

Result<std::string> parameter_types(const OpForm& form, const Entry& entry) {
  std::vector<std::string> types;
  for (const Argument& argument : entry.arguments) {
    if (kernel::is_pointer(argument.kind)) {
      types.emplace_back("void*");
    } else if (argument.kind == Argument::Kind::Scalar) {
      KW_TRY(std::string type, scalar_type(form, argument));
      types.push_back(std::move(type));
    } else {
      types.emplace_back(argument.type == "i32" ? "std::int32_t" : "std::int64_t");
    }
  }
  return join(types, ", ");
}

const Entry& entry_of(const kernel::Pass& pass, const std::string& symbol) {
  const Entry* found = nullptr;
  for (const kernel::Step& step : pass.steps)
    for (const Entry& entry : step.entries)
      if (entry.symbol == symbol) found = &entry;
  KW_ASSERT(found != nullptr, "a symbol of the pass");
  return *found;
}

std::vector<std::string> symbols_of(const kernel::Pass& pass) {
  std::vector<std::string> symbols;
  for (const kernel::Step& step : pass.steps)
    for (const Entry& entry : step.entries)
      if (std::find(symbols.begin(), symbols.end(), entry.symbol) == symbols.end()) symbols.push_back(entry.symbol);
  return symbols;
}

std::size_t symbol_index(const kernel::Pass& pass, const std::string& symbol) {
  const std::vector<std::string> symbols = symbols_of(pass);
  return static_cast<std::size_t>(std::find(symbols.begin(), symbols.end(), symbol) - symbols.begin());
}

Result<std::map<std::string, std::string>> type_macros(const kernel::TypeBinding& mixture) {
  std::map<std::string, std::string> macros;
  for (const auto& [parameter, dtype] : mixture) {
    KW_TRY(const Spelling* spelling, spelling_of(dtype));
    macros["KW_" + parameter] = spelling->element;
  }
  return macros;
}

bool asks_for(const kernel::Pass& pass, const std::string& machine) {
  const auto in = [&](const std::string& text) { return text.find(machine) != std::string::npos; };
  for (const kernel::Buffer& buffer : pass.buffers)
    if (std::any_of(buffer.shape.begin(), buffer.shape.end(), in)) return true;
  for (const kernel::Step& step : pass.steps)
    for (const Entry& entry : step.entries) {
      if (std::any_of(entry.guards.begin(), entry.guards.end(), in)) return true;
      for (const Argument& argument : entry.arguments)
        if (argument.kind == Argument::Kind::Size && in(argument.of)) return true;
      for (const auto& part : {entry.launch.grid, entry.launch.block})
        if (std::any_of(part.begin(), part.end(), in)) return true;
      if (in(entry.launch.shared_bytes)) return true;
    }
  return false;
}

std::string broken_text(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines.all()) {
    Lines one;
    one.line(line);
    text += line.find('"') == std::string::npos ? wrapped(one).text() : line + "\n";
  }
  return text;
}

}  // namespace kw::act
