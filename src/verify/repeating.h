// Calls too large for the interpreter whose answer the oracle knows all the same: along one axis the inputs repeat with
// a short period (repetition.h). The oracle sees one period; every element is compared. Where each period begins is
// drawn, so that no kernel can do with fewer slices than there are:
//
//   x = a b c | c a b | b c a | c a b | a b
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
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "verify/repetition.h"
#include "verify/trial.h"

namespace kw::verify {

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

  std::int64_t elements() const { return elements_; }                  // that were compared
  const std::set<std::string>& compared() const { return compared_; }  // outputs of which any element was

 private:
  RepeatingTrial(const Subject& subject, RepeatingCall call, kernel::TypeBinding types);
  int dimension_of(const std::string& tensor) const;  // that repeats; -1: none does
  // visit(index along the axis, the slice of a period that stands there): for all in order.
  template <typename Visit>
  void each_slice(Visit visit) const;
  std::optional<Finding> compare_repeated(const std::string& name, const kernel::Pass& pass,
                                          const kernel::Tensor& tensor, std::span<const std::byte> bytes);
  std::optional<Finding> compare_sum(const std::string& name, const SummedOutput& sum, const kernel::Pass& pass,
                                     const kernel::Tensor& tensor, std::span<const std::byte> bytes);

  const Subject* subject_;
  RepeatingCall call_;
  kernel::TypeBinding types_;
  ir::SymbolId symbol_ = 0;
  std::uint64_t seed_ = 0;
  ir::Environment values_;           // of one period
  Expected expected_, of_the_last_;  // of a period, and of the last with the part of one behind it
  std::map<std::string, std::pair<kernel::Tensor, std::vector<std::byte>>> carried_;
  std::int64_t elements_ = 0;
  std::set<std::string> compared_;
};

}  // namespace kw::verify
