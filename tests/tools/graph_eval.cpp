// Runs an exported graph in the interpreter: tests compare its outputs with PyTorch's.
//
//   graph_eval GRAPH.json real|rounded < INPUTS.json > OUTPUTS.json
//   graph_eval GRAPH.json text
//
// INPUTS: {"x": {"shape": [2, 3], "values": [...]}}. A number that is not finite is the string "inf", "-inf" or "nan".
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "array_json.h"
#include "base/file.h"
#include "ir/interpreter/interpreter.h"
#include "ir/text/print.h"
#include "understand/export/read_exported.h"

namespace {

using nlohmann::json;

int fail(const kw::Error& error) {
  std::cerr << kw::render(error) << "\n";
  return static_cast<int>(error.kind);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fail({kw::ErrorKind::BadInput, "graph_eval GRAPH.json real|rounded|text", {}, {}, {}});
  auto text = kw::read_text(argv[1]);
  if (!text) return fail(text.error());
  auto reading = kw::understand::read_exported_graph(*text, argv[1]);
  if (!reading) return fail(reading.error());
  const std::string mode = argv[2];
  if (mode == "text") {
    std::cout << kw::ir::text::print(reading->graph);
    return 0;
  }
  const json given = {{"inputs", json::parse(std::string(std::istreambuf_iterator<char>(std::cin), {}))}};
  const kw::ir::Environment call = kw::tools::environment_from_json(given, reading->graph);
  kw::ir::InterpretOptions options;
  if (mode == "rounded") options.semantics = kw::ir::Semantics::Rounded;
  auto outputs = kw::ir::interpret(reading->graph, call, options);
  if (!outputs) return fail(outputs.error());
  json result = json::array();
  for (size_t i = 0; i < outputs->size(); ++i) {
    const kw::ir::Array& array = (*outputs)[i];
    const kw::ir::Output& output = reading->graph.outputs[i];
    kw::ir::DType dtype = reading->graph[output.node].type.floor();
    json entry = {{"name", output.name},
                  {"shape", array.shape},
                  {"dtype", kw::ir::info(dtype).torch_name},
                  {"values", kw::tools::numbers_to_json(array.values)}};
    if (output.updates) entry["updates"] = *output.updates;
    result.push_back(std::move(entry));
  }
  std::cout << result.dump() << "\n";
  return 0;
}
