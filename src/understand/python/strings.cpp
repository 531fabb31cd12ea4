// Methods of strings, and Python's text of values.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.h"
#include "understand/python/interpreter.h"

namespace kw::understand::python {

Result<std::string> Interpreter::text_of(const Value& value) {
  if (const auto* text = value.get<std::string>()) return *text;
  if (value.is_none()) return std::string("None");
  if (const auto* flag = value.get<bool>()) return std::string(*flag ? "True" : "False");
  if (const auto* size = value.get<ir::Size>(); size && size->constant()) return std::to_string(*size->constant());
  if (const auto* real = value.get<double>()) {
    std::string text = number_text(*real);
    if (std::isfinite(*real) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  return refuse("the text of " + type_name(value) + " is not known while reading");
}

std::string Interpreter::expression_of(const Value& value) const {
  if (value.is_none()) return "None";
  if (const auto* flag = value.get<bool>()) return *flag ? "True" : "False";
  if (const auto* size = value.get<ir::Size>()) return builder_.graph().size_text(*size);
  if (const auto* real = value.get<double>())
    return std::isfinite(*real) ? number_text(*real) : "float('" + number_text(*real) + "')";
  if (const auto* scalar = value.get<ScalarValue>()) return scalar->known ? number_text(*scalar->known) : "?";
  if (const auto* text = value.get<std::string>())
    return "'" + replace_all(replace_all(*text, "\\", "\\\\"), "'", "\\'") + "'";
  if (const auto* dtype = value.get<DTypeValue>(); dtype && dtype->type.concrete()) {
    return "torch." + std::string(ir::info(dtype->type.floor()).torch_name);
  }
  if (const auto* tensor = value.get<TensorValue>()) {
    const ir::Node& node = builder_[tensor->node];
    if (node.op != ir::Op::Input) return "tensor(?)";
    return "tensor(" + builder_.graph().inputs[static_cast<size_t>(node.as<ir::InputRef>().index)].name + ")";
  }
  if (const auto* items = sequence_items(value)) {
    std::string text = value.get<SequenceValue>() ? "(" : "[";
    for (const Value& item : *items) text += expression_of(item) + ", ";
    return text + (value.get<SequenceValue>() ? ")" : "]");
  }
  return type_name(value);
}

Result<Value> Interpreter::string_method(const std::string& self, const std::string& name, const Arguments& arguments) {
  const auto& given = arguments.positional;
  const auto text = [&](size_t i) -> const std::string* {
    return i < given.size() ? given[i].get<std::string>() : nullptr;
  };
  if ((name == "lower" || name == "upper") && given.empty()) {
    std::string result = self;
    std::transform(result.begin(), result.end(), result.begin(), [&](unsigned char c) {
      return static_cast<char>(c >= 0x80 ? c : name == "lower" ? std::tolower(c) : std::toupper(c));
    });
    return Value{std::move(result)};
  }
  if ((name == "strip" || name == "rstrip" || name == "lstrip") && given.empty()) {
    const std::string_view trimmed = trim(self);
    if (name == "strip") return Value{std::string(trimmed)};
  }
  if (name == "startswith" || name == "endswith") {
    std::vector<Value> options = given;
    if (given.size() == 1 && sequence_items(given[0])) options = *sequence_items(given[0]);
    for (const Value& option : options) {
      const auto* part = option.get<std::string>();
      if (!part) return refuse("str." + name + " needs strings");
      if (name == "startswith" ? self.starts_with(*part) : self.ends_with(*part)) return Value{true};
    }
    return Value{false};
  }
  if (name == "replace" && text(0) && text(1) && given.size() == 2) return Value{replace_all(self, *text(0), *text(1))};
  if (name == "split" && given.size() == 1 && text(0) && text(0)->size() == 1) {
    std::vector<Value> parts;
    for (std::string& part : split(self, (*text(0))[0])) parts.push_back(Value{std::move(part)});
    return list_value(std::move(parts));
  }
  if (name == "join" && given.size() == 1) {
    KW_TRY(const std::vector<Value> items, iterate(given[0]));
    std::vector<std::string> parts;
    for (const Value& item : items) {
      if (!item.get<std::string>()) return object_value(std::make_shared<OpaqueString>());
      parts.push_back(*item.get<std::string>());
    }
    return Value{join(parts, self)};
  }
  if (name == "find" && text(0) && given.size() == 1) {
    const size_t found = self.find(*text(0));
    return int_value(found == std::string::npos ? -1 : static_cast<int64_t>(found));
  }
  if (name == "format") return object_value(std::make_shared<OpaqueString>());
  return refuse("str." + name + " is not read");
}

}  // namespace kw::understand::python
