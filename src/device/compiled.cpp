#include "device/compiled.h"

#include <algorithm>

namespace kw::device {

const CompiledFile* CompiledSet::find(std::string_view file) const {
  const auto found = std::find_if(files.begin(), files.end(), [&](const CompiledFile& f) { return f.file == file; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace kw::device
