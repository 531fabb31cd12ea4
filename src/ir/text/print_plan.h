// Which values of a graph get a line of their own in the text, and under which name.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/text/print_node.h"

namespace kw::ir::text {

class PrintPlan {
 public:
  PrintPlan(const Graph& graph, const NodePrinter& printer, AxisSpeller& plain_axes, const DisplayNames& names);

  bool has_line(NodeId node) const { return !line_names_[static_cast<size_t>(node)].empty(); }
  const std::string& line_name(NodeId node) const { return line_names_[static_cast<size_t>(node)]; }
  std::vector<NodeId> lines() const;                                            // in order
  bool is_live(NodeId node) const { return live_[static_cast<size_t>(node)]; }  // an output needs it

 private:
  void find_live_and_uses();
  void name_lines();
  void measure(const NodePrinter& printer, AxisSpeller& plain_axes);
  bool stands_inline(NodeId node) const;  // however often it is used

  const Graph& graph_;
  std::vector<bool> live_;
  std::vector<int> uses_;
  std::vector<std::string> line_names_;  // empty: no line
};

}  // namespace kw::ir::text
