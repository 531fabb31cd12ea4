// The JSON that the parser's child process answers with: whatever it holds, reading it gives a tree or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "understand/python/ast_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)kw::understand::python::read_module_json(text);
  (void)kw::understand::python::read_statement_json(text);
  return 0;
}
