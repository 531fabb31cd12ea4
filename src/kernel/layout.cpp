#include "kernel/layout.h"

#include <algorithm>
#include <numeric>

#include "ir/layout.h"

namespace kw::kernel {
namespace {

using Numbers = std::vector<std::int64_t>;

bool has_no_elements(const Tensor& tensor) {
  return std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
}

// The order of PyTorch's channels-last, the innermost dimension first.
std::vector<std::size_t> channels_last_order(std::size_t rank) {
  std::vector<std::size_t> order = {1};
  for (std::size_t d = rank - 1; d >= 2; --d) order.push_back(d);
  order.push_back(0);
  return order;
}

// PyTorch's channels-last: dense with the channels (dimension 1) innermost.
bool is_channels_last(const Tensor& tensor) {
  const std::size_t rank = tensor.shape.size();
  if (rank != 4 && rank != 5) return false;
  std::int64_t expected = 1;
  for (const std::size_t d : channels_last_order(rank)) {
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

using ir::LayoutDim;
using ir::LayoutOperand;
using ir::LayoutPiece;

Failure no_fit(const LayoutOperand& operand) {
  return bad_input("the layout " + ir::text_of(operand) + " does not fit its tensors");
}

// What PyTorch takes for channels-last when it must choose a format, gaps and all.
bool suggests_channels_last(const Tensor& tensor) {
  const std::size_t rank = tensor.shape.size();
  if ((rank != 4 && rank != 5) || tensor.strides[1] == 0) return false;
  std::int64_t least = 0;
  for (const std::size_t d : channels_last_order(rank)) {
    if (tensor.shape[d] == 0 || tensor.strides[d] < least) return false;
    if (d == 0 && least == tensor.strides[1]) return false;  // so do tensors that are contiguous
    least = tensor.strides[d] * std::max<std::int64_t>(tensor.shape[d], 1);
  }
  return true;
}

// The stride of dimensions of the tensor that are seen as one; nothing where they cannot be.
std::optional<std::int64_t> stride_of_merged(const Tensor& tensor, const LayoutDim& dim) {
  std::optional<std::int64_t> stride;
  std::int64_t reach = 0;
  for (std::size_t i = dim.size(); i-- > 0;) {
    const auto d = static_cast<std::size_t>(dim[i].dim);
    const std::int64_t size = dim[i].part >= 0 ? 2 : tensor.shape[d];  // a part is the outermost: its size is no matter
    if (size == 1) continue;
    if (stride && tensor.strides[d] != reach) return std::nullopt;
    if (!stride) stride = tensor.strides[d];
    reach = tensor.strides[d] * size;
  }
  return stride.value_or(1);
}

// An input's strides as a tensor of this shape has them.
Result<Numbers> seen_strides(const LayoutOperand& operand, const Tensor& tensor, std::span<const std::int64_t> shape) {
  const std::vector<LayoutDim>& dims = *operand.dims;
  Numbers strides(shape.size(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].empty()) continue;
    for (const LayoutPiece& piece : dims[i])
      if (static_cast<std::size_t>(piece.dim) >= tensor.shape.size()) return no_fit(operand);
    if (dims[i].size() > 1) {
      const std::optional<std::int64_t> merged = stride_of_merged(tensor, dims[i]);
      if (!merged) return dense_strides(shape);
      strides[i] = *merged;
      continue;
    }
    const LayoutPiece& piece = dims[i][0];
    strides[i] = tensor.strides[static_cast<std::size_t>(piece.dim)];
    for (std::size_t j = 0; j < dims.size() && piece.part >= 0; ++j)
      for (const LayoutPiece& other : dims[j])
        if (j != i && other.dim == piece.dim && other.part > piece.part)
          strides[i] *= std::max<std::int64_t>(shape[j], 1);
  }
  return strides;
}

// The shape of the base of an operand that is a new tensor, as far as the result shows it.
Result<Numbers> base_shape(const LayoutOperand& operand, std::span<const std::int64_t> shape) {
  Numbers base(ir::base_rank(operand, shape.size()), 1);
  for (std::size_t i = 0; i < operand.dims->size(); ++i) {
    const LayoutDim& dim = (*operand.dims)[i];
    if (dim.empty()) continue;
    const auto d = static_cast<std::size_t>(dim[0].dim);
    if (dim.size() > 1 || dim[0].part >= 0) return no_fit(operand);
    base[d] = shape[i];
  }
  return base;
}

Result<Tensor> see(const LayoutOperand& operand, std::span<const std::int64_t> shape, const FindTensor& input);

Result<Numbers> strides_of_base(const LayoutOperand& operand, std::span<const std::int64_t> shape,
                                const FindTensor& input) {
  if (operand.base == LayoutOperand::Base::Contiguous) return dense_strides(shape);
  if (operand.base == LayoutOperand::Base::Pointwise) return strides_like(shape, operand.of, input);
  for (const LayoutOperand& one : operand.of) {
    KW_TRY(const Tensor tensor, see(one, shape, input));
    if (!suggests_channels_last(tensor)) return dense_strides(shape);
  }
  return strides_in_order(shape, channels_last_order(shape.size()));
}

// An operand as a tensor of the result's rank; of size one where the result repeats it.
Result<Tensor> see(const LayoutOperand& operand, std::span<const std::int64_t> shape, const FindTensor& input) {
  const Tensor* given = nullptr;
  if (operand.base == LayoutOperand::Base::Input) {
    given = input(operand.input);
    if (given == nullptr) return bad_input("nothing is known of '" + operand.input + "', whose strides are asked for");
    if (!operand.dims && given->shape.size() > shape.size()) return no_fit(operand);
    if (!operand.dims) return *given;
  }
  Tensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  if (!operand.dims) {
    KW_TRY(tensor.strides, strides_of_base(operand, shape, input));
    return tensor;
  }
  if (operand.dims->size() != shape.size()) return no_fit(operand);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if ((*operand.dims)[i].empty()) tensor.shape[i] = 1;
  if (given != nullptr) {
    KW_TRY(tensor.strides, seen_strides(operand, *given, tensor.shape));
    return tensor;
  }
  KW_TRY(const Numbers base, base_shape(operand, shape));
  KW_TRY(const Numbers strides, strides_of_base(operand, base, input));
  for (const LayoutDim& dim : *operand.dims)
    tensor.strides.push_back(dim.empty() ? 0 : strides[static_cast<std::size_t>(dim[0].dim)]);
  return tensor;
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
    if (all([](const Tensor& t) { return is_channels_last(t); }))
      return strides_in_order(shape, channels_last_order(shape.size()));
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

Result<Numbers> strides_like(std::span<const std::int64_t> shape, const std::vector<ir::LayoutOperand>& operands,
                             const FindTensor& input) {
  std::vector<Tensor> seen;
  for (const ir::LayoutOperand& operand : operands) {
    KW_TRY(Tensor tensor, see(operand, shape, input));
    seen.push_back(std::move(tensor));
  }
  return pointwise_strides(shape, seen);
}

}  // namespace kw::kernel
