// Python's grammar as the reader sees it: CPython's `ast`, without what no tensor program needs. A construct outside of
// it is an `Unsupported` node and is refused only where the program would run it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kw::understand::python {

// Lines from 1, columns in UTF-8 bytes from 0, as CPython counts them; `place.h` turns them into what a person counts.
struct Span {
  int line = 0, column = 0, end_line = 0, end_column = 0;
};

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;  // null where the grammar makes it optional
using Block = std::vector<Stmt>;

enum class UnaryOperator : uint8_t { Invert, Not, Plus, Minus };
enum class BinaryOperator : uint8_t {
  Add,
  Sub,
  Mul,
  MatMul,
  Div,
  Mod,
  Pow,
  LeftShift,
  RightShift,
  BitOr,
  BitXor,
  BitAnd,
  FloorDiv
};
enum class Comparison : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, Is, IsNot, In, NotIn };

struct Parameter {
  Span span;
  std::string name;
  ExprPtr annotation;
};
struct Parameters {
  std::vector<Parameter> positional;  // the first `positional_only` of them by position alone
  size_t positional_only = 0;
  std::optional<Parameter> star;
  std::vector<Parameter> keyword_only;
  std::vector<ExprPtr> keyword_defaults;  // parallel; null: none
  std::optional<Parameter> double_star;
  std::vector<ExprPtr> defaults;  // of the last positional ones
};
struct Keyword {
  std::optional<std::string> name;  // none: **value
  ExprPtr value;
};
struct Comprehension {
  ExprPtr target, iter;
  std::vector<ExprPtr> conditions;
};

// ---- expressions ---------------------------------------------------------------------------------------------------
struct Ellipsis {};
struct Unsupported {
  std::string what;  // CPython's name for it, or what kind of literal it is
};
struct Constant {
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Ellipsis> value;
};
struct Name {
  std::string id;
};
struct Attribute {
  ExprPtr value;
  std::string name;
};
struct Subscript {
  ExprPtr value, index;
};
struct Slice {
  ExprPtr lower, upper, step;
};
struct Starred {
  ExprPtr value;
};
struct Call {
  ExprPtr function;
  std::vector<ExprPtr> arguments;
  std::vector<Keyword> keywords;
};
struct Unary {
  UnaryOperator op;
  ExprPtr operand;
};
struct Binary {
  ExprPtr left;
  BinaryOperator op;
  ExprPtr right;
};
struct Logical {
  bool is_and;
  std::vector<ExprPtr> values;
};
struct Compare {
  ExprPtr left;
  std::vector<Comparison> ops;
  std::vector<ExprPtr> right;
};
struct Conditional {
  ExprPtr test, then, otherwise;
};
struct Walrus {
  ExprPtr target, value;
};
struct Lambda {
  Parameters parameters;
  ExprPtr body;
};
struct Display {  // (a, b), [a, b], {a, b}
  enum class Kind : uint8_t { Tuple, List, Set } kind;
  std::vector<ExprPtr> items;
};
struct DictDisplay {
  std::vector<ExprPtr> keys, values;  // parallel; a null key: **value
};
struct Comprehended {  // [e for …], {e for …}, (e for …), {k: e for …}
  enum class Kind : uint8_t { List, Set, Generator, Dict } kind;
  ExprPtr key, element;
  std::vector<Comprehension> generators;
};
struct FormattedString {
  std::vector<ExprPtr> parts;  // Constant or Formatted
};
struct Formatted {
  ExprPtr value;
  int64_t conversion;  // -1, 's', 'r', 'a'
  ExprPtr format;
};

struct Expr {
  Span span;
  std::variant<Unsupported, Constant, Name, Attribute, Subscript, Slice, Starred, Call, Unary, Binary, Logical, Compare,
               Conditional, Walrus, Lambda, Display, DictDisplay, Comprehended, FormattedString, Formatted>
      node;
  template <class T>
  const T* get() const {
    return std::get_if<T>(&node);
  }
};

// ---- statements ----------------------------------------------------------------------------------------------------
struct FunctionDef {
  std::string name;
  Parameters parameters;
  Block body;
  std::vector<ExprPtr> decorators;
  ExprPtr returns;
};
struct ClassDef {
  std::string name;
  std::vector<ExprPtr> bases;
  std::vector<Keyword> keywords;
  Block body;
  std::vector<ExprPtr> decorators;
};
// A top-level class or function that has not been asked for yet.
struct Stub {
  bool is_class;
  std::string name;
  int64_t index;
  std::vector<ExprPtr> bases;
};
struct Return {
  ExprPtr value;
};
struct Delete {
  std::vector<ExprPtr> targets;
};
struct Assign {
  std::vector<ExprPtr> targets;
  ExprPtr value;
};
struct AugmentedAssign {
  ExprPtr target;
  BinaryOperator op;
  ExprPtr value;
};
struct AnnotatedAssign {
  ExprPtr target, annotation, value;
};
struct For {
  ExprPtr target, iter;
  Block body, otherwise;
};
struct While {
  ExprPtr test;
  Block body, otherwise;
};
struct If {
  ExprPtr test;
  Block body, otherwise;
};
struct WithItem {
  ExprPtr context, target;
};
struct With {
  std::vector<WithItem> items;
  Block body;
};
struct Raise {
  ExprPtr exception;
};
struct Handler {
  ExprPtr type;
  std::optional<std::string> name;
  Block body;
};
struct Try {
  Block body;
  std::vector<Handler> handlers;
  Block otherwise, finally;
};
struct Assert {
  ExprPtr test, message;
};
struct Alias {
  std::string name;
  std::optional<std::string> as;
};
struct Import {
  std::vector<Alias> names;
};
struct ImportFrom {
  std::string module;  // empty in `from . import x`
  std::vector<Alias> names;
  int64_t level = 0;
};
struct Outer {  // global and nonlocal
  bool global;
  std::vector<std::string> names;
};
struct ExpressionStatement {
  ExprPtr value;
};
struct Pass {};
struct Break {};
struct Continue {};

struct Stmt {
  Span span;
  std::variant<Unsupported, FunctionDef, ClassDef, Stub, Return, Delete, Assign, AugmentedAssign, AnnotatedAssign, For,
               While, If, With, Raise, Try, Assert, Import, ImportFrom, Outer, ExpressionStatement, Pass, Break,
               Continue>
      node;
  template <class T>
  const T* get() const {
    return std::get_if<T>(&node);
  }
};

}  // namespace kw::understand::python
