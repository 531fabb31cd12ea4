#include "base/embedded.h"

#include <string>

#include "base/result.h"

namespace kw::embedded {

std::string_view file(std::string_view path) {
  for (const File& file : all()) {
    if (file.path == path) return file.content;
  }
  KW_ASSERT(false, "no embedded file " + std::string(path));
  return {};
}

}  // namespace kw::embedded
