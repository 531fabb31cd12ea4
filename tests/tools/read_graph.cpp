// Reads a PyTorch file and prints the graph in its text form, with what was assumed; --json prints everything that a
// script needs to run the graph beside the original.
//
//   read_graph FILE[:NAME] [--eval] [--shape x=rows,cols] [--dtype x=bf16] [--init eps=1e-6] [--present gate] [--json]
//   read_graph --serve        the same arguments, one JSON list per line on stdin; one JSON object per line on stdout.
//                             {"inputs": {"x": {"shape": …, "values": …}}, "sizes": {…}} runs the graph last read, as
//                             it was read, in the rounded semantics, and answers with values and bounds.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "array_json.h"
#include "ir/interpreter/interpreter.h"
#include "ir/text/print.h"
#include "understand/python/read.h"
#include "understand/reference/reference.h"

namespace {

using Json = nlohmann::json;
using kw::understand::ReadRequest;
using kw::understand::ReadResult;

ReadRequest request_of(const std::vector<std::string>& arguments, bool& json) {
  ReadRequest request;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "";
    const auto pair = [&](auto& list) {
      const size_t equals = next.find('=');
      list.emplace_back(next.substr(0, equals), equals == std::string::npos ? "" : next.substr(equals + 1));
      ++i;
    };
    if (argument == "--eval") {
      request.training = false;
    } else if (argument == "--json") {
      json = true;
    } else if (argument == "--shape") {
      pair(request.shapes);
    } else if (argument == "--dtype") {
      pair(request.dtypes);
    } else if (argument == "--init") {
      pair(request.init);
    } else if (argument == "--present") {
      request.present.push_back(next);
      ++i;
    } else {
      const size_t colon = argument.rfind(".py:");
      request.path = colon == std::string::npos ? argument : argument.substr(0, colon + 3);
      request.name = colon == std::string::npos ? "" : argument.substr(colon + 4);
    }
  }
  return request;
}

Json arguments_json(const std::vector<kw::understand::ReadArgument>& arguments) {
  Json list = Json::array();
  for (const auto& argument : arguments) list.push_back({argument.name, argument.value});
  return list;
}

Json describe(const ReadResult& read) {
  const kw::ir::Graph& graph = read.graph;
  static constexpr const char* kKinds[] = {"tensor", "parameter", "buffer", "scalar"};
  Json json{{"name", read.name}, {"math", kw::ir::text::print(graph)}, {"is_module", read.is_module}};
  const auto names = kw::understand::reference_names(graph);
  json["function"] = names.function;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const kw::ir::Input& input = graph.inputs[i];
    Json dims = Json::array();
    for (const kw::ir::AxisId axis : input.dims) {
      dims.push_back(axis == kw::ir::kUnit ? "1" : graph.size_text(graph.axis(axis).size));
    }
    Json row{{"name", input.name}, {"argument", names.arguments[i]}, {"kind", kKinds[static_cast<int>(input.kind)]}};
    row["dims"] = dims;
    row["type"] = kw::ir::text::type_text(graph, input.type);
    if (input.default_value) row["default"] = input.default_value->number();
    json["inputs"].push_back(row);
  }
  for (const kw::ir::Output& output : graph.outputs) {
    json["outputs"].push_back({{"name", output.name}, {"updates", output.updates ? Json(*output.updates) : Json()}});
  }
  json["types"] = Json::object();
  for (const auto& type : graph.type_parameters) json["types"][type.name] = kw::ir::info(type.default_dtype).torch_name;
  json["sizes"] = Json::object();
  for (const auto& symbol : graph.symbols) json["sizes"][symbol.name] = symbol.hint ? Json(*symbol.hint) : Json();
  json["constraints"] = Json::array();
  for (const auto& constraint : graph.constraints) {
    const bool equal = constraint.kind == kw::ir::SizeConstraint::Kind::Equal;
    const std::string left = graph.size_text(constraint.left), right = graph.size_text(constraint.right);
    json["constraints"].push_back("(" + left + ")" + (equal ? " == (" + right + ")" : " % (" + right + ") == 0"));
  }
  json["constructor"] = arguments_json(read.constructor);
  json["call"] = arguments_json(read.call);
  json["assumptions"] = Json::array();
  for (const auto& a : read.assumptions) json["assumptions"].push_back({a.what, a.value, a.because});
  const auto reference = kw::understand::write_reference(graph);
  if (reference) {
    json["reference"] = *reference;
  } else {
    json["reference_error"] = reference.error().message;
  }
  return json;
}

Json refusal(const kw::Error& error) { return {{"error", kw::render(error)}, {"kind", static_cast<int>(error.kind)}}; }

Json answer(const ReadRequest& request, kw::ir::Graph* last_read = nullptr) {
  const auto read = kw::understand::read_python(request);
  if (!read) return refusal(read.error());
  if (last_read != nullptr) *last_read = read->graph;
  return describe(*read);
}

Json evaluate(const kw::ir::Graph& read, const Json& call) {
  const kw::ir::Graph graph = kw::ir::bind_types(read);
  const kw::ir::InterpretOptions options{.semantics = kw::ir::Semantics::Rounded, .track_bounds = true};
  const auto outputs = kw::ir::interpret(graph, kw::tools::environment_from_json(call, graph), options);
  if (!outputs) return refusal(outputs.error());
  Json list = Json::array();
  for (size_t i = 0; i < outputs->size(); ++i) {
    Json array = kw::tools::array_to_json((*outputs)[i], true);
    array["dtype"] = kw::ir::info(graph[graph.outputs[i].node].type.floor()).torch_name;
    list.push_back(array);
  }
  return {{"outputs", list}};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments == std::vector<std::string>{"--serve"}) {
    kw::ir::Graph last_read;
    for (std::string line; std::getline(std::cin, line);) {
      const Json asked = Json::parse(line);
      bool json = true;
      const Json answered = asked.is_object()
                                ? evaluate(last_read, asked)
                                : answer(request_of(asked.get<std::vector<std::string>>(), json), &last_read);
      std::cout << answered.dump() << std::endl;
    }
    return 0;
  }
  bool json = false;
  const ReadRequest request = request_of(arguments, json);
  if (json) {
    std::cout << answer(request).dump(1) << "\n";
    return 0;
  }
  const auto read = kw::understand::read_python(request);
  if (!read) {
    std::fputs(kw::render(read.error()).c_str(), stderr);
    return static_cast<int>(read.error().kind);
  }
  std::fputs(kw::ir::text::print(read->graph).c_str(), stdout);
  for (const auto& a : read->assumptions) {
    std::printf("# %s: %s (%s) %s:%d\n", a.what.c_str(), a.value.c_str(), a.because.c_str(), a.place.file.c_str(),
                a.place.line);
  }
  for (const auto& p : read->parameters) std::printf("# %s = %s\n", p.name.c_str(), p.init.c_str());
}
