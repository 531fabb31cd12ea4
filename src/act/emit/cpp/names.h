// The names of one kernel's C++ text: its tensors, sizes, loop variables and values, each once, none of them a keyword.
//
//   sizes       rows, cols            as the caller knows them
//   variables   row, col, i_batch     one element along an axis
//   values      rstd, x_i             the math's own name; x_i where the name is a tensor's
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "act/emit/cpp/cpp_types.h"
#include "act/loop/identifier.h"

namespace kw::act::cpp {

// A size that the kernel takes as an argument.
struct SizeParameter {
  std::string name;
  ir::Size size;
  LoopAxisId axis = -1;  // whose bound it is; -1: it only occurs in expressions
};

class KernelNames {
 public:
  // `axes` in the order in which callers are given their sizes; `reserved` are words that the skeletons use.
  KernelNames(const LoopProgram& program, const LoopKernel& kernel, const std::vector<LoopAxisId>& axes,
              std::span<const std::string_view> reserved, const CppTypes& types);

  const std::string& tensor(BufferId buffer) const { return program_.buffers[static_cast<size_t>(buffer)].name; }
  const std::string& variable(LoopAxisId axis) const { return variables_.at(axis); }
  std::string size(LoopAxisId axis) const;  // "cols", or a number where the math fixes it
  std::string value(ValueId value);         // as a local variable
  std::string fresh(const std::string& wanted) { return scope_.take(wanted, "t"); }
  const std::vector<SizeParameter>& sizes() const { return sizes_; }
  void need(const ir::Size& size) { add_symbols(size); }  // it will occur in the text

  std::string text(const Index& index) const;    // a C++ expression
  std::string factor(const Index& index) const;  // likewise, in parentheses where it is a sum
  std::string text(const ir::Size& size) const;
  std::string product(const std::vector<LoopAxisId>& axes) const;  // of their sizes; "1" for none
  // How an index that depends on values (a gather) names them.
  void bind_index_value(ValueId value, std::string text) { index_values_[value] = std::move(text); }

 private:
  std::string division(const Index& index, const char* sign, const char* function) const;
  void add_axis(LoopAxisId axis);
  void add_symbols(const ir::Size& size);
  const LoopProgram& program_;
  const LoopKernel& kernel_;
  Identifiers scope_;
  std::vector<SizeParameter> sizes_;
  std::map<LoopAxisId, std::string> variables_, axis_sizes_;
  std::map<ir::SymbolId, std::string> symbols_;
  std::map<ValueId, std::string> values_, index_values_;
};

}  // namespace kw::act::cpp
