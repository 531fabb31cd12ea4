// The loop axes of a pass, and where each axis of its graph lies in terms of them.
#pragma once

#include "act/loop/loop.h"

namespace kw::act {

struct AxisPositions {
  std::vector<LoopAxis> axes;
  std::vector<Index> position;  // by graph axis
};

// An axis that a view splits or that a view merged is walked as its two parts, so that a group is a range of loop axes:
// c is g*(c/g) + k; unless some value has both the axis and a part of it. The order is that of the tensors of highest
// rank: their last axis is the last loop axis. An axis of size one is no loop: its position is 0.
AxisPositions choose_axes(const ir::Graph& pass);

}  // namespace kw::act
