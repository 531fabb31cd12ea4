#include "ir/random/recipe.h"

namespace kw::ir::random {
namespace {

constexpr Recipe function(double domain_low, double domain_high, double low, double high) {
  return {draw_function, 1, domain_low, domain_high, low, high};
}

constexpr OpTable<Recipe>::Entry kEntries[] = {
    {Op::Input, {draw_input, 1}},
    {Op::Const, {draw_const, 1}},
    {Op::SizeOf, {draw_size, 1}},
    {Op::Iota, {draw_iota, 3}},
    {Op::Random, {draw_random, 3}},

    {Op::Neg, {draw_rounding, 1}},
    {Op::Abs, {draw_rounding, 1}},
    {Op::Sign, {draw_rounding, 1}},
    {Op::Floor, {draw_rounding, 1}},
    {Op::Ceil, {draw_rounding, 1}},
    {Op::Round, {draw_rounding, 1}},
    {Op::Trunc, {draw_rounding, 1}},
    {Op::Sqrt, function(0.125, 64, 0.25, 8)},
    {Op::Rsqrt, function(0.125, 64, 0.125, 3)},
    {Op::Exp, function(-4, 3, 0, 21)},
    {Op::Exp2, function(-4, 4, 0, 16)},
    {Op::Expm1, function(-4, 3, -1, 20)},
    {Op::Log, function(0.25, 64, -1.5, 4.5)},
    {Op::Log2, function(0.25, 64, -2, 6)},
    {Op::Log1p, function(-0.5, 64, -1, 4.5)},
    {Op::Sin, function(-8, 8, -1, 1)},
    {Op::Cos, function(-8, 8, -1, 1)},
    {Op::Tan, function(-1, 1, -1.75, 1.75)},
    {Op::Asin, function(-0.75, 0.75, -1, 1)},
    {Op::Acos, function(-0.75, 0.75, 0.5, 2.5)},
    {Op::Atan, function(-64, 64, -1.75, 1.75)},
    {Op::Sinh, function(-3, 3, -11, 11)},
    {Op::Cosh, function(-3, 3, 1, 11)},
    {Op::Tanh, function(-64, 64, -1, 1)},
    {Op::Asinh, function(-64, 64, -5, 5)},
    {Op::Acosh, function(1.25, 64, 0.5, 5)},
    {Op::Atanh, function(-0.75, 0.75, -1, 1)},
    {Op::Erf, function(-64, 64, -1, 1)},
    {Op::Erfc, function(-3, 3, 0, 2)},
    {Op::Erfinv, function(-0.75, 0.75, -1, 1)},
    {Op::Sigmoid, function(-64, 64, 0, 1)},
    {Op::Not, {draw_not, 1}},
    {Op::StopGradient, {draw_rounding, 1}},
    {Op::Cast, {draw_cast, 1}},

    {Op::Add, {draw_arithmetic, 1}},
    {Op::Sub, {draw_arithmetic, 1}},
    {Op::Mul, {draw_arithmetic, 1}},
    {Op::Div, {draw_division, 1}},
    {Op::FloorDiv, {draw_division, 1}},
    {Op::Mod, {draw_division, 1}},
    {Op::Pow, {draw_pow, 1}},
    {Op::Atan2, {draw_atan2, 1}},
    {Op::Max, {draw_arithmetic, 1}},
    {Op::Min, {draw_arithmetic, 1}},
    {Op::Lt, {draw_comparison, 1}},
    {Op::Le, {draw_comparison, 1}},
    {Op::Eq, {draw_comparison, 1}},
    {Op::Ne, {draw_comparison, 1}},
    {Op::And, {draw_logic, 1}},
    {Op::Or, {draw_logic, 1}},
    {Op::Xor, {draw_logic, 1}},
    {Op::Shl, {draw_shift, 1}},
    {Op::Shr, {draw_shift, 1}},
    {Op::Select, {draw_select, 1}},

    {Op::Sum, {draw_reduction, 2}},
    {Op::Mean, {draw_reduction, 2}},
    {Op::Prod, {draw_reduction, 2}},
    {Op::ReduceMax, {draw_reduction, 2}},
    {Op::ReduceMin, {draw_reduction, 2}},
    {Op::Any, {draw_logic_reduction, 2}},
    {Op::All, {draw_logic_reduction, 2}},
    {Op::LogSumExp, {draw_reduction, 2}},
    {Op::ArgMax, {draw_arg_reduction, 2}},
    {Op::ArgMin, {draw_arg_reduction, 2}},
    {Op::Reduce, {draw_combine, 2}},

    {Op::CumSum, {draw_cumulative, 3}},
    {Op::CumProd, {draw_cumulative, 3}},
    {Op::CumMax, {draw_cumulative, 3}},
    {Op::CumMin, {draw_cumulative, 3}},
    {Op::CumLogSumExp, {draw_cumulative, 3}},
    {Op::Scan, {draw_combine, 3}},

    {Op::Gather, {draw_gather, 3}},
    {Op::ScatterAdd, {draw_scatter, 3}},
    {Op::ScatterSet, {draw_scatter, 3}},
    {Op::SegmentIndex, {draw_segment, 3}},
    {Op::SegmentSum, {draw_segment, 3}},
    {Op::SegmentMax, {draw_segment, 3}},
    {Op::SegmentMin, {draw_segment, 3}},

    {Op::Broadcast, {draw_broadcast, 1}},
    {Op::Rename, {draw_rename, 1}},
    {Op::Slice, {draw_slice, 1}},
    {Op::Pad, {draw_pad, 3}},
    {Op::Concat, {draw_concat, 3}},
    {Op::Split, {draw_split, 1}},
    {Op::Merge, {draw_merge, 1}},
    {Op::Window, {draw_window, 3}},
    {Op::Fold, {draw_fold, 3}},

    {Op::Sort, {draw_sort, 3}},
    {Op::ArgSort, {draw_sort, 3}},
    {Op::TopK, {draw_top_k, 3}},
    {Op::ArgTopK, {draw_top_k, 3}},

    {Op::Contract, {draw_contract, 3}},
};
constexpr OpTable<Recipe> kRecipes{kEntries};

}  // namespace

const Recipe& recipe(Op op) { return kRecipes[op]; }

}  // namespace kw::ir::random
