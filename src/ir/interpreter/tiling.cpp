#include "ir/interpreter/tiling.h"

#include <algorithm>

namespace kw::ir::interpreter {

Tiling::Tiling(const std::vector<int64_t>& sizes, const std::vector<std::vector<int64_t>>& strides) {
  const size_t streams = strides.size();
  std::vector<int64_t> merged_sizes;
  std::vector<std::vector<int64_t>> merged(streams);
  for (size_t d = 0; d < sizes.size(); ++d) {
    empty_ |= sizes[d] == 0;
    if (sizes[d] == 1) continue;
    bool merges = !merged_sizes.empty();
    for (size_t s = 0; s < streams && merges; ++s) merges = merged[s].back() == strides[s][d] * sizes[d];
    if (merges) {
      merged_sizes.back() *= sizes[d];
      for (size_t s = 0; s < streams; ++s) merged[s].back() = strides[s][d];
    } else {
      merged_sizes.push_back(sizes[d]);
      for (size_t s = 0; s < streams; ++s) merged[s].push_back(strides[s][d]);
    }
  }
  if (merged_sizes.empty()) {
    merged_sizes.push_back(1);
    for (auto& stream : merged) stream.push_back(0);
  }
  size_t cut = merged_sizes.size() - 1;
  while (cut > 0 && inner_ * merged_sizes[cut] * 2 <= kTileElements) inner_ *= merged_sizes[cut--];
  cut_size_ = merged_sizes[cut];
  chunk_ = std::min(cut_size_, kTileElements / std::max<int64_t>(inner_, 1));  // 0: an empty space has no tiles
  const auto at = static_cast<std::ptrdiff_t>(cut);
  outer_sizes_.assign(merged_sizes.begin(), merged_sizes.begin() + at);
  tile_sizes_.assign(merged_sizes.begin() + at, merged_sizes.end());
  for (size_t s = 0; s < streams; ++s) {
    outer_strides_.emplace_back(merged[s].begin(), merged[s].begin() + at);
    tile_strides_.emplace_back(merged[s].begin() + at, merged[s].end());
    const std::vector<int64_t>& inner = tile_strides_.back();
    bool uniform = true, dense = inner.back() == 1;
    for (size_t d = 0; d < inner.size(); ++d) {
      uniform &= inner[d] == 0;
      if (d + 1 < inner.size()) dense &= inner[d] == inner[d + 1] * tile_sizes_[d + 1];
    }
    access_.push_back(uniform ? Access::Uniform : dense ? Access::Dense : Access::Strided);
  }
}

namespace {

double* copy_dimension(const double* from, const std::vector<int64_t>& strides, const std::vector<int64_t>& sizes,
                       size_t d, double* to) {
  const int64_t n = sizes[d], step = strides[d];
  if (d + 1 < sizes.size()) {
    for (int64_t i = 0; i < n; ++i) to = copy_dimension(from + i * step, strides, sizes, d + 1, to);
    return to;
  }
  if (step == 1)
    std::copy_n(from, n, to);
  else if (step == 0)
    std::fill_n(to, n, *from);
  else
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  return to + n;
}

}  // namespace

void copy_tile(const double* from, const std::vector<int64_t>& strides, const std::vector<int64_t>& sizes, double* to) {
  copy_dimension(from, strides, sizes, 0, to);
}

}  // namespace kw::ir::interpreter
