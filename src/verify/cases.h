// One call that kernels are judged on: its sizes and types, how its tensors lie, and which values they hold. The values
// come from a seed that stays in the engine.
#pragma once

#include <cstdint>
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
  Values cotangents = Values::Ordinary;
  Scalars scalars = Scalars::AtDefault;
  bool many_blocks = false;  // an emulated GPU has kManyMultiprocessors
  bool at_start = false;
  bool fresh = false;               // a second call with other values follows
  int landmark = -1;                // of Values::Landmarks, by its number: which one tensors of one element have
  std::optional<ir::NodeId> brink;  // the value of the math that has just left its type's range
  int root = 1;                     // of Values::Large, as in ValueSource
  std::uint64_t seed = 0;

  std::string text() const;  // "rows=7 cols=13, T = bf16, transposed, large"
};

bool is_real_scalar(const ir::Input& input);   // with a default, such as a scale
bool is_small_scalar(const ir::Input& input);  // below a hundredth, such as an eps

// Every mixture of types that is tried; the user's own first.
std::vector<kernel::TypeBinding> type_mixtures(const Subject& subject, bool only_own_types);

// The inputs and cotangents of a case. `turn` draws other values for the same case.
Result<ir::Environment> values_of(const Subject& subject, const Case& c, int turn = 0);

// Of what a call gives, the part that a graph has inputs and sizes for.
ir::Environment part_for(const ir::Graph& graph, const ir::Environment& call);

}  // namespace kw::verify
