// Checks a derivative against central differences of the forward in real semantics: element by element, and along
// random directions. Points near a kink of any op of the graph are not sampled; where an op has its kinks is declared
// in one table.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "derivative_case.h"
#include "ir/derivative/derivative.h"

namespace kw::ir::test {

// Where an op is not differentiable although it has a value.
enum class Kink : uint8_t {
  None,           // differentiable wherever it is defined
  Zero,           // where its operand is zero
  Equal,          // where its two operands are equal
  Whole,          // where its operand is a whole number
  WholeQuotient,  // where its first operand is a whole multiple of its second
  Ties,           // where two elements of an operand are equal
};

Kink kink_of(Op op);

// Nothing if the derivative is right, else what is wrong.
std::optional<std::string> check_derivative(const DerivativeCase& c,
                                            const std::map<Op, DerivativeRule>& override_rules = {});

// Values for the graph's inputs: random in their ranges, away from kinks. Nothing if no such point was found.
std::optional<Environment> sample_point(const DerivativeCase& c);

}  // namespace kw::ir::test
