// Walks a graph and writes its nodes as lines of Python.
#pragma once

#include <string>

#include "understand/reference/body.h"

namespace kw::understand::reference {

// Writes what leads to the outputs and returns what the function returns: "y", or "y, rstd".
std::string write_nodes(Body& body);

}  // namespace kw::understand::reference
