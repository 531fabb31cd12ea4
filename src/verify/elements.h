// Elements of tensors in memory, as numbers: what the engine writes into a call's inputs and reads from its outputs. It
// shares no code with the headers that kernels include, so that a wrong conversion there is seen here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/expression.h"

namespace kw::verify {

double read_element(const std::byte* at, ir::DType dtype);
void write_element(std::byte* at, ir::DType dtype, double value);  // rounded to nearest even

// Every element's offset from the first, in elements, in row-major order of its index.
std::vector<std::int64_t> offsets(const kernel::Tensor& tensor);

// `bytes` is the memory from the first element to the last, as Arena::bytes gives it.
std::vector<double> read_tensor(std::span<const std::byte> bytes, const kernel::Tensor& tensor);
void write_tensor(std::span<std::byte> bytes, const kernel::Tensor& tensor, std::span<const double> values);

}  // namespace kw::verify
