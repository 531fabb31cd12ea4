// Where the elements of a tensor lie: what the conditions of a manifest ask of strides, and the strides that PyTorch
// gives to a new tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/layout.h"
#include "kernel/expression.h"

namespace kw::kernel {

std::optional<std::int64_t> numel(std::span<const std::int64_t> shape);  // nothing where 64 bits do not hold it
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape);

// A dimension of size one has no say in any of these, and nor has anything in a tensor without elements.
bool is_dense(const Tensor& tensor);
bool is_packed(const Tensor& tensor);
bool is_aligned(const Tensor& tensor, std::int64_t bytes);
bool same_strides(const Tensor& a, const Tensor& b);  // of equal shape, and at equal strides

// The elements that lie between the lowest and the highest address, both included: what a buffer must hold. 0 without
// elements. Strides are not negative (PyTorch has no others).
std::optional<std::int64_t> storage_elements(const Tensor& tensor);

// The strides that PyTorch gives to the result of a pointwise op on these operands (in the op's order): the memory
// format of operands that agree, otherwise dense in the order of dimensions that the operands' strides suggest.
// Operands are broadcast to `shape`.
std::vector<std::int64_t> pointwise_strides(std::span<const std::int64_t> shape, std::span<const Tensor> operands);

// The same for operands that are expressions of the inputs (ir/layout.h). `input` gives an input, or nothing.
using FindTensor = std::function<const Tensor*(const std::string& input)>;
Result<std::vector<std::int64_t>> strides_like(std::span<const std::int64_t> shape,
                                               const std::vector<ir::LayoutOperand>& operands, const FindTensor& input);

}  // namespace kw::kernel
