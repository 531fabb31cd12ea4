// NAME=VALUE on the command line.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kw::cli {

Result<std::pair<std::string, std::string>> assignment(const std::string& what, const std::string& text);
// Each name once; a list given twice for one name is an error.
Result<std::map<std::string, std::string>> assignments(const std::string& what, const std::vector<std::string>& texts);

}  // namespace kw::cli
