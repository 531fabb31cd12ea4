// Reductions that take their operand tile by tile, each with the states that it keeps per output.
#pragma once

#include "ir/interpreter/meaning.h"

namespace kw::ir::interpreter {

extern const Folding kFoldSum;
extern const Folding kFoldMean;
extern const Folding kFoldProd;
extern const Folding kFoldMax;
extern const Folding kFoldMin;
extern const Folding kFoldAny;
extern const Folding kFoldAll;
extern const Folding kFoldLogSumExp;

}  // namespace kw::ir::interpreter
