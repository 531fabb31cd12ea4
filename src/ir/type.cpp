#include "ir/type.h"

#include <cmath>
#include <limits>

namespace kw::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::array<DTypeInfo, kDTypeCount> kInfos{{
    {DType::None, "none", "", Category::None, 0, 0, 0, 0, false},
    {DType::Bool, "bool", "bool", Category::Bool, 1, 0, 0, 1, false},
    {DType::Int, "int", "", Category::Integer, 0, 0, 0, 9223372036854775807.0, true},
    {DType::U8, "u8", "uint8", Category::Integer, 1, 0, 0, 255, false},
    {DType::I8, "i8", "int8", Category::Integer, 1, 0, 0, 127, false},
    {DType::I16, "i16", "int16", Category::Integer, 2, 0, 0, 32767, false},
    {DType::I32, "i32", "int32", Category::Integer, 4, 0, 0, 2147483647, false},
    {DType::I64, "i64", "int64", Category::Integer, 8, 0, 0, 9223372036854775807.0, false},
    {DType::Real, "real", "", Category::Floating, 0, 53, -1022, 1.7976931348623157e308, true},
    {DType::F8E4M3, "f8e4m3", "float8_e4m3fn", Category::Floating, 1, 4, -6, 448, false},
    {DType::F8E5M2, "f8e5m2", "float8_e5m2", Category::Floating, 1, 3, -14, 57344, false},
    {DType::BF16, "bf16", "bfloat16", Category::Floating, 2, 8, -126, 3.38953138925153547590470800371487866880e38,
     false},
    {DType::F16, "f16", "float16", Category::Floating, 2, 11, -14, 65504, false},
    {DType::F32, "f32", "float32", Category::Floating, 4, 24, -126, 3.40282346638528859811704183484516925440e38, false},
    {DType::F64, "f64", "float64", Category::Floating, 8, 53, -1022, 1.7976931348623157e308, false},
}};

consteval bool in_order() {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kInfos[static_cast<size_t>(i)].dtype != static_cast<DType>(i)) return false;
  return true;
}
static_assert(in_order(), "a dtype's row stands at its own index");

bool is_fp8(DType d) { return d == DType::F8E4M3 || d == DType::F8E5M2; }

DType promote_integers(DType a, DType b) {
  if (a == DType::Bool) return b;
  if (b == DType::Bool) return a;
  if (a == DType::Int) return b;
  if (b == DType::Int) return a;
  // u8 fits no signed byte: PyTorch takes i16 for the two of them.
  if ((a == DType::U8 && b == DType::I8) || (a == DType::I8 && b == DType::U8)) return DType::I16;
  return std::max(a, b);  // the enumeration ascends by width
}

double wrap_integer(double value, int bits, bool is_signed) {
  if (!std::isfinite(value)) return 0;
  double modulus = std::ldexp(1.0, bits);
  double r = std::fmod(std::trunc(value), modulus);
  if (r < 0) r += modulus;
  if (is_signed && r >= modulus / 2) r -= modulus;
  return r;
}

}  // namespace

const DTypeInfo& info(DType dtype) { return kInfos[static_cast<size_t>(dtype)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kInfos)
    if (row.dtype != DType::None && row.name == name) return row.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_torch_name(std::string_view name) {
  for (const DTypeInfo& row : kInfos)
    if (!row.torch_name.empty() && row.torch_name == name) return row.dtype;
  constexpr std::pair<std::string_view, DType> kAliases[] = {{"float", DType::F32}, {"double", DType::F64},
                                                             {"half", DType::F16},  {"long", DType::I64},
                                                             {"int", DType::I32},   {"short", DType::I16}};
  for (const auto& [alias, dtype] : kAliases)
    if (alias == name) return dtype;
  return std::nullopt;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::None) return b;
  if (b == DType::None) return a;
  bool fa = is_floating(a), fb = is_floating(b);
  if (!fa && !fb) return promote_integers(a, b);
  if (fa && fb) {
    if (a == DType::Real) return b;
    if (b == DType::Real) return a;
    if (is_fp8(a) || is_fp8(b)) return DType::None;
    if (info(a).bytes == 2 && info(b).bytes == 2) return DType::F32;  // bf16 with f16
    return std::max(a, b);
  }
  DType floating = fa ? a : b;
  DType other = fa ? b : a;
  if (floating == DType::Real && other != DType::Int) return DType::F32;
  return floating;
}

DType opmath(DType d) {
  if (is_fp8(d) || d == DType::BF16 || d == DType::F16) return DType::F32;
  return d == DType::Real ? DType::F64 : d;
}

double ulp(DType d, double value) {
  const DTypeInfo& row = info(d);
  if (row.category != Category::Floating || !std::isfinite(value)) return 0;
  int exponent = value == 0 ? row.min_exponent : std::max(std::ilogb(value), row.min_exponent);
  return std::ldexp(1.0, exponent - (row.mantissa_bits - 1));
}

double round_to(DType d, double value) {
  switch (d) {
    case DType::None:
    case DType::Int:
    case DType::Real:
    case DType::F64:
      return value;
    case DType::Bool:
      return value != 0 ? 1 : 0;
    case DType::U8:
      return wrap_integer(value, 8, false);
    case DType::I8:
      return wrap_integer(value, 8, true);
    case DType::I16:
      return wrap_integer(value, 16, true);
    case DType::I32:
      return wrap_integer(value, 32, true);
    case DType::I64:
      return std::isfinite(value) ? std::trunc(value) : 0;
    case DType::F32:
      return static_cast<double>(static_cast<float>(value));
    case DType::F8E4M3:
    case DType::F8E5M2:
    case DType::BF16:
    case DType::F16:
      break;
  }
  if (value == 0 || !std::isfinite(value)) {
    if (d == DType::F8E4M3 && std::isinf(value)) return std::numeric_limits<double>::quiet_NaN();
    return value;
  }
  const DTypeInfo& row = info(d);
  double step = ulp(d, value);
  double rounded = std::nearbyint(value / step) * step;  // exact: a power of two; the default mode is to nearest even
  if (std::abs(rounded) > row.max_finite)
    return d == DType::F8E4M3 ? std::numeric_limits<double>::quiet_NaN() : std::copysign(kInfinity, value);
  return rounded;
}

DType Type::bind(std::span<const DType> bindings) const {
  DType result = floor_;
  for (size_t i = 0; i < bindings.size(); ++i)
    if (params_ & (1u << i)) result = promote(result, bindings[i]);
  return result;
}

Type promote(Type a, Type b) {
  if (!a.known()) return b;
  if (!b.known()) return a;
  Type result;
  result.params_ = a.params_ | b.params_;
  if (result.params_ == 0) {
    result.floor_ = promote(a.floor_, b.floor_);
    return result;
  }
  // A parameter is a floating type that no integer and no number widens.
  auto floor_of = [](Type t) {
    return t.floor_ != DType::None && is_floating(t.floor_) && !is_weak(t.floor_) ? t.floor_ : DType::None;
  };
  DType fa = floor_of(a), fb = floor_of(b);
  result.floor_ = promote(fa, fb);
  if (fa != DType::None && fb != DType::None && result.floor_ == DType::None) return Type();
  if (result.floor_ == DType::F64) result.params_ = 0;
  return result;
}

}  // namespace kw::ir
