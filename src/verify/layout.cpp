#include "verify/layout.h"

#include <algorithm>

#include "kernel/layout.h"

namespace kw::verify {

std::string_view name_of(Layout layout) {
  constexpr std::string_view kNames[] = {
      "dense", "with gaps",           "transposed",       "misaligned", "every second element", "expanded",
      "mixed", "repeated along rows", "with uneven gaps", "vast",       "channels-last"};
  return kNames[static_cast<std::size_t>(layout)];
}

namespace {

// Elements between two rows. Where rows can be read by vectors, they can be with the gap too.
std::int64_t gap_after(std::int64_t length) {
  std::int64_t vector = kVector;
  while (length % vector != 0) vector /= 2;
  return vector > 2 ? vector : 3;
}

}  // namespace

std::vector<std::int64_t> strides_in(Layout layout, std::span<const std::int64_t> shape, std::size_t position) {
  const bool mixed = layout == Layout::Mixed;
  if (mixed) layout = position % 2 == 1 ? Layout::Dense : shape.size() > 1 ? Layout::Transposed : Layout::EverySecond;
  std::vector<std::int64_t> strides = kernel::dense_strides(shape);
  const std::size_t rank = shape.size();
  if (rank == 0) return strides;
  const std::int64_t gap = gap_after(shape[rank - 1]);
  switch (layout) {
    case Layout::Dense:
    case Layout::Misaligned:
    case Layout::Mixed:
      break;
    case Layout::Gaps:
      for (std::size_t d = 0; d + 1 < rank; ++d)
        strides[d] += gap * (strides[d] / std::max<std::int64_t>(1, shape[rank - 1]));
      break;
    case Layout::Transposed: {
      if (rank < 2) break;
      std::vector<std::int64_t> swapped(shape.begin(), shape.end());
      std::swap(swapped[rank - 1], swapped[rank - 2]);
      if (mixed) swapped[rank - 1] += gap;
      strides = kernel::dense_strides(swapped);
      std::swap(strides[rank - 1], strides[rank - 2]);
      break;
    }
    case Layout::EverySecond:
      for (std::int64_t& stride : strides) stride *= 2;
      break;
    case Layout::Expanded:
      strides[0] = 0;
      break;
    case Layout::Repeated:
      strides[rank - 1] = 0;
      break;
    case Layout::Uneven: {
      std::int64_t extent = shape[rank - 1] + gap;
      for (std::size_t d = rank - 1; d-- > 0;) {
        strides[d] = extent;
        extent = extent * shape[d] + gap * static_cast<std::int64_t>(1 + rank - d);
      }
      break;
    }
    case Layout::Vast: {
      constexpr std::int64_t kPast31Bits = (std::int64_t{1} << 31) + kVector;
      if (shape[0] < 2) break;
      const std::int64_t apart = (kPast31Bits + shape[0] - 2) / (shape[0] - 1);
      strides[0] = (apart + kVector - 1) / kVector * kVector;
      break;
    }
    case Layout::ChannelsLast: {
      if (rank < 4) break;
      std::vector<std::int64_t> moved(shape.begin(), shape.end());
      std::rotate(moved.begin() + 1, moved.begin() + 2, moved.end());
      strides = kernel::dense_strides(moved);
      std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
      break;
    }
  }
  return strides;
}

}  // namespace kw::verify
