// What a launch begins with: sizes of tiles, warps and programs, as expressions of the call's sizes. They are formulas
// of lengths alone; no op and no shape has a number of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw::act::triton {

inline constexpr int64_t kLongestRow = 32768;  // elements of a row that one program holds
inline const std::string kElements = "1024";   // elements of a program, each by itself: 16 bytes a thread in bf16
inline const std::string kWholeTile = "2048";

struct Tile {
  std::string rows = "1", block, warps, stages = "1";
  std::string twice = "0";  // whether rows are read a second time after their reduction
};

Tile element_tile(const std::string& columns);
Tile row_tile(const std::string& length);
// Of programs that hold rows of several tensors, and of ones that keep sums too; `loaded`: those tensors.
Tile shared_row_tile(const std::string& length, const std::vector<std::string>& loaded);
Tile summed_row_tile(const std::string& length, const std::vector<std::string>& loaded);
Tile streamed_tile(const std::string& length);
// How many programs share the rows, where each keeps sums over its own.
std::string row_workers(const std::string& points, const Tile& tile);
std::string shared_row_workers(const std::string& points, const Tile& tile);  // where none does
std::string streamed_workers(const std::string& points);

struct ColumnTile {
  std::string block, reduced, warps, chunks;
};
ColumnTile column_tile(const std::string& columns, const std::string& points, const std::string& reduced, bool split);

std::string whole_chunks(const std::string& count);

}  // namespace kw::act::triton
