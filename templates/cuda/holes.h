// What a compiler reads in the place of a skeleton's holes, so that every skeleton is legal CUDA as it stands.
#pragma once

#include "../../runtime/cuda/row.h"
#include "../../runtime/cuda/tensor.h"

#define KW_NAME(hole) hole
#define KW_EXPRESSION(hole) kw_holes::hole
#define KW_LIST(hole) int hole
#define KW_CLAUSES(hole)
#define KW_STATEMENTS(hole)
#define KW_LOOPS(hole) for (int hole = 0; hole < 1; ++hole)

namespace kw_holes {
constexpr int elements = 1, points = 1, length = 1, first = 0, end = 1, step = 1, workers = 1, parts = 1, lane = 0,
              next = 1, anew = 0;
}

constexpr int lanes_of_row = 32, cached = 0;
