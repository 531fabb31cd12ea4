// Collapses loop axes: axes that lie next to each other, in one order, in every buffer that has them, are walked as
// one. An op on [batch, seq, cols] that reduces cols becomes one on [batch_seq, cols]; a pointwise op on dense tensors
// of one shape becomes one loop.
//
//   x[batch, seq, cols], y[batch, seq, cols], w[cols]      →      x[batch_seq, cols], y[batch_seq, cols], w[cols]
//
// The collapsed program is for tensors that are dense across the merged dimensions (Buffer::collapsed says which); the
// program it came from serves any strides. It comes after the kernels are chosen, so that both have the same kernels,
// stages and sums.
#pragma once

#include "act/loop/loop.h"

namespace kw::act {

LoopProgram collapse(const LoopProgram& program);

}  // namespace kw::act
