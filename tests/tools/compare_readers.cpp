// Reads a PyTorch file statically and its exported graph, and tells how they differ: nothing if they agree.
//
//   compare_readers FILE.py NAME GRAPH.json
#include <cstdio>
#include <cstring>
#include <iostream>

#include "base/file.h"
#include "ir/simplify/simplify.h"
#include "ir/text/print.h"
#include "understand/export/agreement.h"
#include "understand/export/read_exported.h"
#include "understand/python/read.h"

int main(int argc, char** argv) {
  using namespace kw;
  if (argc < 4) return 2;
  auto read = understand::read_python({.path = argv[1], .name = argv[2]});
  if (!read) {
    std::cerr << "static reader: " << render(read.error()) << "\n";
    return 2;
  }
  auto exported = read_text(argv[3]).and_then(
      [&](const std::string& text) { return understand::read_exported_graph(text, argv[3]); });
  if (!exported) {
    std::cerr << "exported graph: " << render(exported.error()) << "\n";
    return 2;
  }
  std::string difference = understand::difference_between(read->graph, exported->graph);
  if (difference.empty()) return 0;
  for (const ir::Graph& graph : {read->graph, exported->graph})
    std::cout << ir::text::print(ir::simplify(understand::at_own_configuration(graph))) << "\n";
  std::cout << difference << "\n";
  return 1;
}
