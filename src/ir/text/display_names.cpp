#include "ir/text/display_names.h"

#include "ir/text/spelling.h"

namespace kw::ir::text {
namespace {

// What quoted_if_needed would write, without the backquotes.
std::string legal(std::string_view name) {
  std::string text = quoted_if_needed(name);
  return text.front() == '`' ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::string UniqueNames::claim(std::string_view wanted) {
  const std::string base = legal(wanted);
  std::string name = base;
  for (int i = 2; !taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
  return quoted_if_needed(name);
}

DisplayNames::DisplayNames(const Graph& graph) {
  UniqueNames input_names;
  for (const Input& input : graph.inputs) inputs.push_back(input_names.claim(input.name));

  UniqueNames type_names;  // a cast looks like a call, so a type is named like no function
  for (int i = 0; i < kOpCount; ++i) type_names.reserve(info(static_cast<Op>(i)).name);
  for (int i = 0; i < kDTypeCount; ++i) type_names.reserve(info(static_cast<DType>(i)).name);
  for (const char* word : {"wide", "parameter", "buffer", "scalar", "no_grad", "with_grad"}) type_names.reserve(word);
  for (const TypeParameter& parameter : graph.type_parameters) types.push_back(type_names.claim(parameter.name));

  // An axis shares the name of its size symbol if it is the first to have both; otherwise the two kinds differ.
  UniqueNames names;
  for (const Symbol& symbol : graph.symbols) symbols.push_back(names.claim(symbol.name));
  std::set<SymbolId> shared;
  for (const Axis& axis : graph.axes) {
    const std::optional<SymbolId> symbol = axis.size.as_symbol();
    if (symbol && quoted_if_needed(axis.name) == symbols[static_cast<size_t>(*symbol)] &&
        shared.insert(*symbol).second) {
      axes.push_back(symbols[static_cast<size_t>(*symbol)]);
    } else {
      axes.push_back(names.claim(axis.name));
    }
  }
}

std::string DisplayNames::size(const Size& size) const {
  return size.text([this](SymbolId id) { return symbols[static_cast<size_t>(id)]; });
}

std::string DisplayNames::type(Type type) const {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i) {
    if ((type.params() >> i & 1) != 0) text += (text.empty() ? "" : "|") + types[i];
  }
  if (type.floor() != DType::None || text.empty())
    text += (text.empty() ? "" : "|") + std::string(info(type.floor()).name);
  return text;
}

}  // namespace kw::ir::text
