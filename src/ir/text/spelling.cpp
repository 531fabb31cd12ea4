#include "ir/text/spelling.h"

#include <algorithm>
#include <array>

namespace kw::ir::text {
namespace {

constexpr Spelling kPlain{};
constexpr Spelling kAxes{Form::Axes};
constexpr Spelling kScan{Form::Scan};
constexpr Spelling kCombine{Form::Combine};
constexpr Spelling kSegment{Form::Segment};
constexpr Spelling kValue{Form::Value};

constexpr Spelling infix(std::string_view symbol, Precedence precedence) { return {Form::Infix, symbol, precedence}; }
constexpr Spelling compare(std::string_view symbol) { return {Form::Compare, symbol, Precedence::Compare}; }
constexpr Spelling prefix(std::string_view symbol) { return {Form::Prefix, symbol, Precedence::Unary}; }

constexpr OpTable<Spelling>::Entry kEntries[] = {
    {Op::Input, kValue},
    {Op::Const, kValue},
    {Op::SizeOf, {Form::Size}},
    {Op::Iota, {Form::NewAxes}},
    {Op::Random, {Form::NewAxes}},
    {Op::Neg, prefix("-")},
    {Op::Abs, kPlain},
    {Op::Sign, kPlain},
    {Op::Floor, kPlain},
    {Op::Ceil, kPlain},
    {Op::Round, kPlain},
    {Op::Trunc, kPlain},
    {Op::Sqrt, kPlain},
    {Op::Rsqrt, kPlain},
    {Op::Exp, kPlain},
    {Op::Exp2, kPlain},
    {Op::Expm1, kPlain},
    {Op::Log, kPlain},
    {Op::Log2, kPlain},
    {Op::Log1p, kPlain},
    {Op::Sin, kPlain},
    {Op::Cos, kPlain},
    {Op::Tan, kPlain},
    {Op::Asin, kPlain},
    {Op::Acos, kPlain},
    {Op::Atan, kPlain},
    {Op::Sinh, kPlain},
    {Op::Cosh, kPlain},
    {Op::Tanh, kPlain},
    {Op::Asinh, kPlain},
    {Op::Acosh, kPlain},
    {Op::Atanh, kPlain},
    {Op::Erf, kPlain},
    {Op::Erfc, kPlain},
    {Op::Erfinv, kPlain},
    {Op::Sigmoid, kPlain},
    {Op::Not, prefix("~")},
    {Op::StopGradient, kPlain},
    {Op::Cast, {Form::Cast}},
    {Op::Add, infix("+", Precedence::Sum)},
    {Op::Sub, infix("-", Precedence::Sum)},
    {Op::Mul, {Form::Multiply, "*", Precedence::Product}},
    {Op::Div, infix("/", Precedence::Product)},
    {Op::FloorDiv, infix("//", Precedence::Product)},
    {Op::Mod, infix("%", Precedence::Product)},
    {Op::Pow, {Form::Power, "^", Precedence::Power}},
    {Op::Atan2, kPlain},
    {Op::Max, kPlain},
    {Op::Min, kPlain},
    {Op::Lt, compare("<")},
    {Op::Le, compare("<=")},
    {Op::Eq, compare("==")},
    {Op::Ne, compare("!=")},
    {Op::And, infix("&", Precedence::And)},
    {Op::Or, infix("|", Precedence::Or)},
    {Op::Xor, kPlain},
    {Op::Shl, infix("<<", Precedence::Shift)},
    {Op::Shr, infix(">>", Precedence::Shift)},
    {Op::Select, kPlain},
    {Op::Sum, kAxes},
    {Op::Mean, kAxes},
    {Op::Prod, kAxes},
    {Op::ReduceMax, kAxes},
    {Op::ReduceMin, kAxes},
    {Op::Any, kAxes},
    {Op::All, kAxes},
    {Op::LogSumExp, kAxes},
    {Op::ArgMax, kAxes},
    {Op::ArgMin, kAxes},
    {Op::Reduce, kCombine},
    {Op::CumSum, kScan},
    {Op::CumProd, kScan},
    {Op::CumMax, kScan},
    {Op::CumMin, kScan},
    {Op::CumLogSumExp, kScan},
    {Op::Scan, kCombine},
    {Op::Gather, kAxes},
    {Op::ScatterAdd, kAxes},
    {Op::ScatterSet, kAxes},
    {Op::SegmentIndex, kSegment},
    {Op::SegmentSum, kSegment},
    {Op::SegmentMax, kSegment},
    {Op::SegmentMin, kSegment},
    {Op::Broadcast, {Form::NewAxes}},
    {Op::Rename, {Form::Rename}},
    {Op::Slice, {Form::Slice}},
    {Op::Pad, {Form::Slice}},
    {Op::Concat, {Form::Concat}},
    {Op::Split, {Form::Split}},
    {Op::Merge, {Form::Merge}},
    {Op::Window, {Form::Window}},
    {Op::Fold, {Form::Fold}},
    {Op::Sort, {Form::Sort}},
    {Op::ArgSort, {Form::Sort}},
    {Op::TopK, {Form::TopK}},
    {Op::ArgTopK, {Form::TopK}},
    {Op::Contract, kAxes},
};
constexpr OpTable<Spelling> kSpellings{kEntries};

struct InfixRow {
  std::string_view symbol;
  InfixOp infix;
};

consteval bool is_infix(Form form) { return form == Form::Infix || form == Form::Compare || form == Form::Multiply; }

consteval size_t infix_count() {
  size_t count = 0;
  for (const auto& [op, row] : kEntries) count += is_infix(row.form) ? 1 : 0;
  return count;
}

consteval auto infix_rows() {
  std::array<InfixRow, infix_count()> rows{};
  size_t next = 0;
  for (const auto& [op, row] : kEntries) {
    if (is_infix(row.form)) rows[next++] = {row.symbol, {op, row.precedence}};
  }
  return rows;
}
constexpr auto kInfix = infix_rows();

constexpr std::string_view kReserved[] = {"types",   "sizes", "where", "combine", "return", "backward",
                                          "because", "true",  "false", "inf",     "nan"};

}  // namespace

const Spelling& spelling(Op op) { return kSpellings[op]; }

const InfixOp* infix_op(std::string_view symbol) {
  const auto* found =
      std::find_if(kInfix.begin(), kInfix.end(), [&](const InfixRow& row) { return row.symbol == symbol; });
  return found == kInfix.end() ? nullptr : &found->infix;
}

bool is_reserved(std::string_view word) {
  return std::find(std::begin(kReserved), std::end(kReserved), word) != std::end(kReserved);
}

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_character(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

std::string quoted_if_needed(std::string_view name) {
  bool plain = !name.empty() && is_name_start(name.front()) && name.back() != '.' && !is_reserved(name);
  for (size_t i = 0; i < name.size(); ++i) {
    // A dot joins the parts of a parameter's path ("norm.weight"), so a character of a name follows it.
    plain = plain && (is_name_character(name[i]) || (name[i] == '.' && is_name_character(name[i + 1])));
  }
  if (plain) return std::string(name);
  std::string inside(name.empty() ? "_" : name);
  for (char& c : inside) {
    if (c == '`' || (static_cast<unsigned char>(c) < 0x20) || c == 0x7F) c = '_';
  }
  return "`" + inside + "`";
}

bool is_generated_name(std::string_view name) {
  return name.size() > 1 && name.front() == '_' &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace kw::ir::text
