// Reads a graph that torch.export made, in the JSON of python/kernelwright/export_graph.py (schema/
// exported_graph.schema.json), through the same table of operations as the static reader: the same program gives the
// same graph. What is wrong with the file is told with its place in it, as a JSON pointer.
//
// A concrete size becomes a symbol with that hint. Equal numbers are not taken to be the same size; what must agree is
// found out while the operations are read.
#pragma once

#include <string>
#include <string_view>

#include "understand/reading.h"

namespace kw::understand {

inline constexpr int kExportedGraphVersion = 1;

Result<Reading> read_exported_graph(std::string_view json, const std::string& file = "graph.json");

}  // namespace kw::understand
