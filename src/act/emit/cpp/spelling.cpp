#include "act/emit/cpp/spelling.h"

namespace kw::act::cpp {
namespace {

using ir::Op;
using Form = Spelling::Form;

constexpr Spelling call(const char* name) { return {Form::Call, name, Binding::Primary, false}; }
constexpr Spelling exact_call(const char* name) { return {Form::Call, name, Binding::Primary, true}; }
constexpr Spelling infix(const char* sign, Binding binding, bool exact = false) {
  return {Form::Infix, sign, binding, exact};
}
constexpr Spelling special(bool exact = false) { return {Form::Special, "", Binding::Primary, exact}; }
constexpr Spelling none() { return {}; }

constexpr ir::OpTable<Spelling>::Entry kRows[] = {
    {Op::Input, none()},
    {Op::Const, none()},
    {Op::SizeOf, none()},
    {Op::Iota, none()},
    {Op::Random, special(true)},
    {Op::Neg, {Form::Prefix, "-", Binding::Unary, true}},
    {Op::Abs, exact_call("kw::abs")},
    {Op::Sign, exact_call("kw::sign")},
    {Op::Floor, exact_call("kw::floor")},
    {Op::Ceil, exact_call("kw::ceil")},
    {Op::Round, exact_call("kw::round_half_even")},
    {Op::Trunc, exact_call("kw::trunc")},
    {Op::Sqrt, call("kw::sqrt")},
    {Op::Rsqrt, call("kw::rsqrt")},
    {Op::Exp, call("kw::exp")},
    {Op::Exp2, call("kw::exp2")},
    {Op::Expm1, call("kw::expm1")},
    {Op::Log, call("kw::log")},
    {Op::Log2, call("kw::log2")},
    {Op::Log1p, call("kw::log1p")},
    {Op::Sin, call("kw::sin")},
    {Op::Cos, call("kw::cos")},
    {Op::Tan, call("kw::tan")},
    {Op::Asin, call("kw::asin")},
    {Op::Acos, call("kw::acos")},
    {Op::Atan, call("kw::atan")},
    {Op::Sinh, call("kw::sinh")},
    {Op::Cosh, call("kw::cosh")},
    {Op::Tanh, call("kw::tanh")},
    {Op::Asinh, call("kw::asinh")},
    {Op::Acosh, call("kw::acosh")},
    {Op::Atanh, call("kw::atanh")},
    {Op::Erf, call("kw::erf")},
    {Op::Erfc, call("kw::erfc")},
    {Op::Erfinv, call("kw::erfinv")},
    {Op::Sigmoid, call("kw::sigmoid")},
    {Op::Not, special(true)},
    {Op::StopGradient, special(true)},
    {Op::Cast, special()},
    {Op::Add, infix(" + ", Binding::Sum)},
    {Op::Sub, infix(" - ", Binding::Sum)},
    {Op::Mul, infix(" * ", Binding::Product)},
    {Op::Div, infix(" / ", Binding::Product)},
    {Op::FloorDiv, call("kw::floor_div")},
    {Op::Mod, call("kw::modulo")},
    {Op::Pow, special()},
    {Op::Atan2, call("kw::atan2")},
    {Op::Max, exact_call("kw::maximum")},
    {Op::Min, exact_call("kw::minimum")},
    {Op::Lt, infix(" < ", Binding::Order, true)},
    {Op::Le, infix(" <= ", Binding::Order, true)},
    {Op::Eq, infix(" == ", Binding::Equality, true)},
    {Op::Ne, infix(" != ", Binding::Equality, true)},
    {Op::And, infix(" & ", Binding::And, true)},
    {Op::Or, infix(" | ", Binding::Or, true)},
    {Op::Xor, infix(" ^ ", Binding::Xor, true)},
    {Op::Shl, exact_call("kw::shift_left")},
    {Op::Shr, exact_call("kw::shift_right")},
    {Op::Select, special(true)},
    {Op::Sum, none()},
    {Op::Mean, none()},
    {Op::Prod, none()},
    {Op::ReduceMax, none()},
    {Op::ReduceMin, none()},
    {Op::Any, none()},
    {Op::All, none()},
    {Op::LogSumExp, none()},
    {Op::ArgMax, none()},
    {Op::ArgMin, none()},
    {Op::Reduce, none()},
    {Op::CumSum, none()},
    {Op::CumProd, none()},
    {Op::CumMax, none()},
    {Op::CumMin, none()},
    {Op::CumLogSumExp, none()},
    {Op::Scan, none()},
    {Op::Gather, none()},
    {Op::ScatterAdd, none()},
    {Op::ScatterSet, none()},
    {Op::SegmentIndex, none()},
    {Op::SegmentSum, none()},
    {Op::SegmentMax, none()},
    {Op::SegmentMin, none()},
    {Op::Broadcast, none()},
    {Op::Rename, none()},
    {Op::Slice, none()},
    {Op::Pad, none()},
    {Op::Concat, none()},
    {Op::Split, none()},
    {Op::Merge, none()},
    {Op::Window, none()},
    {Op::Fold, none()},
    {Op::Sort, none()},
    {Op::ArgSort, none()},
    {Op::TopK, none()},
    {Op::ArgTopK, none()},
    {Op::Contract, none()},
};
constexpr ir::OpTable<Spelling> kSpellings{kRows};

}  // namespace

const Spelling& spelling_of(ir::Op op) { return kSpellings[op]; }

}  // namespace kw::act::cpp
