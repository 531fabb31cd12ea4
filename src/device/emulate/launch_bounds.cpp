#include "device/emulate/launch_bounds.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace kw::device::emulate {
namespace {

std::string without_comments(std::string_view source) {
  std::string out;
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    const bool line = rest.starts_with("//"), block = rest.starts_with("/*");
    if (!line && !block) {
      out += source[at++];
      continue;
    }
    const std::size_t end = line ? rest.find('\n') : rest.find("*/", 2);
    if (end == rest.npos) break;
    at += end + (line ? 0 : 2);
    out += ' ';
  }
  return out;
}

// Where an argument of a macro ends that begins here: at a comma or a parenthesis of its own.
std::size_t end_of_argument(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (depth == 0 && (text[at] == ',' || text[at] == ')')) break;
    if (text[at] == ')') --depth;
  }
  return at;
}

}  // namespace

std::map<std::string, std::string> launch_bounds(std::string_view source) {
  constexpr std::string_view kKernel = "KW_KERNEL(", kResult = "void ";
  const std::string plain = without_comments(source);
  const std::string_view text = plain;
  std::map<std::string, std::string> bounds;
  std::set<std::string> seen;
  for (std::size_t at = text.find(kKernel); at != text.npos; at = text.find(kKernel, at + 1)) {
    const std::size_t first = at + kKernel.size(), comma = end_of_argument(text, first);
    const std::size_t close = end_of_argument(text, std::min(comma + 1, text.size()));
    const std::string_view rest = trim(text.substr(std::min(close + 1, text.size())));
    if (!rest.starts_with(kResult)) continue;
    const std::string name(trim(rest.substr(kResult.size(), rest.find('(') - kResult.size())));
    if (seen.insert(name).second)
      bounds[name] = text.substr(first, comma - first);
    else
      bounds.erase(name);
  }
  return bounds;
}

}  // namespace kw::device::emulate
