// Cuts an iteration space into tiles that stay in the cache: contiguous runs of its row-major order.
#pragma once

#include "ir/interpreter/storage.h"

namespace kw::ir::interpreter {

inline constexpr int64_t kTileElements = 1024;

// How a stream's elements lie under a tile.
enum class Access : uint8_t {
  Uniform,  // one element for the whole tile
  Dense,    // contiguous
  Strided,  // anything else
};

struct Tile {
  int64_t begin = 0;             // of its first element in the row-major order of the space
  int64_t n = 0;                 // elements
  std::vector<int64_t> sizes;    // its dimensions
  std::vector<int64_t> offsets;  // of its first element, by stream
};

class Tiling {
 public:
  // strides[stream][dimension]; neighbouring dimensions that every stream passes in one stride become one.
  Tiling(const std::vector<int64_t>& sizes, const std::vector<std::vector<int64_t>>& strides);

  Access access(size_t stream) const { return access_[stream]; }
  // The stream's strides over the dimensions of a tile.
  const std::vector<int64_t>& strides(size_t stream) const { return tile_strides_[stream]; }

  template <class F>
  void for_each(F&& body) const {
    if (empty_) return;
    Tile tile;
    tile.sizes = tile_sizes_;
    tile.offsets.resize(access_.size());
    for (Walk outer(outer_sizes_, outer_strides_); !outer.done(); outer.next())
      for (int64_t first = 0; first < cut_size_; first += chunk_) {
        tile.sizes[0] = std::min(chunk_, cut_size_ - first);
        tile.n = tile.sizes[0] * inner_;
        for (size_t s = 0; s < access_.size(); ++s) tile.offsets[s] = outer.offset(s) + first * tile_strides_[s][0];
        body(static_cast<const Tile&>(tile));
        tile.begin += tile.n;
      }
  }

 private:
  bool empty_ = false;
  int64_t cut_size_ = 1, chunk_ = 1, inner_ = 1;
  std::vector<int64_t> outer_sizes_, tile_sizes_;
  std::vector<std::vector<int64_t>> outer_strides_, tile_strides_;
  std::vector<Access> access_;
};

// Copies a strided stream's tile into contiguous memory.
void copy_tile(const double* from, const std::vector<int64_t>& strides, const std::vector<int64_t>& sizes, double* to);

}  // namespace kw::ir::interpreter
