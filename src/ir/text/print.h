// Writes a graph in the text form (docs/math.md). It is the inverse of parse.h.
//
// A value that is used twice, that has a name or that would make a line too long has a line of its own; all else stands
// where it is used. Names that are taken get a number (x_2), so that a name means one thing.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace kw::ir::text {

std::string print(const Graph& graph);

// The lines of print(graph) one by one, so that a page can set forward and backward side by side.
struct ValueLine {
  NodeId node;
  std::string name;   // "rstd"
  std::string value;  // "rsqrt(ms + eps)"
};
std::vector<ValueLine> value_lines(const Graph& graph);

// One value as an expression over the lines of print(graph): "rsqrt(ms + eps)".
std::string value_text(const Graph& graph, NodeId node);

std::string type_text(const Graph& graph, Type type);  // "T|f32"
std::string literal_text(const Literal& literal);      // "2", "2.0", "1e-6", "-inf", "true"

}  // namespace kw::ir::text
