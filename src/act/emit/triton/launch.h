// What a launch begins with: sizes of tiles, warps and programs, as expressions of the call's sizes. They are formulas
// of lengths alone; no op and no shape has a number of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw::act::triton {

inline constexpr int64_t kLongestRow = 32768;  // elements of a row that one program holds
inline constexpr int64_t kMostHeld = 65536;    // bytes of a row, of two tensors at once, that stay in registers
inline constexpr int64_t kMostWide = 16384;    // elements of such a row, which are as wide there as they are computed
inline constexpr int64_t kRegisters = 65536;   // of a multiprocessor: as many fp32 values of rows and their sums
inline const std::string kElements = "1024";   // elements of a program, each by itself: 16 bytes a thread in bf16
inline const std::string kWholeTile = "2048";

struct Tile {
  std::string rows = "1", block, warps, stages = "1";
};

Tile element_tile(const std::string& columns);
// `loaded`: the tensors of which a program has rows at once, first those that differ from row to row.
Tile row_tile(const std::string& length, const std::vector<std::string>& loaded, bool keeps_sums);
Tile streamed_tile(const std::string& length);
// How many programs share the rows, where each keeps sums over its own.
std::string row_workers(const std::string& points, const Tile& tile);
std::string streamed_workers(const std::string& points);

struct ColumnTile {
  std::string block, reduced, warps, chunks;
};
ColumnTile column_tile(const std::string& columns, const std::string& points, const std::string& reduced, bool split);

std::string whole_chunks(const std::string& count);

}  // namespace kw::act::triton
