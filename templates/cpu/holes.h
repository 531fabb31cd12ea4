// What a compiler reads in the place of a skeleton's holes, so that every skeleton is legal C++ as it stands.
#pragma once

#include "../../runtime/cpu/tensor.h"

#define KW_NAME(hole) hole
#define KW_EXPRESSION(hole) kw_holes::hole
#define KW_LIST(hole) int hole
#define KW_CLAUSES(hole)
#define KW_STATEMENTS(hole)
#define KW_LOOPS(hole) for (int64_t hole = 0; hole < 1; ++hole)

namespace kw_holes {
inline int64_t elements = 1, size = 1, points = 1, first = 0, last = 1;
}

constexpr int64_t kTile = 1, kChain = 1, kChunks = 1, kParallelElements = 1;
constexpr bool kByLanes = false;
inline int64_t workers = 1, tiles = 1, blocks = 1, tile = 0, end = 1;
