// A normal form of graphs, so that the same math read by two readers is the same graph: axes, symbols, types and nodes
// are numbered from the interface inward, operands of commutative ops stand in a fixed order, and what no output needs
// is gone. Display names stay.
//
// Axes that only a symmetry of the graph tells apart are numbered in any of the equal ways. Two graphs that differ
// although no local comparison of their axes shows it (regular graphs of renames) may stay in different forms;
// `equivalent` then says no, never a wrong yes.
#pragma once

#include <string>

#include "ir/graph.h"

namespace kw::ir {

Graph canonical(const Graph& graph);

// The same math and interface, up to the order of nodes and the names of the op, its axes, sizes, types, values and
// outputs. Input names, defaults and size hints count. If they differ, `difference` shows the first line of the text
// form that does.
bool equivalent(const Graph& a, const Graph& b, std::string* difference = nullptr);

// SHA-256 of the canonical text without display names: equal for equivalent graphs, on every machine.
std::string graph_hash(const Graph& graph);

}  // namespace kw::ir
