// What the source does not say: the rules of docs/assumptions.md, which travels inside the binary and is read as it is
// published, and the record of each assumption that a reading made.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::understand::python {

struct Assumption {
  std::string what;     // "shape of hidden_states"
  std::string value;    // "[batch, seq, hidden]"
  std::string because;  // "docs/assumptions.md: a tensor called hidden_states"
  Place place;
};

struct ShapeRule {
  std::vector<std::string> names;   // patterns of argument names, with *
  std::vector<std::string> inside;  // patterns of the class or function; empty: any
  std::vector<std::string> shape;   // names of sizes; "1" is a dimension of size one
  std::string type;                 // "T", "W", "i64", "bool"
  bool is_for_any_name() const { return names.size() == 1 && names[0] == "*"; }
};
struct ValueRule {
  std::vector<std::string> names;
  std::vector<std::string> inside;
  std::string value;  // as in --init; "size" makes a symbol of the argument's name
};
struct HintRule {
  std::vector<std::string> names;
  int64_t value;
};
struct NameRule {  // decorators, questions about the environment
  std::vector<std::string> names;
  std::string value;
};

struct Rules {
  std::vector<ShapeRule> shapes;
  std::vector<ValueRule> values;
  std::vector<HintRule> hints;
  std::vector<NameRule> decorators;
  std::vector<NameRule> environment;

  // Both in order of trial. The rows for any name come in where no row has the argument's own, or none of those fits.
  std::vector<const ShapeRule*> shapes_of(std::string_view argument, std::string_view inside) const;
  std::vector<const ShapeRule*> shapes_of_any_name() const;
  const ValueRule* value_of(std::string_view argument, std::string_view inside) const;
  int64_t hint_of(std::string_view size) const;
  const NameRule* decorator(std::string_view dotted) const;
  const NameRule* environment_of(std::string_view dotted) const;
};

Result<Rules> parse_rules(std::string_view markdown);
const Rules& published_rules();  // of the embedded document; its form is proven by a test

bool matches(std::string_view pattern, std::string_view name);  // * stands for any characters

}  // namespace kw::understand::python
