#include "kernel/layout.h"

#include <algorithm>
#include <numeric>

namespace kw::kernel {
namespace {

using Numbers = std::vector<std::int64_t>;

bool has_no_elements(const Tensor& tensor) {
  return std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
}

// PyTorch's channels-last: dense with the channels (dimension 1) innermost.
bool is_channels_last(const Tensor& tensor) {
  const std::size_t rank = tensor.shape.size();
  if (rank != 4 && rank != 5) return false;
  std::int64_t expected = 1;
  std::vector<std::size_t> order = {1};
  for (std::size_t d = rank - 1; d >= 2; --d) order.push_back(d);
  order.push_back(0);
  for (const std::size_t d : order) {
    if (tensor.shape[d] == 1) continue;
    if (tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

// Strides that are dense when dimension order[0] is innermost.
Numbers strides_in_order(std::span<const std::int64_t> shape, std::span<const std::size_t> order) {
  Numbers strides(shape.size());
  std::int64_t next = 1;
  for (const std::size_t d : order) {
    strides[d] = next;
    next *= std::max<std::int64_t>(shape[d], 1);
  }
  return strides;
}

// The operand's strides seen through the result's shape: 0 along what is broadcast.
Numbers broadcast_strides(std::span<const std::int64_t> shape, const Tensor& operand) {
  Numbers strides(shape.size(), 0);
  const std::size_t offset = shape.size() - operand.shape.size();
  for (std::size_t d = 0; d < operand.shape.size(); ++d)
    strides[offset + d] = operand.shape[d] == 1 && shape[offset + d] != 1 ? 0 : operand.strides[d];
  return strides;
}

// 1: dimension a belongs outside of b; -1: inside; 0: the operands do not say.
int belongs_outside(std::size_t a, std::size_t b, std::span<const std::int64_t> shape,
                    std::span<const Numbers> operands) {
  for (const Numbers& strides : operands) {
    if (strides[a] == 0 || strides[b] == 0) continue;
    if (strides[a] < strides[b]) return -1;
    if (strides[a] > strides[b] || shape[a] > shape[b]) return 1;
  }
  return 0;
}

}  // namespace

std::optional<std::int64_t> numel(std::span<const std::int64_t> shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  return count;
}

Numbers dense_strides(std::span<const std::int64_t> shape) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return strides_in_order(shape, order);
}

bool is_dense(const Tensor& tensor) {
  if (has_no_elements(tensor)) return true;
  std::int64_t expected = 1;
  for (std::size_t d = tensor.shape.size(); d-- > 0;) {
    if (tensor.shape[d] == 1) continue;
    if (tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

bool is_packed(const Tensor& tensor) {
  if (has_no_elements(tensor)) return true;
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d)
    if (tensor.shape[d] != 1) order.push_back(d);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return tensor.strides[a] < tensor.strides[b]; });
  std::int64_t expected = 1;
  for (const std::size_t d : order) {
    if (tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

bool is_aligned(const Tensor& tensor, std::int64_t bytes) {
  if (has_no_elements(tensor)) return true;
  if (tensor.address % static_cast<std::uint64_t>(bytes) != 0) return false;
  const std::int64_t element = ir::info(tensor.dtype).bytes;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d)
    if (tensor.shape[d] != 1 && tensor.strides[d] != 1 && (tensor.strides[d] * element) % bytes != 0) return false;
  return true;
}

bool same_strides(const Tensor& a, const Tensor& b) {
  if (a.shape != b.shape) return false;
  if (has_no_elements(a)) return true;
  for (std::size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] != 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

std::optional<std::int64_t> storage_elements(const Tensor& tensor) {
  if (has_no_elements(tensor)) return 0;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(tensor.shape[d] - 1, tensor.strides[d], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return std::nullopt;
  }
  if (__builtin_add_overflow(last, std::int64_t{1}, &last)) return std::nullopt;
  return last;
}

Numbers pointwise_strides(std::span<const std::int64_t> shape, std::span<const Tensor> operands) {
  const auto all = [&](const auto& property) { return std::all_of(operands.begin(), operands.end(), property); };
  if (all([&](const Tensor& t) { return std::equal(t.shape.begin(), t.shape.end(), shape.begin(), shape.end()); })) {
    if (operands.empty() || all([](const Tensor& t) { return is_dense(t); })) return dense_strides(shape);
    if (all([](const Tensor& t) { return is_channels_last(t); })) {
      std::vector<std::size_t> order = {1};
      for (std::size_t d = shape.size() - 1; d >= 2; --d) order.push_back(d);
      order.push_back(0);
      return strides_in_order(shape, order);
    }
    if (all([&](const Tensor& t) { return is_packed(t) && t.strides == operands[0].strides; }))
      return operands[0].strides;
  }
  std::vector<Numbers> strides;
  for (const Tensor& operand : operands) strides.push_back(broadcast_strides(shape, operand));
  // An insertion sort that leaves alone what the operands do not order, from the dense order on.
  std::vector<std::size_t> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t moving = i;
    for (std::size_t other = i; other-- > 0;) {
      const int outside = belongs_outside(order[other], order[moving], shape, strides);
      if (outside < 0) break;
      if (outside == 0) continue;
      std::swap(order[other], order[moving]);
      moving = other;
    }
  }
  return strides_in_order(shape, order);
}

}  // namespace kw::kernel
