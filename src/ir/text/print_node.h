// The text of one node from the texts of its operands: the mirror image of the parser's expressions and calls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/text/display_names.h"
#include "ir/text/spelling.h"

namespace kw::ir::text {

// A piece of text and how strongly it holds together.
struct Piece {
  std::string text;
  Precedence precedence = Precedence::Primary;
};

// Spells axes. While a text is written, an axis states its size where it first appears, unless the reader can tell, and
// sets of axes are listed in the order in which they appeared.
class AxisSpeller {
 public:
  AxisSpeller(const Graph& graph, const DisplayNames& names, bool introduces);

  std::string known(AxisId axis);  // stands where a size may be stated too
  std::string with_size(AxisId axis, const std::optional<Size>& implied = std::nullopt);
  bool is_new(AxisId axis) const { return rank_[static_cast<size_t>(axis)] < 0; }
  std::vector<AxisId> ordered(std::vector<AxisId> axes) const;

 private:
  void note(AxisId axis);
  const Graph& graph_;
  const DisplayNames& names_;
  bool introduces_;
  int next_ = 0;
  std::vector<int> rank_;  // by axis; -1: not seen yet
};

// Names of the combines that a graph uses, each once.
class CombineNames {
 public:
  explicit CombineNames(const Graph& graph);
  struct Entry {
    std::string name;
    std::shared_ptr<const Combine> combine;
  };
  const Entry& entry(const CombineAttr& attr) const;

 private:
  const Entry* find(const CombineAttr& attr) const;
  std::vector<Entry> entries_;
};

class NodePrinter {
 public:
  NodePrinter(const Graph& graph, const DisplayNames& names, const CombineNames& combines)
      : graph_(graph), names_(names), combines_(combines) {}

  Piece compose(NodeId id, const std::vector<Piece>& args, AxisSpeller& axes) const;

 private:
  Piece cast(const Node& node, const std::vector<Piece>& args) const;
  Piece compare(const Node& node, const std::vector<Piece>& args) const;
  std::string attribute(const Node& node, AxisSpeller& axes) const;
  std::string split(const SplitAttr& a, AxisSpeller& axes) const;
  std::string window(const WindowAttr& a, Form form, AxisSpeller& axes) const;
  std::string segment(const Node& node, AxisSpeller& axes) const;
  Piece concat(const Node& node, const std::vector<Piece>& args, AxisSpeller& axes) const;

  const Graph& graph_;
  const DisplayNames& names_;
  const CombineNames& combines_;
};

}  // namespace kw::ir::text
