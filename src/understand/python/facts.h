// What is known of a program's sizes, scalars and types beyond its text. It outlives a reading: where the program needs
// a size as a number (a stride, a branch), or two sizes turn out to be one, the reading notes that here and stops, and
// the next reading starts with it. A name means the same thing in every reading.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace kw::understand::python {

enum class SizeOrigin {
  Given,     // the user named it: an option, a variable of get_inputs(), a constructor's argument
  Literal,   // the user gave the number, not a name: its number must agree with what it meets
  Assumed,   // the published rules supplied it: it gives way to what the user gave
  Flexible,  // supplied, and it gives way to another supplied one too
};

class Facts {
 public:
  // The size of that name in the graph being built; made on first use. 0 and 1 are always plain numbers.
  ir::Size size(ir::GraphBuilder& builder, const std::string& name, std::optional<int64_t> hint, SizeOrigin origin);
  bool knows_size(const std::string& name) const { return by_name_.contains(name); }

  // Notes that two sizes are one. True if reading may go on (they agree, by a constraint); false if it must start
  // again; an error if they cannot be equal.
  Result<bool> unify(ir::GraphBuilder& builder, const ir::Size& a, const ir::Size& b);
  // The same for sizes that the program only compares: true if an assumed one gave way, so that reading must start
  // again.
  bool unify_assumed(const ir::Size& a, const ir::Size& b);
  // The number that a size has at the user's own shape; notes its symbols as fixed, so that reading must start again.
  Result<int64_t> fix(const ir::Graph& graph, const ir::Size& size);
  Status fix_named(const std::string& name);
  void fix_scalar(const std::string& name);
  void fix_types();
  // The type that the user wants for a parameter, by its place in the order in which they are made.
  void set_parameter_type(size_t ordinal, ir::DType type);
  std::optional<ir::DType> parameter_type(size_t ordinal) const;
  bool scalar_is_fixed(const std::string& name) const { return fixed_scalars_.contains(name); }
  bool types_are_fixed() const { return types_fixed_; }

  bool changed() const { return changed_; }
  void begin_reading(ir::GraphBuilder& builder);  // gives the builder every symbol known so far

  struct Fixed {
    std::string name;
    int64_t value;
  };
  std::vector<Fixed> fixed_sizes() const;
  const std::set<std::string>& fixed_scalars() const { return fixed_scalars_; }

 private:
  struct SizeFact {
    std::string name;
    std::optional<int64_t> hint;
    SizeOrigin origin;
    bool fixed = false;
    std::optional<ir::Size> same_as;
  };
  ir::Size resolved(const ir::Size& size) const;
  std::optional<ir::Size> solve(ir::SymbolId symbol, const ir::Size& a, const ir::Size& b) const;
  bool try_unify_symbol(const ir::Size& a, const ir::Size& b, SizeOrigin origin, bool hints_agree);
  std::optional<ir::Size> stand_in(ir::SymbolId symbol, const ir::Size& a, const ir::Size& b) const;
  std::vector<ir::SymbolId> supplied_in(const ir::Size& size) const;  // the sizes in it that a row supplied
  bool are_both_assumed(const ir::Size& a, const ir::Size& b) const;

  std::vector<SizeFact> sizes_;  // index = SymbolId in every reading
  std::map<std::string, ir::SymbolId> by_name_;
  std::set<std::string> fixed_scalars_;
  std::map<size_t, ir::DType> parameter_types_;
  bool types_fixed_ = false;
  bool changed_ = false;
};

}  // namespace kw::understand::python
