// The strides that the reader says the outputs of a source have in PyTorch, for inputs that lie in some way.
//
//   output_strides FILE.py[:ENTRY] [x=4,6,8 …]     the shapes of inputs that the file does not say
//
// prints the layouts as a JSON object, then for each line of stdin, {"inputs": {"x": {"shape": …, "strides": …}},
// "outputs": [shape, …]}, the strides of each output, null where nothing is promised.
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ir/layout.h"
#include "kernel/layout.h"
#include "understand/python/read.h"

namespace {

using namespace kw;
using nlohmann::json;
using understand::ReadRequest;
using Numbers = std::vector<std::int64_t>;

json strides_of(const ir::Layout& layout, const Numbers& shape, const std::map<std::string, kernel::Tensor>& inputs) {
  if (!layout.known) return nullptr;
  if (layout.like.empty()) return kernel::dense_strides(shape);
  const auto strides = kernel::strides_like(shape, layout.like, [&](const std::string& name) {
    const auto found = inputs.find(name);
    return found == inputs.end() ? nullptr : &found->second;
  });
  if (!strides) return strides.error().message;
  return *strides;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: output_strides FILE.py[:ENTRY] [NAME=SHAPE ...]\n", stderr);
    return 2;
  }
  ReadRequest request;
  const std::vector<std::string> path = split(argv[1], ':');
  request.path = path[0];
  if (path.size() > 1) request.name = path[1];
  for (int i = 2; i < argc; ++i) {
    const std::vector<std::string> pair = split(argv[i], '=');
    request.shapes.emplace_back(pair.at(0), pair.at(1));
  }
  const auto read = understand::read_python(request);
  if (!read) {
    std::fprintf(stderr, "%s\n", render(read.error()).c_str());
    return 1;
  }
  std::cout << json(read->layouts).dump() << std::endl;
  std::vector<ir::Layout> layouts;
  for (const ir::Output& output : read->graph.outputs) {
    const auto text = read->layouts.find(output.name);
    if (text == read->layouts.end()) continue;  // an update
    const auto layout = ir::parse_layout(text->second);
    KW_ASSERT(layout, "what the reader writes can be read");
    layouts.push_back(*layout);
  }
  for (std::string line; std::getline(std::cin, line);) {
    const json call = json::parse(line);
    std::map<std::string, kernel::Tensor> inputs;
    for (const auto& [name, given] : call["inputs"].items()) {
      inputs[name].shape = given["shape"].get<Numbers>();
      inputs[name].strides = given["strides"].get<Numbers>();
    }
    json answer = json::array();
    for (std::size_t i = 0; i < layouts.size(); ++i)
      answer.push_back(strides_of(layouts[i], call["outputs"].at(i).get<Numbers>(), inputs));
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}
