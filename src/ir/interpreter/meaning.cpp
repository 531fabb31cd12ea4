#include "ir/interpreter/meaning.h"

#include "ir/interpreter/folds.h"
#include "ir/interpreter/pointwise.h"
#include "ir/interpreter/whole.h"

namespace kw::ir {
namespace {

using namespace interpreter;

template <class F, class S>
constexpr Meaning unary(Ulps accuracy, Exactness exactness = Exactness::Within) {
  return {.values = map_unary<F>, .spreads = spread_unary<S>, .ulps = accuracy, .exactness = exactness};
}
template <class F>
constexpr Meaning monotone(Ulps accuracy) {
  return unary<F, MonotoneSpread<F>>(accuracy);
}
template <class F>
constexpr Meaning step_function() {  // its results are integers, which round to themselves
  return unary<F, MonotoneSpread<F>>(kCorrectlyRounded, Exactness::Moved);
}
template <class F, class S>
constexpr Meaning binary(Exactness exactness = Exactness::Correct, Ulps accuracy = kCorrectlyRounded) {
  return {.values = map_binary<F>, .spreads = spread_binary<S>, .ulps = accuracy, .exactness = exactness};
}
constexpr Meaning fold(const Folding& folding, Exactness exactness = Exactness::Within) {
  return {.folding = &folding, .exactness = exactness};
}
// Floating results that were accumulated, and lie anywhere within their spread.
constexpr Meaning accumulated(Status (*function)(WholeCall&)) {
  return {.whole = function, .exactness = Exactness::Within};
}
// Results that are copies of operands, or integers that need no rounding.
constexpr Meaning moved(Status (*function)(WholeCall&)) { return {.whole = function, .exactness = Exactness::Moved}; }
constexpr Meaning view(Status (*function)(ViewCall&)) { return {.view = function, .exactness = Exactness::Moved}; }

constexpr OpTable<Meaning>::Entry kRows[] = {
    {Op::Input, unary<SameFn, SameSpread>(kCorrectlyRounded, Exactness::Correct)},
    {Op::Const, moved(whole_const)},
    {Op::SizeOf, moved(whole_size_of)},
    {Op::Iota, moved(whole_iota)},
    {Op::Random, moved(whole_random)},
    {Op::Neg, unary<NegFn, SameSpread>(kCorrectlyRounded, Exactness::Moved)},
    {Op::Abs, unary<AbsFn, SameSpread>(kCorrectlyRounded, Exactness::Moved)},
    {Op::Sign, step_function<SignFn>()},
    {Op::Floor, step_function<FloorFn>()},
    {Op::Ceil, step_function<CeilFn>()},
    {Op::Round, step_function<RoundFn>()},
    {Op::Trunc, step_function<TruncFn>()},
    {Op::Sqrt, monotone<SqrtFn>(ulps<10>)},
    {Op::Rsqrt, monotone<RsqrtFn>(ulps<20>)},
    {Op::Exp, monotone<ExpFn>(ulps_exp)},
    {Op::Exp2, monotone<Exp2Fn>(ulps<20>)},
    {Op::Expm1, monotone<Expm1Fn>(ulps<20>)},
    {Op::Log, monotone<LogFn>(ulps<15>)},
    {Op::Log2, monotone<Log2Fn>(ulps<15>)},
    {Op::Log1p, monotone<Log1pFn>(ulps<15>)},
    {Op::Sin, unary<SinFn, SineSpread>(ulps<40>)},
    {Op::Cos, unary<CosFn, SineSpread>(ulps<40>)},
    {Op::Tan, unary<TanFn, TanSpread>(ulps<40>)},
    {Op::Asin, monotone<AsinFn>(ulps<20>)},
    {Op::Acos, monotone<AcosFn>(ulps<20>)},
    {Op::Atan, monotone<AtanFn>(ulps<20>)},
    {Op::Sinh, monotone<SinhFn>(ulps_hyperbolic)},
    {Op::Cosh, unary<CoshFn, CoshSpread>(ulps_hyperbolic)},
    {Op::Tanh, monotone<TanhFn>(ulps<20>)},
    {Op::Asinh, monotone<AsinhFn>(ulps<30>)},
    {Op::Acosh, monotone<AcoshFn>(ulps<40>)},
    {Op::Atanh, monotone<AtanhFn>(ulps<30>)},
    {Op::Erf, monotone<ErfFn>(ulps_erf)},
    {Op::Erfc, monotone<ErfcFn>(ulps<40>)},
    {Op::Erfinv, monotone<ErfinvFn>(ulps<50>)},
    {Op::Sigmoid, monotone<SigmoidFn>(ulps_sigmoid)},
    {Op::Not, {.values = map_not, .spreads = spread_not, .exactness = Exactness::Moved}},
    {Op::StopGradient, unary<SameFn, SameSpread>(kCorrectlyRounded, Exactness::Moved)},
    {Op::Cast, unary<SameFn, SameSpread>(kCorrectlyRounded, Exactness::Correct)},
    {Op::Add, binary<AddFn, SumSpread>()},
    {Op::Sub, binary<SubFn, SumSpread>()},
    {Op::Mul, {.values = map_mul, .spreads = spread_binary<ProductSpread>, .exactness = Exactness::Fusible}},
    {Op::Div, binary<DivFn, QuotientSpread>(Exactness::Within, ulps<20>)},
    {Op::FloorDiv, {.values = map_floor_div, .spreads = spread_binary<FloorDivSpread>}},
    {Op::Mod, {.values = map_mod, .spreads = spread_binary<ModSpread>}},
    {Op::Pow,
     {.values = map_pow, .spreads = spread_binary<PowSpread>, .ulps = ulps_pow, .exactness = Exactness::Within}},
    {Op::Atan2, binary<Atan2Fn, Atan2Spread>(Exactness::Within, ulps<30>)},
    {Op::Max, binary<MaxFn, CornerSpread<MaxFn>>(Exactness::Moved)},
    {Op::Min, binary<MinFn, CornerSpread<MinFn>>(Exactness::Moved)},
    {Op::Lt, binary<LtFn, CompareSpread>(Exactness::Moved)},
    {Op::Le, binary<LeFn, CompareSpread>(Exactness::Moved)},
    {Op::Eq, binary<EqFn, CompareSpread>(Exactness::Moved)},
    {Op::Ne, binary<NeFn, CompareSpread>(Exactness::Moved)},
    {Op::And, binary<AndFn, LogicSpread<AndFn>>(Exactness::Moved)},
    {Op::Or, binary<OrFn, LogicSpread<OrFn>>(Exactness::Moved)},
    {Op::Xor, binary<XorFn, LogicSpread<XorFn>>(Exactness::Moved)},
    {Op::Shl, {.values = map_shl, .spreads = spread_binary<UnknownSpread>}},
    {Op::Shr, {.values = map_shr, .spreads = spread_binary<UnknownSpread>}},
    {Op::Select, {.values = map_select, .spreads = spread_select, .exactness = Exactness::Moved}},
    {Op::Sum, fold(kFoldSum)},
    {Op::Mean, fold(kFoldMean)},
    {Op::Prod, fold(kFoldProd)},
    {Op::ReduceMax, fold(kFoldMax, Exactness::Moved)},
    {Op::ReduceMin, fold(kFoldMin, Exactness::Moved)},
    {Op::Any, fold(kFoldAny, Exactness::Moved)},
    {Op::All, fold(kFoldAll, Exactness::Moved)},
    {Op::LogSumExp, fold(kFoldLogSumExp)},
    {Op::ArgMax, moved(whole_arg_max)},
    {Op::ArgMin, moved(whole_arg_min)},
    {Op::Reduce, accumulated(whole_reduce)},
    {Op::CumSum, accumulated(whole_cumsum)},
    {Op::CumProd, accumulated(whole_cumprod)},
    {Op::CumMax, moved(whole_cummax)},
    {Op::CumMin, moved(whole_cummin)},
    {Op::CumLogSumExp, accumulated(whole_cumlogsumexp)},
    {Op::Scan, accumulated(whole_scan)},
    {Op::Gather, moved(whole_gather)},
    {Op::ScatterAdd, accumulated(whole_scatter_add)},
    {Op::ScatterSet, moved(whole_scatter_set)},
    {Op::SegmentIndex, moved(whole_segment_index)},
    {Op::SegmentSum, accumulated(whole_segment_sum)},
    {Op::SegmentMax, moved(whole_segment_max)},
    {Op::SegmentMin, moved(whole_segment_min)},
    {Op::Broadcast, view(view_broadcast)},
    {Op::Rename, view(view_rename)},
    {Op::Slice, view(view_slice)},
    {Op::Pad, moved(whole_pad)},
    {Op::Concat, moved(whole_concat)},
    {Op::Split, view(view_split)},
    {Op::Merge, view(view_merge)},
    {Op::Window, moved(whole_window)},
    {Op::Fold, accumulated(whole_fold)},
    {Op::Sort, moved(whole_sort)},
    {Op::ArgSort, moved(whole_arg_sort)},
    {Op::TopK, moved(whole_top_k)},
    {Op::ArgTopK, moved(whole_arg_top_k)},
    {Op::Contract, accumulated(whole_contract)},
};
constexpr OpTable<Meaning> kMeanings{kRows};

}  // namespace

const Meaning& meaning_of(Op op, const InterpretOptions& options) {
  if (options.replaced_meanings) {
    auto replaced = options.replaced_meanings->find(op);
    if (replaced != options.replaced_meanings->end()) return replaced->second;
  }
  return kMeanings[op];
}

}  // namespace kw::ir
