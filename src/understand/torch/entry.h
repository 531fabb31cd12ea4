// The table of operations: a name, the spaces that it lives in, its signature and the function that reads it. Adding an
// operation is one row in its family's file, plus one function.
#pragma once

#include <span>
#include <string_view>

#include "understand/torch/call.h"

namespace kw::understand {

// Where a name lives. A row may live in several: torch.exp, Tensor.exp and aten.exp are one operation.
enum Space : unsigned {
  kTorch = 1,       // torch.
  kFunctional = 2,  // torch.nn.functional.
  kMethod = 4,      // Tensor.
  kAten = 8,        // aten.NAME.OVERLOAD: a row NAME.OVERLOAD is preferred to a row NAME
  kOperator = 16,   // operator.
  kMath = 32,       // math.
  kSpecial = 64,    // torch.special.
  kLinalg = 128,    // torch.linalg.
  kProperty = 256,  // Tensor. as an attribute that is not called: x.shape, x.T
  kTensor = kTorch | kMethod | kAten,
};

struct Entry {
  std::string_view name;
  unsigned spaces;
  std::string_view signature;
  Result<Value> (*read)(Call& call);
};

// One per family.
std::span<const Entry> pointwise_entries();
std::span<const Entry> comparison_entries();
std::span<const Entry> cast_entries();
std::span<const Entry> activation_entries();
std::span<const Entry> reduction_entries();
std::span<const Entry> softmax_entries();
std::span<const Entry> shape_entries();
std::span<const Entry> reshape_entries();
std::span<const Entry> slice_entries();
std::span<const Entry> operator_entries();
std::span<const Entry> subscript_entries();
std::span<const Entry> indexing_entries();
std::span<const Entry> order_entries();
std::span<const Entry> linear_entries();
std::span<const Entry> convolution_entries();
std::span<const Entry> pooling_entries();
std::span<const Entry> norm_entries();
std::span<const Entry> loss_entries();
std::span<const Entry> class_loss_entries();
std::span<const Entry> creation_entries();
std::span<const Entry> random_entries();
std::span<const Entry> attention_entries();
std::span<const Entry> resize_entries();
std::span<const Entry> aten_entries();

}  // namespace kw::understand
