// Values of the loop form as C++ expressions. A value is computed in the type that PyTorch computes in and rounded to
// its own type exactly once, where the loop form says so:
//
//   y: T = mul(v8, v11)   →   kw::round_to<T>(v8 * v11)        stored:  T(v8 * v11)
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "act/emit/cpp/cpp_types.h"
#include "act/emit/cpp/held_sums.h"
#include "act/emit/cpp/names.h"
#include "act/emit/cpp/spelling.h"

namespace kw::act::cpp {

struct Expression {
  std::string text;
  Binding binding = Binding::Primary;
  std::string type;       // in C++
  std::string bare = {};  // without its outermost conversion, if it has one: where the context converts by itself
  std::string bare_type = {};
  std::string divisor = {};  // the variable that divides by it fast, where it has one
  const std::string& text_in_context() const { return bare.empty() ? text : bare; }
};

class Expressions {
 public:
  using Environment = std::map<ValueId, Expression>;

  Expressions(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types, KernelNames& names)
      : program_(program), kernel_(kernel), types_(types), names_(names) {}

  // Where a load's element is: set by whoever knows which rows are at hand.
  std::function<std::string(const Load&)> element;

  // A function that divides floats, where the sign alone is not what the target wants.
  std::string division = {};

  // Whether the target's runtime has round_own and round_before, which do not round what is, or will be, of their type.
  bool merges_roundings = false;

  // Whether what is written now is a body that serves single elements and lanes of them alike.
  bool by_lanes = false;

  Environment environment;  // values that are variables, or expressions to be repeated

  // What the expression of a value mentions: its operands, but for those that it is written without.
  std::vector<ValueId> operands(ValueId value) const;

  Expression of(ValueId value);                                    // its variable, or the expression itself
  std::string as(ValueId value, const std::string& cpp_type);      // converted
  std::string factor(ValueId value, const std::string& cpp_type);  // converted, as an operand of a product
  std::string stored(ValueId value, ir::Type type);                // as memory of the type takes it
  std::string computed(ValueId value, ir::Type type);              // before that: whoever stores it later rounds it
  std::string literal(const ir::Literal& literal, const std::string& cpp_type) const;
  // The C++ types that run-time scalars are wanted in: the caller may pass the one that is, and nothing is converted.
  std::string scalar_type(const std::string& name) const;
  // Its text where the type of a variable does not convert by itself.
  std::string as_declared(const Expression& expression, const std::string& cpp_type) const {
    return convert(expression, cpp_type).text;
  }
  // The type of everything floating that the kernel reads, if it is one.
  void find_only_type();
  void find_scalar_types();
  // Sums that are only wanted between two numbers are written as kw::round_between, where the target's runtime has it.
  void hold_sums();
  void count_uses();  // of what by_lanes asks for
  // For a target whose compiler may join a product with a sum: kw::unfused where that would tell loops apart.
  void unfuse_compared_products();
  bool is_unfused(ValueId value) const { return unfused_.contains(value); }

 private:
  Expression build(ValueId value, bool rounded);
  Expression map(const Value& value, const Map& map, bool rounded);
  Expression special(const Value& value, const Map& map, bool rounded);
  Expression power(const Value& value, const Map& map);
  // select(a <= b, 0, select(c < d, 0, rest)): the rest, where neither comparison holds. By lanes.
  struct Kept {
    std::vector<ValueId> comparisons;
    ValueId select, rest;  // the innermost, and its last operand
  };
  std::optional<Kept> kept(ValueId value) const;
  Expression keep(const Kept& kept);
  // Whether it is 2, 4 or 8 times a value of its own type.
  bool is_multiple(const Value& value, const Map& map) const;
  // Whether it is the square or a root of a value of its own type, of which no tie goes up (runtime/cpu/element.h).
  bool is_square_or_root(const Value& value, const Map& map) const;
  // Division by a number, and by what has a variable for it.
  std::optional<Expression> fast_quotient(const Value& value, const Map& map, const Expression& left) const;
  ir::Type common_type(const Value& reader, const Map& map) const;
  Expression operand(const Value& reader, const Map& map, size_t i);
  std::string argument(const Value& reader, const Map& map, size_t i);  // likewise, of a function
  Expression convert(Expression expression, const std::string& cpp_type) const;
  Expression round(const Expression& expression, ir::Type type, bool own = false) const;
  // Whether everything floating that it is computed from is a value of this type, or a number.
  bool is_own(const Map& map, ir::Type type) const;
  std::string inside(const Expression& expression, Binding outer, bool right = false) const;
  std::string wanted_type(const Value& reader, const Map& map, size_t i);

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  CppTypes& types_;
  KernelNames& names_;
  std::optional<ir::Type> only_type_;
  std::map<std::string, std::string> scalar_types_;
  HeldSums held_;
  std::set<ValueId> unfused_;
  std::vector<int> uses_;
};

}  // namespace kw::act::cpp
