// The cases that kernels are judged on: shapes of the profile and hostile ones, mixtures of types, layouts, value
// ranges, scalars other than their defaults. The plan is the same for everyone; the values come from a seed that stays
// in the engine.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/interpreter/interpreter.h"
#include "kernel/call.h"
#include "kernel/types.h"
#include "verify/layout.h"
#include "verify/subject.h"
#include "verify/values.h"

namespace kw::verify {

// What a call gives for a real scalar. One below a hundredth, such as an eps, is felt at 0.3: beside its default nobody
// sees a rounding of what it is added to.
enum class Scalars {
  AtDefault,
  Other,
  OtherAndFelt,
  Opposite,  // of the other sign
  Beyond,    // above one, or three times as far from zero
};

struct Case {
  kernel::TypeBinding types;
  kernel::Sizes sizes;
  Layout layout = Layout::Dense;
  Values values = Values::Ordinary;
  Scalars scalars = Scalars::AtDefault;
  bool many_blocks = false;  // an emulated GPU has kManyMultiprocessors
  bool at_start = false;
  bool fresh = false;               // a second call with other values follows
  int landmark = -1;                // of Values::Landmarks, by its number: which one tensors of one element have
  std::optional<ir::NodeId> brink;  // the value of the math that has just left its type's range
  std::uint64_t seed = 0;

  std::string text() const;  // "rows=7 cols=13, T = bf16, transposed, large"
};

struct CaseOptions {
  std::uint64_t seed = 0;
  std::int64_t most_elements = 150'000;  // of the largest tensor: what the interpreter can do quickly
  std::int64_t most_to_reach = 300'000;  // likewise, of a shape that alone reaches a kernel
  std::int64_t most_in_parts = 0;        // likewise, of one with parts of a sum from many blocks
  kernel::Machine machine;               // that decides which kernels a shape reaches
  bool only_own_types = false;
};

// Every mixture of types that is tried; the user's own first.
std::vector<kernel::TypeBinding> type_mixtures(const Subject& subject, bool only_own_types);

// Shapes that the math admits: the profile's, and hostile ones (1, primes, one over a power of two, empty, longer than
// a block), none above the limit.
std::vector<kernel::Sizes> shapes_to_try(const Subject& subject, std::int64_t most_elements);

// Of the largest input.
std::int64_t most_elements(const Subject& subject, const kernel::Sizes& sizes);

// Of the last dimension of any input, the longest.
std::int64_t last_size(const Subject& subject, const kernel::Sizes& sizes);

// Of the largest input: its elements, but for the last dimension.
std::int64_t rows_of(const Subject& subject, const kernel::Sizes& sizes);

// The same sizes, but those of parameters as the user has them: for a source that fixes them.
kernel::Sizes sizes_of_parameters(const Subject& subject, kernel::Sizes sizes);

// Do sizes fulfil what the math asks of them, and is no tensor larger than this?
bool admits(const Subject& subject, const kernel::Sizes& sizes,
            std::int64_t most_elements = std::numeric_limits<std::int64_t>::max());

// Sizes that a caller's tensors have; others, a number of groups, are the op's own.
std::vector<std::string> symbols_of_shapes(const Subject& subject);

// One size, and all others of a shape; each is made the next multiple where the math asks for multiples.
kernel::Sizes fitted(const Subject& subject, const std::string& symbol, std::int64_t size, std::int64_t others);

std::vector<Case> plan_cases(const Subject& subject, const CaseOptions& options);

// The inputs and cotangents of a case. `turn` draws other values for the same case.
Result<ir::Environment> values_of(const Subject& subject, const Case& c, int turn = 0);

// Of what a call gives, the part that a graph has inputs and sizes for.
ir::Environment part_for(const ir::Graph& graph, const ir::Environment& call);

}  // namespace kw::verify
