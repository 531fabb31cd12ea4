// Tensors of the interpreter as JSON: {"shape": [2, 3], "values": [...], "bounds": [...]}. JSON has no word for what is
// not finite; the strings "inf", "-inf" and "nan" stand for it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "ir/interpreter/interpreter.h"

namespace kw::tools {

double number_from_json(const nlohmann::json& value);
nlohmann::json numbers_to_json(const std::vector<double>& values);

// {"inputs": {"x": {"shape": …, "values": …}}, "sizes": {"groups": 4}}: sizes that the graph does not have are left
// out.
ir::Environment environment_from_json(const nlohmann::json& call, const ir::Graph& graph);

// With bounds: an array without any is exact.
nlohmann::json array_to_json(const ir::Array& array, bool with_bounds);

}  // namespace kw::tools
