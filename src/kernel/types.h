// Type expressions of a manifest: joins of type parameters and dtypes by PyTorch's promotion, so that one contract
// serves every type that its kernels are compiled for. "T" with T = bf16 is bf16; "T|f32" is f32, and f64 for T = f64.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/type.h"

namespace kw::kernel {

using ir::DType;

using TypeBinding = std::map<std::string, DType>;  // type parameter → the dtype that it is in this compilation

// "T = bf16, W = f32": for messages and names.
std::string text(const TypeBinding& binding);

// An element type that a buffer can have: not a weak one, and of some bytes.
bool is_element(DType dtype);

// The parts of a type expression; an empty part is an error.
Result<std::vector<std::string>> type_parts(std::string_view type);

Result<DType> dtype_of(std::string_view type, const TypeBinding& binding);

}  // namespace kw::kernel
