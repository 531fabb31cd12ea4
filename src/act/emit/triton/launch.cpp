#include "act/emit/triton/launch.h"

namespace kw::act::triton {
namespace {

std::string at_most(const std::string& limit, const std::string& n) { return "min(" + limit + ", " + n + ")"; }
std::string at_least(const std::string& limit, const std::string& n) { return "max(" + limit + ", " + n + ")"; }

}  // namespace

// 16 elements a thread: enough of them to hide what a function such as tanh takes.
Tile element_tile(const std::string& columns) {
  Tile tile;
  tile.block = at_most("1024", "next_pow2(" + columns + ")");
  tile.rows = "1024//" + tile.block;
  tile.warps = "2";
  return tile;
}

// Few warps make short work of a reduction; a long row wants more, so that its elements fit into registers and a
// multiprocessor has room for two programs: one row comes in while another one is reduced.
Tile row_tile(const std::string& length, const std::vector<std::string>& loaded, bool keeps_sums) {
  Tile tile;
  tile.block = "next_pow2(" + length + ")";
  tile.rows = at_least("1", "1024//" + tile.block);
  const std::string few = at_most("8", at_least("4", tile.block + "//512"));
  if (!keeps_sums) {
    const std::string bytes = tile.block + (loaded.empty() ? "*2" : "*bytes(" + loaded.front() + ")");
    tile.warps = at_most("32", few + "*max(1, " + bytes + "//16384)");
    return tile;
  }
  // Elements of four bytes take twice the registers of two, which are all taken where a row is long.
  tile.warps = at_most("32", few + "*max(1, " + tile.block + "//8192)*max(1, min(" + tile.block + "//4096, bytes(" +
                                 loaded.front() + ")//2))");
  // Three stages where shared memory holds two further rows of each tensor, even in fp32.
  constexpr int kElementsOfSharedMemory = 27000;
  tile.stages = "1 + 2*min(1, " + std::to_string(kElementsOfSharedMemory / static_cast<int>(loaded.size())) + "//" +
                tile.block + ")";
  return tile;
}

Tile streamed_tile(const std::string& length) {
  Tile tile;
  tile.block = at_most("4096", "next_pow2(" + length + ")");
  tile.warps = at_least("1", at_most("8", tile.block + "//256"));
  return tile;
}

// As many as a multiprocessor holds: more would leave more slices to add up.
std::string row_workers(const std::string& points, const Tile& tile) {
  return at_least("1", at_most("multiprocessors*max(1, min(4, 8192//" + tile.block + "))",
                               "ceil_div(" + points + ", 4*(" + tile.rows + "))"));
}

std::string streamed_workers(const std::string& points) { return at_least("1", at_most("8*multiprocessors", points)); }

// What is cut into chunks reads whole lines of memory, row by row; the sum of chunks has few columns and many rows.
ColumnTile column_tile(const std::string& columns, const std::string& points, const std::string& reduced, bool split) {
  ColumnTile tile;
  tile.block = at_most(split ? "64" : "32", "next_pow2(" + columns + ")");
  tile.reduced = at_most(split ? "8" : "64", "next_pow2(max(1, " + reduced + "))");
  tile.warps = "4";
  if (split) {
    const std::string programs =
        "ceil_div(" + columns + ", " + tile.block + ")" + (points == "1" ? "" : "*(" + points + ")");
    tile.chunks = at_least("1", at_most("ceil_div(8*multiprocessors, max(1, " + programs + "))",
                                        "ceil_div(" + reduced + ", 4*" + tile.reduced + ")"));
  }
  return tile;
}

std::string whole_chunks(const std::string& count) {
  return at_least("1", at_most("1024", "ceil_div(" + count + ", 2*" + kWholeTile + ")"));
}

}  // namespace kw::act::triton
