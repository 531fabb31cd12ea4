// What a pass cannot do without: the bytes that must move and the operations that must run. Both come from the graph
// and the types alone, never from the program, so a kernel cannot make its own limit lower: each input is read once,
// each output and saved value written once.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "ir/graph.h"

namespace kw::measure {

struct Work {
  double read_bytes = 0;
  double written_bytes = 0;
  double simple = 0;   // additions, multiplications, comparisons, roundings: one instruction of a vector unit
  double special = 0;  // exponentials, logarithms, roots, quotients: a sequence of them, or a unit of its own

  double bytes() const { return read_bytes + written_bytes; }
};

using Sizes = std::map<std::string, int64_t>;    // size symbol → number
using Types = std::map<std::string, ir::DType>;  // type parameter → dtype; its default where it is missing

// Of one pass: the forward with what it saves, or the backward. Only what an output depends on counts. A size that is
// neither given nor fixed is an error that names it.
Result<Work> work_of(const ir::Graph& pass, const Sizes& sizes, const Types& types = {});

}  // namespace kw::measure
