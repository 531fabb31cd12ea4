// Random graphs for the Python tests, one JSON object a line: the reference.py of each, inputs to call it with and what
// the interpreter answers.
//
//   random_graphs MODE FIRST COUNT [PLANT]
//
// MODE is rounded (the graphs' own types, with bounds), real (in double precision), simplified (likewise, and the
// reference is that of the simplified graph) or gradients (in double precision, by the derivative graph). PLANT puts
// one wrong row into a table: meaning:exp, derivative:tanh, promotion, rewrite.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "array_json.h"
#include "in_double.h"
#include "ir/derivative/derivative.h"
#include "ir/infer.h"
#include "ir/interpreter/interpreter.h"
#include "ir/interpreter/meaning.h"
#include "ir/random/draft.h"
#include "ir/random/random_call.h"
#include "ir/random/random_graph.h"
#include "ir/simplify/simplify.h"
#include "ir/text/print.h"
#include "planted.h"
#include "understand/reference/reference.h"

namespace {

using namespace kw;
using nlohmann::json;

// What the engine refuses is the answer for that graph.
struct Refusal {
  Error error;
};

template <class T>
T good(Result<T> result) {
  if (!result) throw Refusal{result.error()};
  return *std::move(result);
}

json described(const ir::Array& array, ir::DType type) {
  return {{"dtype", std::string(info(is_weak(type) ? ir::DType::F64 : type).torch_name)},
          {"shape", array.shape},
          {"values", tools::numbers_to_json(array.values)},
          {"bounds", tools::numbers_to_json(array.bounds)}};
}

json inputs_of(const ir::Graph& graph, const ir::Environment& call) {
  json inputs = json::object();
  std::vector<std::string> names = understand::reference_names(graph).arguments;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (auto given = call.inputs.find(graph.inputs[i].name); given != call.inputs.end())
      inputs[names[i]] = described(given->second, ir::random::bound_type(graph, graph.inputs[i].type));
  return inputs;
}

json outputs_of(const ir::Graph& graph, const std::vector<ir::Array>& values) {
  json outputs = json::array();
  for (size_t i = 0; i < values.size(); ++i)
    outputs.push_back(described(values[i], ir::random::bound_type(graph, graph[graph.outputs[i].node].type)));
  return outputs;
}

json answer(const std::string& mode, uint64_t seed, const tools::Plant& plant) {
  ir::RandomGraphOptions options;
  options.differentiable = mode == "gradients";
  ir::Graph graph = good(plant.inferred_wrongly(ir::random_graph(seed, options)));
  ir::InterpretOptions semantics;
  semantics.replaced_meanings = &plant.meanings;

  ir::Graph written = graph;  // what the reference is of
  std::vector<ir::Array> answers;
  json result{{"seed", seed}, {"math", ir::text::print(graph)}};
  if (mode == "rounded") {
    semantics.semantics = ir::Semantics::Rounded;
    semantics.track_bounds = true;
    ir::Environment call = ir::random_call(graph, seed);
    answers = good(ir::interpret(bind_types(graph), call, semantics));
    result["inputs"] = inputs_of(graph, call);
    result["outputs"] = outputs_of(graph, answers);
  } else {
    written = tools::in_double(graph);
    ir::Environment call = ir::random_call(written, seed);
    result["inputs"] = inputs_of(written, call);
    if (mode == "gradients") {
      ir::DerivativeOptions derivative;
      derivative.override_rules = plant.derivatives;
      ir::Graph joint = good(ir::differentiate(written, derivative));
      ir::Environment whole = ir::random_call(joint, seed + 1);
      for (const auto& [name, array] : call.inputs) whole.inputs[name] = array;
      answers = good(ir::interpret(joint, whole, semantics));
      json cotangents = json::object(), gradients = json::object();
      for (size_t i = 0; i < joint.outputs.size(); ++i) {
        const std::string& name = joint.outputs[i].name;
        if (i < written.outputs.size()) {
          if (auto given = whole.inputs.find("d_" + name); given != whole.inputs.end())
            cotangents[std::to_string(i)] = described(given->second, ir::DType::F64);
        } else {
          gradients[name.substr(5)] = described(answers[i], ir::DType::F64);
        }
      }
      result["cotangents"] = cotangents;
      result["gradients"] = gradients;
    } else {
      answers = good(ir::interpret(graph, call, semantics));
      result["outputs"] = outputs_of(written, answers);
      if (mode == "simplified") written = ir::simplify(written, plant.rewrites);
    }
  }
  result["function"] = understand::reference_names(written).function;
  result["reference"] = good(understand::write_reference(written));
  return result;
}

json run(const std::string& mode, uint64_t seed, const tools::Plant& plant) {
  try {
    return answer(mode, seed, plant);
  } catch (const Refusal& refusal) {
    return {{"seed", seed}, {"refused", render(refusal.error)}};
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool known = mode == "rounded" || mode == "real" || mode == "simplified" || mode == "gradients";
  if (argc < 4 || !known) {
    std::fputs("usage: random_graphs rounded|real|simplified|gradients FIRST COUNT [PLANT]\n", stderr);
    return 2;
  }
  const uint64_t first = std::stoull(argv[2]), count = std::stoull(argv[3]);
  const tools::Plant plant = tools::planted(argc > 4 ? argv[4] : "");
  for (uint64_t seed = first; seed < first + count; ++seed) std::puts(run(mode, seed, plant).dump().c_str());
  return 0;
}
