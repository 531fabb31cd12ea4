// Any bytes as math text: refused with an error, or a graph whose printed text means the same graph.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ir/canonical.h"
#include "ir/infer.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kw;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<ir::Graph> graph = ir::text::parse(bytes);
  if (!graph) {
    KW_ASSERT(graph.error().place.has_value(), "every error has its place");
    KW_ASSERT(!render(graph.error()).empty(), "every error can be shown");
    return 0;
  }
  KW_ASSERT(ir::check(*graph).has_value(), "what the parser accepts is a valid graph");
  const std::string printed = ir::text::print(*graph);
  const Result<ir::Graph> again = ir::text::parse(printed);
  KW_ASSERT(again.has_value(), again ? "" : render(again.error()) + "\n" + printed);
  KW_ASSERT(ir::text::print(*again) == printed, "a printed text is printed the same again: " + printed);
  std::string difference;
  KW_ASSERT(ir::equivalent(*graph, *again, &difference), difference);
  return 0;
}
