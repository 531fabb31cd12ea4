// Writes the reference.py of an op: what the Python tests run.
//
//   reference_of < op.math          the op of the math text on stdin
//   reference_of FILE.py …          the op of each PyTorch file, one JSON object a line
#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "ir/text/parse.h"
#include "understand/python/read.h"
#include "understand/reference/reference.h"

namespace {

using namespace kw;

int from_math() {
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  auto reference =
      ir::text::parse(text).and_then([](const ir::Graph& graph) { return understand::write_reference(graph); });
  if (!reference) {
    std::fputs(render(reference.error()).c_str(), stderr);
    return 2;
  }
  std::fputs(reference->c_str(), stdout);
  return 0;
}

nlohmann::json from_python(const std::string& path) {
  understand::ReadRequest request;
  request.path = path;
  auto read = understand::read_python(request);
  if (!read) return {{"path", path}, {"refused", render(read.error())}};
  auto reference = understand::write_reference(read->graph);
  if (!reference) return {{"path", path}, {"refused", render(reference.error())}};
  understand::ReferenceNames names = understand::reference_names(read->graph);
  nlohmann::json inputs = nlohmann::json::array();
  for (size_t i = 0; i < read->graph.inputs.size(); ++i)
    inputs.push_back({{"name", read->graph.inputs[i].name},
                      {"argument", names.arguments[i]},
                      {"is_scalar", read->graph.inputs[i].kind == ir::InputKind::Scalar}});
  return {{"path", path}, {"function", names.function}, {"inputs", inputs}, {"reference", *reference}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return from_math();
  for (int i = 1; i < argc; ++i) std::puts(from_python(argv[i]).dump().c_str());
  return 0;
}
