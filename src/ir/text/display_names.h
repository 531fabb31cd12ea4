// Names under which a graph's axes, sizes, types and values appear in the text: the graph's own where they are legal
// and unique, otherwise changed until they are. All are ready to be written, with backquotes where they need them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace kw::ir::text {

// Hands out names that are unique among each other.
class UniqueNames {
 public:
  std::string claim(std::string_view wanted);  // wanted, wanted_2, wanted_3, …
  bool is_taken(std::string_view name) const { return taken_.contains(name); }
  void reserve(std::string_view name) { taken_.emplace(name); }

 private:
  std::set<std::string, std::less<>> taken_;
};

struct DisplayNames {
  explicit DisplayNames(const Graph& graph);

  std::vector<std::string> symbols;
  std::vector<std::string> axes;
  std::vector<std::string> types;
  std::vector<std::string> inputs;

  std::string size(const Size& size) const;
  std::string type(Type type) const;
};

}  // namespace kw::ir::text
