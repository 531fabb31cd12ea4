// How each primitive is drawn: one row per op. A recipe picks operands that the op takes, guards them and makes the
// node, or says that nothing fits now.
#pragma once

#include "ir/op.h"
#include "ir/random/draft.h"

namespace kw::ir::random {

using Draw = std::optional<Drawn> (*)(Draft&, Op);

struct Recipe {
  Draw draw = nullptr;
  int tier = 3;
  // Functions of one real number: where they are asked and what they answer there. Ends of few bits survive rounding.
  double domain_low = 0, domain_high = 0, low = 0, high = 0;
};

const Recipe& recipe(Op op);

#define KW_DRAW(name) std::optional<Drawn> name(Draft& draft, Op op)
// pointwise.cpp
KW_DRAW(draw_function);
KW_DRAW(draw_rounding);  // Neg, Abs, Sign, Floor, Ceil, Round, Trunc, StopGradient
KW_DRAW(draw_not);
KW_DRAW(draw_cast);
KW_DRAW(draw_arithmetic);  // Add, Sub, Mul, Max, Min
KW_DRAW(draw_division);    // Div, FloorDiv, Mod
KW_DRAW(draw_pow);
KW_DRAW(draw_atan2);
KW_DRAW(draw_comparison);
KW_DRAW(draw_logic);
KW_DRAW(draw_shift);
KW_DRAW(draw_select);
// leaf.cpp
KW_DRAW(draw_input);
KW_DRAW(draw_const);
KW_DRAW(draw_size);
KW_DRAW(draw_iota);
KW_DRAW(draw_random);
// reduction.cpp
KW_DRAW(draw_reduction);
KW_DRAW(draw_arg_reduction);
KW_DRAW(draw_logic_reduction);
KW_DRAW(draw_combine);
KW_DRAW(draw_cumulative);
KW_DRAW(draw_contract);
// indexed.cpp
KW_DRAW(draw_gather);
KW_DRAW(draw_scatter);
KW_DRAW(draw_segment);
KW_DRAW(draw_sort);
KW_DRAW(draw_top_k);
// view.cpp
KW_DRAW(draw_broadcast);
KW_DRAW(draw_rename);
KW_DRAW(draw_slice);
KW_DRAW(draw_pad);
KW_DRAW(draw_concat);
KW_DRAW(draw_split);
KW_DRAW(draw_merge);
KW_DRAW(draw_window);
KW_DRAW(draw_fold);
#undef KW_DRAW

}  // namespace kw::ir::random
