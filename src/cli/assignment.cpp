#include "cli/assignment.h"

#include "base/text.h"

namespace kw::cli {

Result<std::pair<std::string, std::string>> assignment(const std::string& what, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(ErrorKind::BadInput, what + " '" + text + "' is not NAME=VALUE", "write it as in " + what + " x=…");
  const std::string name(trim(text.substr(0, equals)));
  const std::string value(trim(text.substr(equals + 1)));
  if (value.empty()) return fail(ErrorKind::BadInput, what + " " + name + "= has no value");
  return std::pair{name, value};
}

Result<std::map<std::string, std::string>> assignments(const std::string& what, const std::vector<std::string>& texts) {
  std::map<std::string, std::string> all;
  for (const std::string& text : texts) {
    KW_TRY(const auto pair, assignment(what, text));
    if (!all.insert(pair).second) return fail(ErrorKind::BadInput, what + " " + pair.first + " is given twice");
  }
  return all;
}

}  // namespace kw::cli
