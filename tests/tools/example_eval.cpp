// Reads a PyTorch file statically and runs what was read in the interpreter, forward and backward: tests compare with
// PyTorch.
//
//   example_eval FILE.py[:NAME] real|rounded [T=bf16 …] < CALL.json > RESULT.json
//
// CALL: {"inputs": {"x": {"shape": [2, 3], "values": [...]}}, "sizes": {"groups": 4}}; "d_y" among the inputs asks for
// gradients. RESULT: {"outputs": {"y": {"shape": …, "values": …, "bounds": …}}, "names": ["y", …], "inputs": ["x", …],
// "sizes": […]}. A number that is not finite is the string "inf", "-inf" or "nan".
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "array_json.h"
#include "base/file.h"
#include "ir/derivative/derivative.h"
#include "ir/interpreter/interpreter.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"
#include "understand/python/read.h"

namespace {

using nlohmann::json;
using namespace kw;

int fail(const Error& error) {
  std::cerr << render(error) << "\n";
  return static_cast<int>(error.kind);
}

Result<json> evaluate(const ir::Graph& read, const json& call, bool rounded,
                      const std::map<std::string, ir::DType>& types) {
  ir::Graph graph = ir::simplify(ir::bind_types(read, types));
  const ir::Environment environment = tools::environment_from_json(call, graph);
  bool backward = false;
  for (const auto& [name, array] : environment.inputs) backward |= name.starts_with("d_") && !graph.find_input(name);
  json symbols = json::array();
  for (const ir::Symbol& symbol : graph.symbols) symbols.push_back(symbol.name);
  json result = {{"outputs", json::object()}, {"names", json::array()}, {"inputs", json::array()}, {"sizes", symbols}};
  for (const ir::Input& input : graph.inputs) result["inputs"].push_back(input.name);
  if (backward) {
    KW_TRY(graph, ir::differentiate(graph));
    graph = ir::simplify(graph);
  }
  ir::InterpretOptions options;
  if (rounded) options.semantics = ir::Semantics::Rounded, options.track_bounds = true;
  KW_TRY(std::vector<ir::Array> outputs, ir::interpret(graph, environment, options));
  for (size_t i = 0; i < outputs.size(); ++i) {
    result["outputs"][graph.outputs[i].name] = tools::array_to_json(outputs[i], rounded);
    result["names"].push_back(graph.outputs[i].name);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return fail({ErrorKind::BadInput, "example_eval FILE.py[:NAME] real|rounded [T=bf16 …]", {}, {}, {}});
  std::string path = argv[1];
  understand::ReadRequest request;
  size_t colon = path.rfind(".py:");
  request.path = colon == std::string::npos ? path : path.substr(0, colon + 3);
  if (colon != std::string::npos) request.name = path.substr(colon + 4);
  Result<ir::Graph> graph;
  if (path.ends_with(".math")) {
    auto text = read_text(path);
    if (!text) return fail(text.error());
    graph = ir::text::parse(*text, path);
  } else {
    graph = understand::read_python(request).map([](auto&& read) { return std::move(read.graph); });
  }
  if (!graph) return fail(graph.error());
  std::map<std::string, ir::DType> types;
  for (int i = 3; i < argc; ++i) {
    std::string pair = argv[i];
    size_t equals = pair.find('=');
    if (auto dtype = ir::dtype_from_name(pair.substr(equals + 1))) types[pair.substr(0, equals)] = *dtype;
  }
  json call = json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  auto result = evaluate(*graph, call, std::string(argv[2]) == "rounded", types);
  if (!result) return fail(result.error());
  std::cout << result->dump() << "\n";
}
