// The values that a case gives to the tensors of a call: ordinary ones, and those at the ends of the type.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/random/dice.h"
#include "ir/type.h"

namespace kw::verify {

enum class Values : std::uint8_t {
  Ordinary,   // of size one, both signs
  Positive,   // between 0 and 1
  Large,      // near the largest of the type, or near its square or fourth root: tensor by tensor
  Tiny,       // near the smallest normal number, with ordinary ones among them
  Subnormal,  // below it, likewise
  Equal,      // one number for a whole tensor
  Zero,
  Infinite,   // ordinary, with infinities among them
  Undefined,  // ordinary, with NaN among them
};
inline constexpr Values kValues[] = {Values::Ordinary, Values::Positive,  Values::Large,
                                     Values::Tiny,     Values::Subnormal, Values::Equal,
                                     Values::Zero,     Values::Infinite,  Values::Undefined};

std::string_view name_of(Values values);

// Draws the elements of one tensor, each a number of its type.
class ValueSource {
 public:
  ValueSource(Values values, ir::DType dtype, std::uint64_t seed);
  double next();

 private:
  double draw();
  Values values_;
  ir::DType dtype_;
  ir::random::Dice dice_;
  double equal_ = 0;
  double largest_ = 0;  // exponent of Large
};

}  // namespace kw::verify
