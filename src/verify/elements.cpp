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

// A 16-bit float by its fields: a sign, `exponent_bits` of exponent, the rest mantissa.
double half_value(std::uint16_t word, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int mantissa = word & ((1 << mantissa_bits) - 1), exponent = (word & 0x7fff) >> mantissa_bits;
  double value = 0;
  if (exponent == (1 << exponent_bits) - 1)
    value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else
    value = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return (word & 0x8000) != 0 ? -value : value;
}

std::uint16_t half_word(DType dtype, double given, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const double value = ir::round_to(dtype, given);
  const int sign = std::signbit(value) ? 0x8000 : 0, top = ((1 << exponent_bits) - 1) << mantissa_bits;
  if (std::isnan(value)) return static_cast<std::uint16_t>(top | (1 << (mantissa_bits - 1)));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | top);
  int exponent = 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  std::frexp(magnitude, &exponent);  // magnitude in [2^(exponent - 1), 2^exponent)
  const int stored = exponent - 1 + bias;
  if (stored <= 0)
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(magnitude, bias - 1 + mantissa_bits)));
  const int mantissa = static_cast<int>(std::ldexp(magnitude, mantissa_bits - exponent + 1)) - (1 << mantissa_bits);
  return static_cast<std::uint16_t>(sign | (stored << mantissa_bits) | mantissa);
}

constexpr int kBf16Exponent = 8, kF16Exponent = 5;

}  // namespace

double read_element(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::F64:
      return bits_at<double>(at);
    case DType::F32:
      return static_cast<double>(bits_at<float>(at));
    case DType::BF16:
      return half_value(bits_at<std::uint16_t>(at), kBf16Exponent);
    case DType::F16:
      return half_value(bits_at<std::uint16_t>(at), kF16Exponent);
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
      return put(at, half_word(dtype, value, kBf16Exponent));
    case DType::F16:
      return put(at, half_word(dtype, value, kF16Exponent));
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
