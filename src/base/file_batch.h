// Several files of a folder, written all or none.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace kw {

// Path in the folder → content. Each file is on the disk before the first takes its place, and where one cannot take
// it, those before it get back what they held. A file that holds its content already is not touched; missing folders
// are made.
Status write_files_together(const std::string& folder, const std::map<std::string, std::string>& files);

}  // namespace kw
