// The values that a case gives to the tensors of a call: ordinary ones, and those at the ends of the type.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/random/dice.h"
#include "ir/type.h"

namespace kw::verify {

enum class Values : std::uint8_t {
  Ordinary,   // of size one, both signs
  Positive,   // between 0 and 1
  Large,      // near the largest of the type, or near its square or fourth root, of both signs or of one: by tensor
  Tiny,       // near the smallest normal number, with ordinary ones among them
  Subnormal,  // below it, all or half of a tensor
  Far,    // ordinary ones beside a number that takes half of the type's digits: a mean without what it is the mean of
  Equal,  // one number for a whole tensor
  Zero,
  Infinite,   // ordinary, with infinities among them
  Undefined,  // ordinary, with NaN among them
  Masked,     // ordinary, with whole rows that are infinite, most of them below zero: what a mask leaves
  Landmarks,  // ordinary, with the numbers among them that the math itself names: thresholds, and where kinks are
  Leaning,    // ordinary ones beside one: of both signs, and the more there are, the larger is their sum
  Factors,    // one and minus one, with a few others in a row: what ordinary ones are where a long row is multiplied
};
inline constexpr Values kValues[] = {Values::Ordinary,  Values::Positive,  Values::Large,  Values::Tiny,
                                     Values::Subnormal, Values::Far,       Values::Equal,  Values::Zero,
                                     Values::Infinite,  Values::Undefined, Values::Masked, Values::Landmarks};

std::string_view name_of(Values values);

// Draws the elements of one tensor, each a number of its type.
class ValueSource {
 public:
  // `row`: how many elements follow each other along the last dimension; of Factors, are multiplied. `root`: numbers of
  // Large are no nearer to the largest of the type than to this root of it.
  ValueSource(Values values, ir::DType dtype, std::uint64_t seed, std::vector<double> landmarks = {},
              std::int64_t row = 1, int root = 1);
  double next();

 private:
  double draw();
  Values values_;
  ir::DType dtype_;
  ir::random::Dice dice_;
  double equal_ = 0;
  double ordinary_ = 0.5;  // share of them in Subnormal: all of a tensor's elements are subnormal, or half of them
  double largest_ = 0;     // exponent of Large
  double one_sign_ = 0;    // of Large: that of all elements, or 0
  double centre_ = 0;      // of Far
  std::vector<double> landmarks_;
  std::int64_t row_ = 1, drawn_ = 0;  // of Masked and Factors
  double mask_ = 0;                   // of the row that is drawn: an infinity, or 0
};

}  // namespace kw::verify
