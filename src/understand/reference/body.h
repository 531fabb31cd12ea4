// The body of the Python function while it is written: what each node's value is in Python, the lines so far, and which
// names, sizes and local functions they use.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "understand/reference/layout.h"
#include "understand/reference/names.h"
#include "understand/reference/reference.h"

namespace kw::understand::reference {

// How tightly Python binds, weakest first.
enum class Binding : uint8_t { Any, Compare, BitOr, BitXor, BitAnd, Shift, Sum, Product, Unary, Power, Postfix };

// A Python expression for a node's value. It may lack axes of its node: it is constant along those, and broadcasting
// supplies them. A number is Python's own; a tensor of a weak type is held in torch.float64 or torch.int64.
struct Expression {
  std::string text;
  Binding binding = Binding::Postfix;
  Layout dims;
  ir::Type type;  // of its elements in torch; of a number: Int, Real or Bool
  bool number = false;
  std::string fill = {};  // of a tensor without dimensions that holds one number: that number

  std::string within(Binding around) const { return binding < around ? "(" + text + ")" : text; }
  bool is_name() const;  // so short that writing it twice costs nothing
};

class Body {
 public:
  explicit Body(const ir::Graph& graph);

  const ir::Graph& graph;
  const ReferenceNames& names() const { return interface_; }

  // ---- what expressions are made of ----
  std::string size(const ir::Size& size);  // as Python; its symbols are bound at the top
  std::string axis_size(ir::AxisId axis) { return size(graph.axis(axis).size); }
  std::string dtype(ir::Type type);              // "torch.float32", "x.dtype", or a name bound at the top
  std::string device();                          // ", device=x.device", or nothing without a tensor
  std::string local(std::string_view function);  // a function of templates/torch/reference_functions.py
  // A call whose value several nodes share: its name, given the first time.
  std::string shared(const std::string& call, std::string_view wanted);
  // A nested function from its text after the name, "(a, b):\n    return a + b": its name, given the first time.
  std::string function(const std::string& text, std::string_view wanted);
  void use_parts_of(const Body& inner);  // what a nested function's body uses
  void use_functional() { uses_functional_ = true; }
  void use_math() { uses_math_ = true; }

  // ---- expressions from expressions ----
  Expression cast(Expression x, ir::Type type);    // itself where it is of that type
  Expression tensor(Expression x, ir::Type type);  // a number becomes a tensor without dimensions
  // In exactly this layout; what it lacks becomes a unit, or with `expand` a dimension of full size.
  Expression arranged(Expression x, const Layout& dims, bool expand = false);
  // With the axis among its dimensions (expanded, at the front, if it lacked it).
  Expression with_axes(Expression x, const std::vector<ir::AxisId>& axes);
  Expression named(Expression x, std::string_view wanted);  // gives it a line of its own

  // ---- the finished parts ----
  void add_line(const std::string& line, const std::string& comment = "");  // beside it, or above it where it is long
  std::vector<std::string> opening() const;  // the lines that bind sizes and element types
  const std::vector<std::string>& lines() const { return lines_; }
  const std::set<std::string, std::less<>>& locals() const { return locals_; }
  bool uses_functional() const { return uses_functional_; }
  bool uses_math() const { return uses_math_; }
  std::vector<ir::SymbolId> size_arguments() const;  // used sizes that no tensor's shape gives: arguments
  std::string symbol_name(ir::SymbolId symbol) const { return symbol_names_[static_cast<size_t>(symbol)]; }
  std::string shape_comment(const Layout& dims) const;  // "[rows, 1]"

 private:
  struct Binder {
    ir::SymbolId symbol;
    std::string text;                    // "x.shape[-1] // groups"
    std::vector<ir::SymbolId> rests_on;  // {groups}
  };
  std::optional<Binder> bind_symbol(ir::SymbolId symbol, const std::set<ir::SymbolId>& bound) const;
  std::vector<Binder> bound_symbols() const;

  Names taken_;
  ReferenceNames interface_;
  std::vector<std::string> symbol_names_;
  std::set<ir::SymbolId> symbols_used_;
  std::vector<std::pair<ir::Type, std::pair<std::string, std::string>>> dtypes_;  // composite types: name, expression
  std::vector<std::string> lines_;
  std::map<std::string, std::string> shared_;
  std::set<std::string, std::less<>> locals_;
  bool uses_functional_ = false;
  bool uses_math_ = false;
};

std::string number_literal(const ir::Literal& literal);

// Weak types as torch can hold them: Int as i64, Real as f64.
ir::Type held(ir::Type type);

}  // namespace kw::understand::reference
