// Element types. A `DType` is concrete (bf16, i64). A `Type` is what a node carries: the join, in PyTorch's promotion
// order, of some of the graph's type parameters and a concrete floor, so that one graph serves every dtype that its
// inputs may have:
//
//   T            the type of the inputs declared T
//   T|W          what PyTorch promotes T and W to
//   T|f32        the type in which PyTorch computes inside an op on T (f32 for bf16, f16 and f32; f64 for f64)
//
// Type parameters range over the floating types only. The weak types Int and Real are Python's numbers: they have no
// width of their own and never widen a tensor of their category.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kw::ir {

enum class DType : uint8_t { None, Bool, Int, U8, I8, I16, I32, I64, Real, F8E4M3, F8E5M2, BF16, F16, F32, F64 };
inline constexpr int kDTypeCount = 15;

enum class Category : uint8_t { None, Bool, Integer, Floating };

struct DTypeInfo {
  DType dtype;
  std::string_view name;        // in the text form: "bf16"
  std::string_view torch_name;  // "bfloat16"; empty for weak types
  Category category;
  int bytes;          // 0 for weak types and None
  int mantissa_bits;  // stored and implicit; 0 for integers
  int min_exponent;   // of the smallest normal number
  double max_finite;  // largest finite value (floating) or largest integer as a double
  bool weak;
};

const DTypeInfo& info(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);        // "bf16"
std::optional<DType> dtype_from_torch_name(std::string_view name);  // "bfloat16", "float", "half", "long", …

inline bool is_floating(DType d) { return info(d).category == Category::Floating; }
inline bool is_integer(DType d) { return info(d).category == Category::Integer; }
inline bool is_weak(DType d) { return info(d).weak; }

// PyTorch's promotion of two dimensioned operands (or a dimensioned one and a Python number). Real with an integer
// gives f32, PyTorch's default type. The two fp8 types promote with nothing but themselves and numbers: None is
// returned.
DType promote(DType a, DType b);

// The type PyTorch computes in for results of this type: f32 for bf16, f16 and fp8, otherwise the type itself (Real:
// f64).
DType opmath(DType d);

// Rounds to nearest, ties to even, as a cast from f64 does; saturates nothing (overflow is infinite; fp8 e4m3 has NaN).
// Integers truncate towards zero and wrap; Bool is x != 0; weak types are the identity.
double round_to(DType d, double value);
// Distance from |value| to the next larger number of the type: the unit in the last place. 0 for non-floating types.
double ulp(DType d, double value);

class Type {
 public:
  constexpr Type() = default;
  constexpr Type(DType floor) : floor_(floor) {}  // NOLINT: a concrete type is a type
  static Type parameter(int index) {
    Type t;
    t.params_ = static_cast<uint16_t>(1u << index);
    return t;
  }
  uint16_t params() const { return params_; }
  DType floor() const { return floor_; }
  bool concrete() const { return params_ == 0; }
  bool floating() const { return params_ != 0 || is_floating(floor_); }
  bool integer() const { return params_ == 0 && is_integer(floor_); }
  bool boolean() const { return params_ == 0 && floor_ == DType::Bool; }
  bool weak() const { return params_ == 0 && is_weak(floor_); }
  bool known() const { return params_ != 0 || floor_ != DType::None; }
  // The concrete type once each parameter is bound to the dtype at its index.
  DType bind(std::span<const DType> bindings) const;
  friend bool operator==(const Type&, const Type&) = default;

 private:
  friend Type promote(Type, Type);
  uint16_t params_ = 0;        // bit i: type parameter i takes part in the join
  DType floor_ = DType::None;  // None: nothing but parameters
};

Type promote(Type a, Type b);  // unknown (known() == false) if the two do not promote
inline Type opmath(Type t) { return t.concrete() ? Type(opmath(t.floor())) : promote(t, Type(DType::F32)); }

}  // namespace kw::ir
