#include "understand/reference/spelling.h"

namespace kw::understand::reference {
namespace {

using ir::Op;
using B = Binding;

// "torch.exp({0})"; on numbers "math.exp({0})" where math has it.
constexpr Spelling call(std::string_view name, std::string_view tensor, std::string_view number = {},
                        Binding number_binding = B::Postfix) {
  return {spell_pointwise, name, tensor, B::Postfix, number, number_binding};
}
// Operators are the same on tensors and on numbers.
constexpr Spelling infix(std::string_view name, std::string_view text, Binding binding) {
  return {spell_pointwise, name, text, binding, text, binding};
}
constexpr Spelling infix_by(Spell spell, std::string_view name, std::string_view text, Binding binding) {
  return {spell, name, text, binding, text, binding};
}
constexpr Spelling structured(Spell spell, std::string_view name) { return {spell, name}; }
constexpr Spelling widened(Spelling row) {
  row.widen = true;
  return row;
}

constexpr ir::OpTable<Spelling>::Entry kEntries[] = {
    {Op::Input, structured(spell_input, "input")},
    {Op::Const, structured(spell_const, "number")},
    {Op::SizeOf, structured(spell_size, "size")},
    {Op::Iota, structured(spell_iota, "index")},
    {Op::Random, structured(spell_random, "noise")},

    {Op::Neg, infix("negative", "-{0}", B::Unary)},
    {Op::Abs, call("magnitude", "torch.abs({0})", "abs({0})")},
    {Op::Sign, call("sign", "torch.sign({0})")},
    {Op::Floor, call("floor", "torch.floor({0})")},
    {Op::Ceil, call("ceil", "torch.ceil({0})")},
    {Op::Round, call("rounded", "torch.round({0})")},
    {Op::Trunc, call("truncated", "torch.trunc({0})")},
    {Op::Sqrt, call("root", "torch.sqrt({0})", "math.sqrt({0})")},
    {Op::Rsqrt, widened(call("rsqrt", "torch.rsqrt({0})", "1 / math.sqrt({0})", B::Product))},
    {Op::Exp, call("exp", "torch.exp({0})", "math.exp({0})")},
    {Op::Exp2, call("exp2", "torch.exp2({0})", "math.exp2({0})")},
    {Op::Expm1, call("expm1", "torch.expm1({0})", "math.expm1({0})")},
    {Op::Log, call("log", "torch.log({0})", "math.log({0})")},
    {Op::Log2, call("log2", "torch.log2({0})", "math.log2({0})")},
    {Op::Log1p, call("log1p", "torch.log1p({0})", "math.log1p({0})")},
    {Op::Sin, call("sin", "torch.sin({0})", "math.sin({0})")},
    {Op::Cos, call("cos", "torch.cos({0})", "math.cos({0})")},
    {Op::Tan, call("tan", "torch.tan({0})", "math.tan({0})")},
    {Op::Asin, call("asin", "torch.asin({0})", "math.asin({0})")},
    {Op::Acos, call("acos", "torch.acos({0})", "math.acos({0})")},
    {Op::Atan, call("atan", "torch.atan({0})", "math.atan({0})")},
    {Op::Sinh, call("sinh", "torch.sinh({0})", "math.sinh({0})")},
    {Op::Cosh, call("cosh", "torch.cosh({0})", "math.cosh({0})")},
    {Op::Tanh, call("tanh", "torch.tanh({0})", "math.tanh({0})")},
    {Op::Asinh, call("asinh", "torch.asinh({0})", "math.asinh({0})")},
    {Op::Acosh, call("acosh", "torch.acosh({0})", "math.acosh({0})")},
    {Op::Atanh, call("atanh", "torch.atanh({0})", "math.atanh({0})")},
    {Op::Erf, call("erf", "torch.erf({0})", "math.erf({0})")},
    {Op::Erfc, call("erfc", "torch.erfc({0})", "math.erfc({0})")},
    {Op::Erfinv, call("erfinv", "torch.erfinv({0})")},
    {Op::Sigmoid, call("gate", "torch.sigmoid({0})")},
    {Op::Not, structured(spell_not, "negation")},
    {Op::StopGradient, call("constant", "{0}.detach()", "{0}")},
    {Op::Cast, structured(spell_cast, "converted")},

    {Op::Add, infix("total", "{0} + {1}", B::Sum)},
    {Op::Sub, infix("difference", "{0} - {1}", B::Sum)},
    {Op::Mul, infix("product", "{0} * {1}", B::Product)},
    {Op::Div, infix("quotient", "{0} / {1}", B::Product)},
    {Op::FloorDiv, infix_by(spell_floor_div, "quotient", "{0} // {1}", B::Product)},
    {Op::Mod, infix("remainder", "{0} % {1}", B::Product)},
    {Op::Pow, infix("power", "{0} ** {1}", B::Power)},
    {Op::Atan2, call("angle", "torch.atan2({0}, {1})", "math.atan2({0}, {1})")},
    {Op::Max, structured(spell_extremum, "larger")},
    {Op::Min, structured(spell_extremum, "smaller")},
    {Op::Lt, infix("is_less", "{0} < {1}", B::Compare)},
    {Op::Le, infix("is_at_most", "{0} <= {1}", B::Compare)},
    {Op::Eq, infix("is_equal", "{0} == {1}", B::Compare)},
    {Op::Ne, infix("differs", "{0} != {1}", B::Compare)},
    {Op::And, infix("both", "{0} & {1}", B::BitAnd)},
    {Op::Or, infix("either", "{0} | {1}", B::BitOr)},
    {Op::Xor, infix("one_of", "{0} ^ {1}", B::BitXor)},
    {Op::Shl, infix("shifted", "{0} << {1}", B::Shift)},
    {Op::Shr, infix("shifted", "{0} >> {1}", B::Shift)},
    {Op::Select, structured(spell_select, "chosen")},

    {Op::Sum, structured(spell_reduction, "total")},
    {Op::Mean, structured(spell_reduction, "mean")},
    {Op::Prod, widened(structured(spell_prod, "product"))},
    {Op::ReduceMax, structured(spell_reduction, "largest")},
    {Op::ReduceMin, structured(spell_reduction, "smallest")},
    {Op::Any, structured(spell_any, "any_of")},
    {Op::All, structured(spell_any, "all_of")},
    {Op::LogSumExp, widened(structured(spell_reduction, "lse"))},
    {Op::ArgMax, structured(spell_arg_extremum, "index_of_largest")},
    {Op::ArgMin, structured(spell_arg_extremum, "index_of_smallest")},
    {Op::Reduce, structured(spell_combine, "reduced")},

    {Op::CumSum, structured(spell_cumulative, "running_total")},
    {Op::CumProd, structured(spell_cumulative, "running_product")},
    {Op::CumMax, structured(spell_cumulative, "running_max")},
    {Op::CumMin, structured(spell_cumulative, "running_min")},
    {Op::CumLogSumExp, structured(spell_cumulative, "running_lse")},
    {Op::Scan, structured(spell_combine, "scanned")},

    {Op::Gather, structured(spell_gather, "gathered")},
    {Op::ScatterAdd, widened(structured(spell_scatter, "scattered"))},
    {Op::ScatterSet, structured(spell_scatter, "scattered")},
    {Op::SegmentIndex, structured(spell_segment_index, "segment")},
    {Op::SegmentSum, widened(structured(spell_segment, "segment_total"))},
    {Op::SegmentMax, structured(spell_segment, "segment_max")},
    {Op::SegmentMin, structured(spell_segment, "segment_min")},

    {Op::Broadcast, structured(spell_broadcast, "spread")},
    {Op::Rename, structured(spell_rename, "renamed")},
    {Op::Slice, structured(spell_slice, "part")},
    {Op::Pad, structured(spell_pad, "padded")},
    {Op::Concat, structured(spell_concat, "joined")},
    {Op::Split, structured(spell_split, "split")},
    {Op::Merge, structured(spell_merge, "merged")},
    {Op::Window, structured(spell_window, "windows")},
    {Op::Fold, widened(structured(spell_fold, "folded"))},

    {Op::Sort, structured(spell_sort, "ordered")},
    {Op::ArgSort, structured(spell_sort, "order")},
    {Op::TopK, structured(spell_top_k, "top")},
    {Op::ArgTopK, structured(spell_top_k, "top_index")},

    {Op::Contract, structured(spell_contract, "product")},
};
constexpr ir::OpTable<Spelling> kSpellings{kEntries};

}  // namespace

const Spelling& spelling(Op op) { return kSpellings[op]; }

}  // namespace kw::understand::reference
