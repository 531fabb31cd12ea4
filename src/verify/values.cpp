#include "verify/values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kw::verify {

std::string_view name_of(Values values) {
  constexpr std::string_view kNames[] = {"ordinary", "positive", "large", "tiny",   "subnormal", "far",     "equal",
                                         "zero",     "infinite", "NaN",   "masked", "landmark",  "leaning", "factor"};
  return kNames[static_cast<std::size_t>(values)];
}

ValueSource::ValueSource(Values values, ir::DType dtype, std::uint64_t seed, std::vector<double> landmarks,
                         std::int64_t row, int root)
    : values_(values),
      dtype_(dtype),
      dice_(seed),
      landmarks_(std::move(landmarks)),
      row_(std::max<std::int64_t>(1, row)) {
  if (values == Values::Equal) equal_ = draw();
  if (values == Values::Subnormal && dice_.chance(0.5)) ordinary_ = 0;
  if (values == Values::Far && ir::is_floating(dtype))
    centre_ = (dice_.chance(0.5) ? -1 : 1) * std::exp2(ir::info(dtype).mantissa_bits / 2);
  if (values == Values::Large && ir::is_floating(dtype))
    largest_ = std::log2(ir::info(dtype).max_finite) / std::max<double>(root, dice_.pick(std::vector<double>{1, 2, 4}));
  if (values == Values::Large) one_sign_ = dice_.pick(std::vector<double>{-1, 0, 0, 1});
}

double ValueSource::next() {
  if (!ir::is_floating(dtype_))
    return static_cast<double>(dtype_ == ir::DType::Bool ? dice_.below(2)
                               : dtype_ == ir::DType::U8 ? dice_.below(10)
                                                         : dice_.below(19) - 9);
  return ir::round_to(dtype_, values_ == Values::Equal ? equal_ : draw());
}

double ValueSource::draw() {
  constexpr double kOthers = 12;  // factors of a row whose product stays within any type's range
  constexpr double kRare = 0.02;  // of infinities and NaN: a row without any stays among those that have some
  // Nearly normal: the sum of four has the bell's shape, and no tail that leaves the type.
  const double bell = 2 * (dice_.uniform() + dice_.uniform() + dice_.uniform() + dice_.uniform() - 2);
  const double sign = dice_.chance(0.5) ? -1 : 1;
  const ir::DTypeInfo& type = ir::info(dtype_);
  switch (values_) {
    case Values::Ordinary:
    case Values::Equal:
      return bell;
    case Values::Positive:
      return 0.01 + 0.98 * dice_.uniform();
    case Values::Large:
      return (one_sign_ != 0 ? one_sign_ : sign) * std::exp2(largest_ - 1 - 6 * dice_.uniform());
    case Values::Tiny:
      if (dice_.chance(0.5)) return bell;
      return sign * std::ldexp(1 + dice_.uniform(), type.min_exponent + static_cast<int>(dice_.below(12)));
    case Values::Subnormal:
      if (dice_.chance(ordinary_)) return bell;
      return sign * std::ldexp(dice_.uniform(), type.min_exponent);
    case Values::Far:
      return centre_ + bell;
    case Values::Leaning:
      return 1 + bell;
    case Values::Zero:
      return 0;
    case Values::Infinite:
      return dice_.chance(kRare) ? sign * std::numeric_limits<double>::infinity() : bell;
    case Values::Undefined:
      return dice_.chance(kRare) ? std::numeric_limits<double>::quiet_NaN() : bell;
    case Values::Masked:
      if (drawn_++ % row_ == 0) mask_ = dice_.pick(std::vector<double>{-1, -1, 1, 0, 0, 0});
      return mask_ == 0 ? bell : mask_ * std::numeric_limits<double>::infinity();
    case Values::Landmarks:
      return landmarks_.empty() || dice_.chance(0.3) ? bell : sign * dice_.pick(landmarks_);
    case Values::Factors:
      return sign * (dice_.chance(kOthers / static_cast<double>(row_)) ? 0.5 + dice_.uniform() : 1);
  }
  return bell;
}

}  // namespace kw::verify
