#include "array_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace kw::tools {

using nlohmann::json;

double number_from_json(const json& value) {
  if (value.is_string()) return *parse_number(value.get<std::string>());
  return value.is_boolean() ? value.get<bool>() : value.get<double>();
}

json numbers_to_json(const std::vector<double>& values) {
  json out = json::array();
  for (double v : values) out.push_back(std::isfinite(v) ? json(v) : json(number_text(v)));
  return out;
}

ir::Environment environment_from_json(const json& call, const ir::Graph& graph) {
  ir::Environment environment;
  for (const auto& [name, array] : call.at("inputs").items()) {
    ir::Array& target = environment.inputs[name];
    target.shape = array.at("shape").get<std::vector<int64_t>>();
    for (const json& value : array.at("values")) target.values.push_back(number_from_json(value));
  }
  for (const ir::Symbol& symbol : graph.symbols) {
    if (call.contains("sizes") && call["sizes"].contains(symbol.name))
      environment.sizes[symbol.name] = call["sizes"][symbol.name].get<int64_t>();
  }
  return environment;
}

json array_to_json(const ir::Array& array, bool with_bounds) {
  json out = {{"shape", array.shape}, {"values", numbers_to_json(array.values)}};
  if (with_bounds)
    out["bounds"] = numbers_to_json(array.bounds.empty() ? std::vector<double>(array.values.size()) : array.bounds);
  return out;
}

}  // namespace kw::tools
