// Where in a loop nest a value is computed: as far out as what it depends on allows, as a variable of that scope or, if
// only one expression wants it, inside that expression.
#pragma once

#include <set>

#include "act/emit/cpp/expressions.h"
#include "act/emit/cpu/nest.h"
#include "act/emit/lines.h"

namespace kw::act::cpu {

using namespace cpp;

enum class Level : uint8_t {
  Setup,  // once per call
  Point,  // once per parallel point (or per tile of them)
  Row,    // once per point of the loops around the innermost
  Inner,  // per element
};

class Scopes {
 public:
  Scopes(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest, CppTypes& types, KernelNames& names);

  Expressions expressions;
  Lines setup;  // statements at the start of the function

  Level level(const std::vector<LoopAxisId>& axes) const;
  Level level(ValueId value) const;
  bool depends_on_reduction(ValueId value) const { return depends_[static_cast<size_t>(value)]; }

  // Makes the roots computable at an inner level: what lies further out becomes variables there.
  void hoist(const std::vector<ValueId>& roots, Lines& point, Lines* row);
  // Computes everything that the roots need, as variables in `out` or to be written inside the expressions of the
  // roots. A root in `stored` is wanted by one store alone.
  void define(const std::vector<ValueId>& roots, Lines& out, const std::set<ValueId>& stored = {},
              bool as_variables = false);

  // Element access, with rows declared at their level. `slice` puts the worker's index first.
  std::string element(BufferId buffer, const std::vector<Index>& at, bool slice = false);
  // Likewise: the row alone, if the access runs along the innermost axis of the tensor's last dimension.
  std::optional<std::string> row(BufferId buffer, const std::vector<Index>& at, bool slice = false);
  Lines* rows_at(Level level) { return row_lines_[static_cast<size_t>(level)]; }
  // From now on rows of this level are declared in `lines`; those declared so far are out of scope.
  void open_rows(Level level, Lines* lines);

  const std::set<BufferId>& unit_rows() const { return unit_rows_; }
  // The rows in scope that every point of every loop has for itself: what the kernel goes through from end to end.
  std::vector<std::string> rows_gone_through() const;
  // How often a value is used in the whole kernel.
  int uses(ValueId value) const { return uses_[static_cast<size_t>(value)]; }

 private:
  std::vector<ValueId> pending(const std::vector<ValueId>& roots);
  std::vector<ValueId> frontier(const std::vector<ValueId>& roots, Level level);
  // Elements that are divided by what lies further out are multiplied by its reciprocal.
  void declare_divisor(ValueId quotient, const Map& division, Lines& point, Lines* row);

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  const Nest& nest_;
  CppTypes& types_;
  KernelNames& names_;
  std::vector<bool> depends_;
  std::vector<int> uses_;
  std::map<std::string, std::string> row_names_;  // declaration → name
  std::map<std::string, Level> rows_in_scope_;    // by declaration
  Lines* row_lines_[4] = {};
  std::set<BufferId> unit_rows_;
  std::set<std::string> own_rows_;  // what they are made from, as in rows_in_scope_
};

}  // namespace kw::act::cpu
