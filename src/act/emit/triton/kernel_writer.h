// One kernel of the loop form as a @triton.jit function. What one program works on at a time is a tile:
//
//   elements   a tile of all elements, flattened
//   row        one parallel point; the tile is its whole row where that fits, else the row goes by in tiles
//   column     a tile of the innermost axis, times a tile of the reduced ones
//   whole      everything, in chunks; a second kernel adds them up
#pragma once

#include <set>
#include <string>
#include <vector>

#include "act/emit/lines.h"
#include "act/loop/loop.h"
#include "base/result.h"
#include "kernel/manifest.h"

namespace kw::act::triton {

struct Written {
  Lines lines;  // the functions
  std::vector<kernel::Step> steps;
  std::vector<kernel::Buffer> workspace;  // beside the program's own
  std::set<std::string> functions;        // of runtime/triton/math.py
};

Result<Written> write_kernel(const LoopProgram& program, const LoopKernel& kernel);

}  // namespace kw::act::triton
