// Calls too large for the interpreter whose answer the oracle knows all the same: along one axis the inputs repeat with
// a short period. Outputs along that axis repeat too, and a sum over it is what a period gives, as often as there are
// periods, and what the part of one at the end gives. The oracle sees one period; every element is compared.
//
//   KW_TRY(RepeatingTrial trial, RepeatingTrial::make(subject, call, types, seed));
//   KW_TRY(kernel::Facts facts, trial.place(pass, machine, arena));
//   KW_CHECK(arena.allocate());
//   facts.tensors = arena.tensors();
//   trial.fill(pass, facts, arena);
//   ... run ...
//   trial.compare(pass, facts, arena) → nothing, or what is wrong
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/trial.h"

namespace kw::verify {

// An output that is a sum, or a mean, over the axis that repeats.
struct SummedOutput {
  bool is_mean = false;
  double bound = 1;      // of a sum of all terms, to that of a period's: more of them are rounded more often
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

// Does a later pass take what this one leaves in the buffer?
bool wanted_later(const Subject& subject, const kernel::Pass& pass, const kernel::Buffer& buffer);

class RepeatingTrial {
 public:
  // Draws the inputs of a period, and asks the oracle.
  static Result<RepeatingTrial> make(const Subject& subject, RepeatingCall call, const kernel::TypeBinding& types,
                                     std::uint64_t seed);

  // Adds the buffers of a pass to an arena. Passes come in their order: a later one takes what an earlier left.
  Result<kernel::Facts> place(const kernel::Pass& pass, const kernel::Machine& machine, device::Arena& arena) const;

  // Writes the inputs, and poison into all else.
  void fill(const kernel::Pass& pass, const kernel::Facts& facts, device::Arena& arena) const;

  // Every output of the pass that repeats or is a sum. Counts the elements.
  std::optional<Finding> compare(const kernel::Pass& pass, const kernel::Facts& facts, const device::Arena& arena);

  void carry(const kernel::Pass& pass, const kernel::Facts& facts, const device::Arena& arena);  // to later passes

  std::int64_t elements() const { return elements_; }  // that were compared

 private:
  RepeatingTrial(const Subject& subject, RepeatingCall call, kernel::TypeBinding types);
  int dimension_of(const std::string& tensor) const;  // that repeats; -1: none does
  std::optional<Finding> compare_repeated(const std::string& name, const kernel::Pass& pass,
                                          const kernel::Tensor& tensor, std::span<const std::byte> bytes) const;
  std::optional<Finding> compare_sum(const std::string& name, const SummedOutput& sum, const kernel::Pass& pass,
                                     const kernel::Tensor& tensor, std::span<const std::byte> bytes) const;

  const Subject* subject_;
  RepeatingCall call_;
  kernel::TypeBinding types_;
  ir::SymbolId symbol_ = 0;
  ir::Environment values_;           // of one period
  Expected expected_, of_the_rest_;  // of a period, and of the part of one at the end
  std::map<std::string, std::pair<kernel::Tensor, std::vector<std::byte>>> carried_;
  std::int64_t elements_ = 0;
};

}  // namespace kw::verify
