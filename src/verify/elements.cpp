#include "verify/elements.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace kw::verify {
namespace {

using ir::DType;

template <class T>
T bits_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// A narrow float by its fields: a sign, `exponent` bits of exponent, the rest mantissa. Finite: no infinity, and only
// all ones is no number.
struct Fields {
  int bits, exponent;
  bool finite = false;
  int mantissa() const { return bits - 1 - exponent; }
  int bias() const { return (1 << (exponent - 1)) - 1; }
  int sign() const { return 1 << (bits - 1); }
};
constexpr Fields kBf16{16, 8}, kF16{16, 5}, kF8e4m3{8, 4, true}, kF8e5m2{8, 5};

double value_of(int word, const Fields& f) {
  const int mantissa = word & ((1 << f.mantissa()) - 1), exponent = (word & (f.sign() - 1)) >> f.mantissa();
  const bool top = exponent == (1 << f.exponent) - 1, ones = mantissa == (1 << f.mantissa()) - 1;
  double value = 0;
  if (top && (f.finite ? ones : mantissa != 0))
    value = std::numeric_limits<double>::quiet_NaN();
  else if (top && !f.finite)
    value = std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - f.bias() - f.mantissa());
  else
    value = std::ldexp(mantissa + (1 << f.mantissa()), exponent - f.bias() - f.mantissa());
  return (word & f.sign()) != 0 ? -value : value;
}

int word_of(DType dtype, double given, const Fields& f) {
  const double value = ir::round_to(dtype, given);
  const int sign = std::signbit(value) ? f.sign() : 0, top = ((1 << f.exponent) - 1) << f.mantissa();
  if (std::isnan(value)) return f.finite ? f.sign() - 1 : top | (1 << (f.mantissa() - 1));
  if (std::isinf(value)) return sign | top;
  int exponent = 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  std::frexp(magnitude, &exponent);  // magnitude in [2^(exponent - 1), 2^exponent)
  const int stored = exponent - 1 + f.bias();
  if (stored <= 0) return sign | static_cast<int>(std::ldexp(magnitude, f.bias() - 1 + f.mantissa()));
  const int mantissa = static_cast<int>(std::ldexp(magnitude, f.mantissa() - exponent + 1)) - (1 << f.mantissa());
  return sign | (stored << f.mantissa()) | mantissa;
}

}  // namespace

double read_element(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::F64:
      return bits_at<double>(at);
    case DType::F32:
      return static_cast<double>(bits_at<float>(at));
    case DType::BF16:
      return value_of(bits_at<std::uint16_t>(at), kBf16);
    case DType::F16:
      return value_of(bits_at<std::uint16_t>(at), kF16);
    case DType::F8E4M3:
      return value_of(bits_at<std::uint8_t>(at), kF8e4m3);
    case DType::F8E5M2:
      return value_of(bits_at<std::uint8_t>(at), kF8e5m2);
    case DType::I64:
      return static_cast<double>(bits_at<std::int64_t>(at));
    case DType::I32:
      return bits_at<std::int32_t>(at);
    case DType::I16:
      return bits_at<std::int16_t>(at);
    case DType::I8:
      return bits_at<std::int8_t>(at);
    default:
      return bits_at<std::uint8_t>(at);
  }
}

void write_element(std::byte* at, DType dtype, double value) {
  switch (dtype) {
    case DType::F64:
      return put(at, value);
    case DType::F32:
      return put(at, static_cast<float>(value));
    case DType::BF16:
      return put(at, static_cast<std::uint16_t>(word_of(dtype, value, kBf16)));
    case DType::F16:
      return put(at, static_cast<std::uint16_t>(word_of(dtype, value, kF16)));
    case DType::F8E4M3:
      return put(at, static_cast<std::uint8_t>(word_of(dtype, value, kF8e4m3)));
    case DType::F8E5M2:
      return put(at, static_cast<std::uint8_t>(word_of(dtype, value, kF8e5m2)));
    case DType::I64:
      return put(at, static_cast<std::int64_t>(value));
    case DType::I32:
      return put(at, static_cast<std::int32_t>(value));
    case DType::I16:
      return put(at, static_cast<std::int16_t>(value));
    case DType::I8:
      return put(at, static_cast<std::int8_t>(value));
    default:
      return put(at, static_cast<std::uint8_t>(value));
  }
}

std::vector<std::int64_t> offsets(const kernel::Tensor& tensor) {
  std::vector<std::int64_t> all{0};
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(all.size() * static_cast<std::size_t>(tensor.shape[d]));
    for (const std::int64_t base : all)
      for (std::int64_t i = 0; i < tensor.shape[d]; ++i) next.push_back(base + i * tensor.strides[d]);
    all = std::move(next);
  }
  return all;
}

std::vector<double> read_tensor(std::span<const std::byte> bytes, const kernel::Tensor& tensor) {
  std::vector<double> values;
  const int size = ir::info(tensor.dtype).bytes;
  for (const std::int64_t at : offsets(tensor)) values.push_back(read_element(bytes.data() + at * size, tensor.dtype));
  return values;
}

void write_tensor(std::span<std::byte> bytes, const kernel::Tensor& tensor, std::span<const double> values) {
  const int size = ir::info(tensor.dtype).bytes;
  const std::vector<std::int64_t> all = offsets(tensor);
  for (std::size_t i = 0; i < all.size(); ++i) write_element(bytes.data() + all[i] * size, tensor.dtype, values[i]);
}

}  // namespace kw::verify
