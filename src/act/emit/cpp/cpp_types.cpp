#include "act/emit/cpp/cpp_types.h"

#include <bit>

#include "act/pass_contract.h"
#include "base/text.h"

namespace kw::act::cpp {
namespace {

using ir::DType;

std::string concrete(DType type) {
  switch (type) {
    case DType::Bool:
      return "bool";
    case DType::U8:
      return "uint8_t";
    case DType::I8:
      return "int8_t";
    case DType::I16:
      return "int16_t";
    case DType::I32:
      return "int32_t";
    case DType::Int:
    case DType::I64:
      return "int64_t";
    case DType::F8E4M3:
      return "kw::f8e4m3";
    case DType::F8E5M2:
      return "kw::f8e5m2";
    case DType::BF16:
      return "kw::bf16";
    case DType::F16:
      return "kw::f16";
    case DType::F32:
      return "float";
    case DType::Real:
    case DType::F64:
      return "double";
    case DType::None:
      break;
  }
  KW_ASSERT(false, "a value has a type");
  return {};
}

}  // namespace

std::string CppTypes::join(uint16_t set) const {
  std::string name;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (set & (1u << i)) name += parameters_[i].name;
  return name;
}

std::string CppTypes::stored(ir::Type type) {
  const std::string text = name(type);
  if (!type.weak()) given_.emplace(text, type);
  return text;
}

std::string CppTypes::manifest_text(const std::string& cpp_type) const {
  if (auto known = given_.find(cpp_type); known != given_.end()) return type_text(known->second, parameters_);
  KW_ASSERT(cpp_type == "double" || cpp_type == "int64_t", "a type of the text was named by the text");
  return cpp_type == "double" ? "f64" : "i64";
}

std::string CppTypes::name(ir::Type type) {
  if (type.concrete()) return concrete(type.floor());
  joins_.insert(type.params());
  switch (type.floor()) {
    case DType::F64:
      return "double";
    case DType::F32:
      wides_.insert(type.params());
      return join(type.params()) + "32";
    case DType::BF16:
    case DType::F16:
      others_.emplace(type.params(), type.floor());
      return join(type.params()) + "_" + std::string(info(type.floor()).name);
    default:
      return join(type.params());
  }
}

std::string CppTypes::computed(ir::Type type) { return stored(ir::opmath(type)); }

bool CppTypes::is_float(const std::string& cpp_type) { return cpp_type == "float" || cpp_type == "double"; }

std::vector<std::string> CppTypes::aliases() const {
  std::set<size_t> parameters;
  for (uint16_t set : joins_)
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (set & (1u << i)) parameters.insert(i);
  std::vector<std::string> lines;
  for (size_t i : parameters) lines.push_back("using " + parameters_[i].name + " = KW_" + parameters_[i].name + ";");
  auto listed = [&](uint16_t set) {
    std::vector<std::string> names;
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (set & (1u << i)) names.push_back(parameters_[i].name);
    return names;
  };
  for (uint16_t set : joins_)
    if (std::popcount(set) > 1)
      lines.push_back("using " + join(set) + " = kw::join<" + kw::join(listed(set), ", ") + ">;");
  for (uint16_t set : wides_) lines.push_back("using " + join(set) + "32 = kw::wide<" + join(set) + ">;");
  for (const auto& [set, floor] : others_)
    lines.push_back("using " + join(set) + "_" + std::string(info(floor).name) + " = kw::join<" + join(set) + ", " +
                    concrete(floor) + ">;");
  return lines;
}

std::vector<std::string> CppTypes::names() const {
  std::vector<std::string> names;
  for (uint16_t set = 1; set < (1u << parameters_.size()); ++set) {
    names.push_back(join(set));
    names.push_back(join(set) + "32");
  }
  return names;
}

}  // namespace kw::act::cpp
