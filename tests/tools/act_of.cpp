// Generates the kernels of an op for a target, without any workspace: what the Python tests run.
//
//   act_of TARGET FILE.py …       one JSON object a line: the manifest, the files, the math; or why it was refused
//   act_of TARGET < op.math       likewise, of the op of the math text on stdin
#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "act/act.h"
#include "ir/derivative/joint.h"
#include "ir/partition.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "understand/python/read.h"

namespace {

using namespace kw;

Result<act::OpMath> math_of(const ir::Graph& graph) {
  act::OpMath math;
  math.name = graph.name;
  math.forward = graph;
  Result<ir::Graph> joint = ir::joint_graph(graph);
  if (!joint || joint->outputs.size() == graph.outputs.size()) return math;
  const int results = static_cast<int>(graph.outputs.size());
  const ir::Partition cut = ir::partition(*joint, results);
  math.forward = ir::forward_with_saved(*joint, cut);
  math.backward = ir::backward_graph(*joint, cut);
  for (size_t i = graph.outputs.size(); i < math.forward.outputs.size(); ++i)
    math.saved.push_back(math.forward.outputs[i].name);
  return math;
}

nlohmann::json generated(const Result<ir::Graph>& graph, kernel::Target target) {
  if (!graph) return {{"refused", render(graph.error())}};
  auto math = math_of(*graph);
  if (!math) return {{"refused", render(math.error())}};
  auto result = act::generate(*math, target);
  if (!result) return {{"refused", render(result.error())}};
  nlohmann::json answer = {{"manifest", nlohmann::json::parse(kernel::to_json(result->manifest))},
                           {"files", result->files},
                           {"forward", ir::text::print(math->forward)}};
  if (math->backward) answer["backward"] = ir::text::print(*math->backward);
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  kernel::Target target = kernel::Target::Cpu;
  bool known = false;
  for (kernel::Target t : {kernel::Target::Cpu, kernel::Target::Cuda, kernel::Target::Triton})
    if (argc > 1 && kernel::name_of(t) == std::string_view(argv[1])) target = t, known = true;
  if (!known) {
    std::fputs("usage: act_of cpu|cuda|triton [FILE.py ...]\n", stderr);
    return 2;
  }
  if (argc == 2) {
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    std::cout << generated(ir::text::parse(text), target).dump() << "\n";
    return 0;
  }
  for (int i = 2; i < argc; ++i) {
    understand::ReadRequest request;
    request.path = argv[i];
    auto read = understand::read_python(request);
    nlohmann::json answer = read ? generated(read->graph, target) : nlohmann::json{{"refused", render(read.error())}};
    answer["path"] = argv[i];
    std::cout << answer.dump() << "\n";
  }
}
