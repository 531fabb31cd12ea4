#include "understand/words/lexicon.h"

namespace kw::understand {

std::span<const WordEntry> lexicon() {
  static const std::vector<WordEntry> kAll = [] {
    std::vector<WordEntry> all;
    for (std::span<const WordEntry> part : {functions_lexicon(), axes_lexicon(), losses_lexicon(), tensors_lexicon()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kAll;
}

const WordEntry* find_entry(std::string_view name) {
  for (const WordEntry& e : lexicon())
    if (e.name == name) return &e;
  return nullptr;
}

std::vector<std::string> pieces(std::string_view text, char separator) {
  std::vector<std::string> out;
  size_t start = 0;
  while (start <= text.size() && !text.empty()) {
    size_t end = text.find(separator, start);
    if (end == std::string_view::npos) end = text.size();
    if (end > start) out.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

}  // namespace kw::understand
