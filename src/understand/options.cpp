#include "understand/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "profile/format.h"

namespace kw::understand {
namespace {

std::vector<std::string> input_names(const ir::Graph& graph, bool scalars) {
  std::vector<std::string> names;
  for (const ir::Input& input : graph.inputs)
    if ((input.kind == ir::InputKind::Scalar) == scalars) names.push_back(input.name);
  return names;
}

Failure unknown(const std::string& option, const std::string& name, const std::vector<std::string>& known) {
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) hint = known.empty() ? "there is none" : "there are: " + join(known, ", ");
  return fail(ErrorKind::BadInput, fmt::format("{} {}: the op has nothing of that name", option, name), hint);
}

Status apply_shape(ir::Graph& graph, const std::string& name, const std::string& text) {
  const ir::Input* input = graph.find_input(name);
  if (!input || input->kind == ir::InputKind::Scalar) return unknown("--shape", name, input_names(graph, false));
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != input->dims.size())
    return fail(ErrorKind::BadInput, fmt::format("--shape {}={}: {} has {} dimensions, not {}", name, text, name,
                                                 input->dims.size(), parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = trim(parts[i]);
    const std::optional<std::int64_t> size = parse_integer(part);
    if (input->dims[i] == ir::kUnit) {
      if (size != 1)
        return fail(ErrorKind::BadInput, fmt::format("--shape {}={}: dimension {} is 1", name, text, i + 1));
      continue;
    }
    const ir::Size& expected = graph.axis(input->dims[i]).size;
    const std::optional<ir::SymbolId> symbol = expected.as_symbol();
    if (!size || *size < 1) {
      if (part != graph.size_text(expected))
        return fail(ErrorKind::BadInput, fmt::format("--shape {}={}: '{}' is not a size; this dimension is {}", name,
                                                     text, part, graph.size_text(expected)));
      continue;
    }
    if (symbol)
      graph.symbols[static_cast<std::size_t>(*symbol)].hint = *size;
    else if (graph.hinted(expected).value_or(*size) != *size)
      return fail(ErrorKind::BadInput,
                  fmt::format("--shape {}={}: dimension {} is {}", name, text, i + 1, graph.size_text(expected)));
  }
  return {};
}

Status apply_dtype(ir::Graph& graph, const std::string& name, const std::string& text) {
  std::optional<ir::DType> dtype = ir::dtype_from_name(text);
  if (!dtype) dtype = ir::dtype_from_torch_name(text);
  if (!dtype)
    return fail(ErrorKind::BadInput, fmt::format("--dtype {}={}: there is no such type", name, text),
                "types: bf16, f16, f32, f64, i64, i32, bool, …");
  std::vector<std::string> known = input_names(graph, false);
  for (std::size_t i = 0; i < graph.type_parameters.size(); ++i) {
    known.push_back(graph.type_parameters[i].name);
    const ir::Input* input = graph.find_input(name);
    const bool named =
        graph.type_parameters[i].name == name || (input && input->type == ir::Type::parameter(static_cast<int>(i)));
    if (!named) continue;
    if (!ir::is_floating(*dtype) || ir::is_weak(*dtype))
      return fail(ErrorKind::BadInput,
                  fmt::format("--dtype {}={}: {} is a floating type", name, text, graph.type_parameters[i].name));
    graph.type_parameters[i].default_dtype = *dtype;
    return {};
  }
  if (const ir::Input* input = graph.find_input(name); input && input->type == ir::Type(*dtype)) return {};
  if (graph.find_input(name))
    return fail(ErrorKind::BadInput, fmt::format("--dtype {}={}: the source fixes this type", name, text));
  return unknown("--dtype", name, known);
}

Status apply_init(ir::Graph& graph, const std::string& name, const std::string& text) {
  for (ir::Input& input : graph.inputs) {
    if (input.name != name || input.kind != ir::InputKind::Scalar) continue;
    const std::optional<double> number = parse_number(text);
    const std::optional<std::int64_t> integer = parse_integer(text);
    if (input.type.integer() && !integer)
      return fail(ErrorKind::BadInput, fmt::format("--init {}={}: it must be a whole number", name, text));
    if (input.type.boolean() && text != "true" && text != "false")
      return fail(ErrorKind::BadInput, fmt::format("--init {}={}: it must be true or false", name, text));
    if (!input.type.boolean() && !number)
      return fail(ErrorKind::BadInput, fmt::format("--init {}={}: it must be a number", name, text));
    if (input.type.boolean())
      input.default_value = ir::Literal{text == "true"};
    else if (input.type.integer())
      input.default_value = ir::Literal{*integer};
    else
      input.default_value = ir::Literal{*number};
    return {};
  }
  return unknown("--init", name, input_names(graph, true));
}

}  // namespace

Status apply_options(ir::Graph& graph, const profile::ReadingOptions& options) {
  for (const auto& [name, text] : options.shape) KW_CHECK(apply_shape(graph, name, text));
  for (const auto& [name, text] : options.dtype) KW_CHECK(apply_dtype(graph, name, text));
  for (const auto& [name, text] : options.init) KW_CHECK(apply_init(graph, name, text));
  return {};
}

}  // namespace kw::understand
