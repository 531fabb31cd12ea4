// How the tensors of a call lie in memory: what a caller may hand to a kernel beside a plain dense tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kw::verify {

enum class Layout : std::uint8_t {
  Dense,
  Gaps,          // rows farther apart than they are long: a slice of a wider tensor
  Transposed,    // the last two dimensions swapped in memory
  Misaligned,    // dense, at an address that only its element type divides
  EverySecond,   // every dimension has twice its dense stride: the last has stride 2
  Expanded,      // the first dimension has stride 0: one slice, seen many times
  Mixed,         // every second tensor of the call is dense, those between have gaps, and are transposed if they can be
  Repeated,      // the last dimension has stride 0: one number, seen all along a row
  Uneven,        // every dimension has a gap of its own behind it: no outer stride is what sizes make of the next
  Vast,          // 31 bits do not count the elements between the first slice of the first dimension and the last
  ChannelsLast,  // dense, with dimension 1 innermost; what has less than four dimensions is dense
};
// Those in which kernels are called, everywhere; channels-last is one more order of dimensions to them, and a format to
// PyTorch; what is vast is virtual memory of the processor's.
inline constexpr Layout kLayouts[] = {Layout::Dense,      Layout::Gaps,        Layout::Transposed,
                                      Layout::Misaligned, Layout::EverySecond, Layout::Expanded,
                                      Layout::Mixed,      Layout::Repeated,    Layout::Uneven};

inline constexpr std::int64_t kVector = 16;  // elements: no vector of a kernel is longer

std::string_view name_of(Layout layout);

// In elements, for one of a call's tensors, the `position`-th. A tensor that the layout cannot change (transposed, with
// one dimension) is dense.
std::vector<std::int64_t> strides_in(Layout layout, std::span<const std::int64_t> shape, std::size_t position = 0);

}  // namespace kw::verify
