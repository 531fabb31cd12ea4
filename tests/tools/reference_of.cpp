// Reads math text on stdin and writes the reference.py of its op on stdout: what the Python tests run.
#include <cstdio>
#include <iostream>
#include <iterator>

#include "base/result.h"
#include "ir/text/parse.h"
#include "understand/reference/reference.h"

int main() {
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  auto reference = kw::ir::text::parse(text).and_then(
      [](const kw::ir::Graph& graph) { return kw::understand::write_reference(graph); });
  if (!reference) {
    std::fputs(kw::render(reference.error()).c_str(), stderr);
    return 2;
  }
  std::fputs(reference->c_str(), stdout);
  return 0;
}
