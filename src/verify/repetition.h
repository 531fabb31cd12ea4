// Along which axis a call may repeat, so that the oracle knows the whole answer from a part of it: where the inputs
// repeat along the axis with a short period, outputs along it do so too, and a sum over it is what a period gives, as
// often as there are periods, and what the part of one at the end adds.
//
//   y = x * rstd(x)        along rows: repeats
//   s = sum(y, rows)       a sum along rows
//   z = cumsum(y, rows)    neither: nothing is known of it
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verify/subject.h"

namespace kw::verify {

// An output that is a sum, or a mean, over the axis that repeats.
struct SummedOutput {
  bool is_mean = false;
  double bound = 1;      // of a sum of all terms, to that of a period's: more of them are rounded more often
  double of_last = 1;    // likewise, to that of the last period with the part of one behind it
  double roundings = 0;  // of what is computed after the sum, as a share of the result
  double smallest = 0;   // what is rounded there where the result is subnormal
  double largest = 0;    // finite number of the types there
};

struct RepeatingCall {
  kernel::Sizes sizes;
  std::string symbol;  // the size of the axis that repeats
  std::int64_t period = 0;
  std::vector<std::string> outputs;          // that repeat
  std::map<std::string, SummedOutput> sums;  // the others that are compared
};

// Of every symbol the call that repeats along it, where any output does. The size of that symbol is 1 in the calls:
// whoever asks knows how large it shall be.
struct Repetition {
  RepeatingCall call;
  std::int64_t widest = 0, longest = 1;  // bytes and elements of one slice of the largest output
};
std::vector<Repetition> repetitions(const Subject& subject, const kernel::TypeBinding& types, kernel::Sizes sizes);

// The longest period up to `most` whose values the interpreter can be given; 0: there is none.
std::int64_t longest_period(const Subject& subject, const RepeatingCall& call,
                            std::int64_t most = std::numeric_limits<std::int64_t>::max());

// With its size and its period, and with what follows from them for sums. Nothing where the math does not admit it.
std::optional<RepeatingCall> sized(const Subject& subject, const kernel::TypeBinding& types, RepeatingCall call,
                                   std::int64_t size, std::int64_t period);

// A call of these sizes, where one repeats; of several that which compares the most outputs.
std::optional<RepeatingCall> repeating_call(const Subject& subject, const kernel::TypeBinding& types,
                                            const kernel::Sizes& sizes);

// The dimension of a tensor that is as long as the symbol says; -1: none is.
int dimension_along(const ir::Graph& graph, const std::vector<ir::AxisId>& dims, ir::SymbolId symbol);

std::optional<ir::SymbolId> symbol_called(const ir::Graph& graph, const std::string& name);

// The graph with sizes that it computes with (the n of a mean's gradient) as they are in the large call.
ir::Graph with_large_sizes(const ir::Graph& graph, ir::SymbolId symbol, const kernel::Sizes& sizes);

}  // namespace kw::verify
