// Any bytes as an exported graph: refused with an error that has its place, or read to a valid graph.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "ir/infer.h"
#include "understand/export/read_exported.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kw;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<understand::Reading> reading = understand::read_exported_graph(bytes);
  if (!reading) {
    KW_ASSERT(reading.error().place.has_value(), "every error has its place: " + reading.error().message);
    KW_ASSERT(!render(reading.error()).empty(), "every error can be shown");
    return 0;
  }
  const Status valid = ir::check(reading->graph);
  KW_ASSERT(valid.has_value(), valid ? "" : render(valid.error()));
  return 0;
}
