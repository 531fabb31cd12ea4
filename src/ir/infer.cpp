#include "ir/infer.h"

#include <algorithm>
#include <string>

namespace kw::ir {
namespace {

using Axes = std::vector<AxisId>;

// ---- sets of axes ----
bool contains(const Axes& axes, AxisId a) { return std::binary_search(axes.begin(), axes.end(), a); }

Axes unite(const Axes& a, const Axes& b) {
  Axes out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

Axes without(Axes axes, AxisId a) {
  std::erase(axes, a);
  return axes;
}

Axes all_axes(const Site& s) {
  Axes out;
  for (size_t i = 0; i < s.args.size(); ++i) out = unite(out, s.arg(i).axes);
  return out;
}

std::string list(const Site& s, const Axes& axes) {
  std::string out;
  for (AxisId a : axes) out += (out.empty() ? "" : ", ") + s.axis_name(a);
  return "[" + out + "]";
}

Failure lacks(const Site& s, AxisId a, const Axes& axes) {
  return bad_input(s.name() + ": the operand has no axis " + s.axis_name(a) + "; its axes are " + list(s, axes));
}

// `axes` with the new axis `a`, which must not be there yet.
Result<Axes> with(const Site& s, Axes axes, AxisId a) {
  if (contains(axes, a)) return bad_input(s.name() + ": the result would have the axis " + s.axis_name(a) + " twice");
  axes.insert(std::upper_bound(axes.begin(), axes.end(), a), a);
  return axes;
}

// ---- sizes: refuse what is certainly wrong; what only run-time sizes can show is checked when they are bound ----
Status fits(const Site& s, const Size& left, const Size& right, std::string_view what) {
  if (left == right) return {};
  std::optional<int64_t> a = s.graph.hinted(left), b = s.graph.hinted(right);
  if (a && b && *a != *b)
    return bad_input(s.name() + ": " + std::string(what) + ": " + s.graph.size_text(left) + " is " +
                     std::to_string(*a) + ", " + s.graph.size_text(right) + " is " + std::to_string(*b));
  return {};
}

const Size& size_of(const Site& s, AxisId a) { return s.graph.axis(a).size; }

// ---- shape rules ----
Result<Axes> shape_input(const Site& s) {
  const Input& input = s.graph.inputs[static_cast<size_t>(s.as<InputRef>().index)];
  Axes axes;
  for (AxisId a : input.dims) {
    if (a == kUnit) continue;
    if (std::find(axes.begin(), axes.end(), a) != axes.end())
      return bad_input("the input " + input.name + " has the axis " + s.axis_name(a) + " twice");
    axes.push_back(a);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

Result<Axes> shape_scalar(const Site&) { return Axes{}; }

Result<Axes> shape_listed(const Site& s) {  // Iota, Random
  Axes axes = s.as<AxisList>().axes;
  if (s.op == Op::Iota && axes.size() != 1) return bad_input("iota runs along exactly one axis");
  for (size_t i = 0; i < s.args.size(); ++i)
    if (!s.arg(i).axes.empty()) return bad_input(s.name() + ": its operands are scalars");
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    return bad_input(s.name() + ": an axis is listed twice");
  return axes;
}

Result<Axes> shape_union(const Site& s) { return all_axes(s); }

Result<Axes> shape_reduce(const Site& s) {
  const Axes& reduced = s.as<AxisList>().axes;
  Axes axes = all_axes(s);
  if (reduced.empty()) return bad_input(s.name() + ": no axis to reduce is given");
  if ((s.op == Op::ArgMax || s.op == Op::ArgMin) && reduced.size() != 1)
    return bad_input(s.name() + " reduces exactly one axis");
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (i && reduced[i - 1] >= reduced[i])
      return bad_input(s.name() + ": the reduced axis " + s.axis_name(reduced[i]) + " is listed twice");
    if (!contains(axes, reduced[i])) return lacks(s, reduced[i], axes);
  }
  std::erase_if(axes, [&](AxisId a) { return std::find(reduced.begin(), reduced.end(), a) != reduced.end(); });
  return axes;
}

Result<Axes> shape_combine(const Site& s) {
  const CombineAttr& a = s.as<CombineAttr>();
  if (!a.combine || a.combine->arity() != static_cast<int>(s.args.size()))
    return bad_input(s.name() + ": the combine takes another number of operands");
  if (a.part < 0 || a.part >= a.combine->arity()) return bad_input(s.name() + ": the combine has no such part");
  Axes axes = all_axes(s);
  if (!contains(axes, a.axis)) return lacks(s, a.axis, axes);
  return s.op == Op::Reduce ? without(axes, a.axis) : axes;
}

Result<Axes> shape_scan(const Site& s) {
  const Axes& axes = s.arg(0).axes;
  if (!contains(axes, s.as<ScanAttr>().axis)) return lacks(s, s.as<ScanAttr>().axis, axes);
  return axes;
}

Result<AxisId> only_axis(const Site& s) {
  const Axes& axes = s.as<AxisList>().axes;
  if (axes.size() != 1) return bad_input(s.name() + ": exactly one axis is indexed");
  if (!contains(s.arg(0).axes, axes[0])) return lacks(s, axes[0], s.arg(0).axes);
  return axes[0];
}

Result<Axes> shape_gather(const Site& s) {
  KW_TRY(AxisId axis, only_axis(s));
  return unite(without(s.arg(0).axes, axis), s.arg(1).axes);
}

Result<Axes> shape_scatter(const Site& s) {
  KW_CHECK(only_axis(s));
  return s.arg(0).axes;
}

Result<Axes> shape_segment(const Site& s) {
  const SegmentAttr& a = s.as<SegmentAttr>();
  const Axes& offsets = s.arg(s.args.size() - 1).axes;
  if (!contains(offsets, a.offsets)) return lacks(s, a.offsets, offsets);
  KW_CHECK(fits(s, size_of(s, a.offsets), size_of(s, a.segments) + Size(1), "there is one offset more than segments"));
  Axes rest = without(offsets, a.offsets);
  if (s.op == Op::SegmentIndex) return with(s, rest, a.rows);
  const Axes& rows = s.arg(0).axes;
  if (!contains(rows, a.rows)) return lacks(s, a.rows, rows);
  return with(s, unite(without(rows, a.rows), rest), a.segments);
}

Result<Axes> shape_broadcast(const Site& s) {
  Axes axes = s.arg(0).axes;
  if (s.as<AxisList>().axes.empty()) return bad_input("broadcast: no axis to add is given");
  for (AxisId a : s.as<AxisList>().axes) {
    KW_TRY(axes, with(s, std::move(axes), a));
  }
  return axes;
}

Result<Axes> shape_rename(const Site& s) {
  Axes axes = s.arg(0).axes;
  for (auto [from, to] : s.as<RenameAttr>().pairs) {
    if (!contains(s.arg(0).axes, from)) return lacks(s, from, s.arg(0).axes);
    KW_CHECK(fits(s, size_of(s, from), size_of(s, to), "the two axes have one size"));
    std::erase(axes, from);
  }
  for (auto [from, to] : s.as<RenameAttr>().pairs) {
    KW_TRY(axes, with(s, std::move(axes), to));
  }
  return axes;
}

Result<Axes> shape_slice(const Site& s) {
  const SliceAttr& a = s.as<SliceAttr>();
  if (!contains(s.arg(0).axes, a.from)) return lacks(s, a.from, s.arg(0).axes);
  if (a.step == 0 || (s.op == Op::Pad && a.step < 0))
    return bad_input(s.name() + ": the step cannot be " + std::to_string(a.step));
  if (s.op == Op::Pad && !s.arg(1).axes.empty()) return bad_input("pad: the fill is one number");
  // The slice's indices (or the padded positions) must lie inside the longer axis, as far as the hints can tell.
  AxisId longer = s.op == Op::Slice ? a.from : a.to, shorter = s.op == Op::Slice ? a.to : a.from;
  std::optional<int64_t> start = s.graph.hinted(a.start), n = s.graph.hinted(size_of(s, shorter)),
                         whole = s.graph.hinted(size_of(s, longer));
  if (start && n && whole && *n > 0) {
    int64_t last = 0;
    const bool overflows = __builtin_mul_overflow(*n - 1, a.step, &last) || __builtin_add_overflow(*start, last, &last);
    if (overflows || *start < 0 || *start >= *whole || last < 0 || last >= *whole)
      return bad_input(s.name() + ": indices " + std::to_string(*start) + " to " +
                       (overflows ? "beyond 2^63" : std::to_string(last)) + " do not lie within " +
                       s.axis_name(longer) + " of size " + std::to_string(*whole));
  }
  return with(s, without(s.arg(0).axes, a.from), a.to);
}

Result<Axes> shape_concat(const Site& s) {
  const ConcatAttr& a = s.as<ConcatAttr>();
  if (a.from.size() != s.args.size()) return bad_input("concat: every operand has an axis to join");
  Axes axes;
  Size total(0);
  for (size_t i = 0; i < s.args.size(); ++i) {
    if (!contains(s.arg(i).axes, a.from[i])) return lacks(s, a.from[i], s.arg(i).axes);
    axes = unite(axes, without(s.arg(i).axes, a.from[i]));
    total = total + size_of(s, a.from[i]);
  }
  KW_CHECK(fits(s, size_of(s, a.to), total, "the joined axis is as long as its parts"));
  return with(s, std::move(axes), a.to);
}

Result<Axes> shape_split(const Site& s) {
  const SplitAttr& a = s.as<SplitAttr>();
  const Axes& axes = s.arg(0).axes;
  KW_CHECK(fits(s, size_of(s, a.whole), size_of(s, a.outer) * size_of(s, a.inner), "outer times inner is the whole"));
  if (s.op == Op::Split) {
    if (!contains(axes, a.whole)) return lacks(s, a.whole, axes);
    KW_TRY(Axes outer, with(s, without(axes, a.whole), a.outer));
    return with(s, std::move(outer), a.inner);
  }
  if (!contains(axes, a.outer)) return lacks(s, a.outer, axes);
  if (!contains(axes, a.inner) || a.inner == a.outer) return lacks(s, a.inner, axes);
  return with(s, without(without(axes, a.outer), a.inner), a.whole);
}

Result<Axes> shape_window(const Site& s) {
  const WindowAttr& a = s.as<WindowAttr>();
  if (a.stride < 1 || a.dilation < 1 || a.input_dilation < 1)
    return bad_input(s.name() + ": stride and dilations are at least 1");
  const Axes& axes = s.arg(0).axes;
  if (s.op == Op::Window) {
    if (!s.arg(1).axes.empty()) return bad_input("window: the fill is one number");
    if (!contains(axes, a.axis)) return lacks(s, a.axis, axes);
    KW_TRY(Axes out, with(s, without(axes, a.axis), a.out));
    return with(s, std::move(out), a.tap);
  }
  if (!contains(axes, a.out)) return lacks(s, a.out, axes);
  if (!contains(axes, a.tap) || a.tap == a.out) return lacks(s, a.tap, axes);
  return with(s, without(without(axes, a.out), a.tap), a.axis);
}

Result<Axes> shape_sort(const Site& s) {
  if (!contains(s.arg(0).axes, s.as<SortAttr>().axis)) return lacks(s, s.as<SortAttr>().axis, s.arg(0).axes);
  return s.arg(0).axes;
}

Result<Axes> shape_top_k(const Site& s) {
  const TopKAttr& a = s.as<TopKAttr>();
  if (!contains(s.arg(0).axes, a.axis)) return lacks(s, a.axis, s.arg(0).axes);
  std::optional<int64_t> n = s.graph.hinted(size_of(s, a.axis)), k = s.graph.hinted(size_of(s, a.to));
  if (n && k && *k > *n)
    return bad_input(s.name() + ": " + std::to_string(*k) + " of only " + std::to_string(*n) + " values");
  return with(s, without(s.arg(0).axes, a.axis), a.to);
}

// ---- type rules ----
Type floating_result(Type t) {  // of a function on the reals: integers are read as PyTorch's default type
  if (t.floating()) return t;
  return t == Type(DType::Int) ? Type(DType::Real) : Type(DType::F32);
}

Result<Type> promoted(const Site& s, size_t first = 0) {
  Type t;
  for (size_t i = first; i < s.args.size(); ++i) {
    Type next = s.promote(t, s.arg(i).type);
    if (!next.known()) return bad_input(s.name() + ": these element types do not promote; cast one of them");
    t = next;
  }
  return t;
}

Result<Type> type_input(const Site& s) { return s.graph.inputs[static_cast<size_t>(s.as<InputRef>().index)].type; }
Result<Type> type_const(const Site& s) {
  constexpr DType kByIndex[] = {DType::Bool, DType::Int, DType::Real};
  return Type(kByIndex[s.as<Literal>().value.index()]);
}
Result<Type> type_int(const Site&) { return Type(DType::Int); }
Result<Type> type_i64(const Site&) { return Type(DType::I64); }
Result<Type> type_bool(const Site&) { return Type(DType::Bool); }
Result<Type> type_f32(const Site& s) {  // Random
  for (size_t i = 0; i < s.args.size(); ++i)
    if (!s.arg(i).type.integer()) return bad_input("random: seed and offset are integers");
  return Type(DType::F32);
}
Result<Type> type_first(const Site& s) { return s.arg(0).type; }
Result<Type> type_number(const Site& s) {
  if (s.arg(0).type.boolean()) return bad_input(s.name() + " is not defined on bool");
  return s.arg(0).type;
}
Result<Type> type_floating_function(const Site& s) {
  KW_TRY(Type t, promoted(s));
  return floating_result(t);
}
Result<Type> type_logic(const Site& s) {
  KW_TRY(Type t, promoted(s));
  if (!t.integer() && !t.boolean()) return bad_input(s.name() + " is defined on bool and integers only");
  return t;
}
Result<Type> type_shift(const Site& s) {
  KW_TRY(Type t, promoted(s));
  if (!t.integer()) return bad_input(s.name() + " is defined on integers only");
  return t;
}
Result<Type> type_cast(const Site& s) {
  if (!s.as<CastAttr>().type.known()) return bad_input("cast: the type is missing");
  return s.as<CastAttr>().type;
}
Result<Type> type_arithmetic(const Site& s) { return promoted(s); }
Result<Type> type_compare(const Site& s) {
  KW_CHECK(promoted(s));
  return Type(DType::Bool);
}
Result<Type> type_select(const Site& s) {
  if (!s.arg(0).type.boolean()) return bad_input("select: the condition is bool");
  return promoted(s, 1);
}
Result<Type> type_sum(const Site& s) {
  Type t = s.arg(0).type;
  if (t.floating() || t == Type(DType::Int)) return t;
  return Type(DType::I64);
}
Result<Type> type_floating_only(const Site& s) {
  if (!s.arg(0).type.floating()) return bad_input(s.name() + " is defined on floating types only; cast its operand");
  return s.arg(0).type;
}
Result<Type> type_part(const Site& s) {
  const CombineAttr& a = s.as<CombineAttr>();
  return s.arg(static_cast<size_t>(a.part)).type;
}
Result<Type> type_gather(const Site& s) {
  if (!s.arg(1).type.integer()) return bad_input("gather: the index is an integer tensor");
  return s.arg(0).type;
}
Result<Type> type_scatter(const Site& s) {
  if (!s.arg(1).type.integer()) return bad_input(s.name() + ": the index is an integer tensor");
  Type t = s.promote(s.arg(0).type, s.arg(2).type);
  if (!t.known()) return bad_input(s.name() + ": base and value do not promote; cast one of them");
  return t;
}
Result<Type> type_segment(const Site& s) {
  if (!s.arg(s.args.size() - 1).type.integer()) return bad_input(s.name() + ": the offsets are integers");
  return s.op == Op::SegmentIndex ? Type(DType::I64) : s.arg(0).type;
}

template <class T, class... Ts>
consteval size_t index_in(std::variant<Ts...>*) {
  size_t i = 0;
  bool found = false;
  ((std::is_same_v<T, Ts> ? (found = true) : (i += found ? 0 : 1)), ...);
  return i;
}
template <class T>
consteval size_t attr() {
  return index_in<T>(static_cast<Attr*>(nullptr));
}

constexpr InferenceRule kFloatingFunction{shape_union, type_floating_function, 0};
constexpr InferenceRule kSameNumber{shape_union, type_number, 0};
constexpr InferenceRule kArithmetic{shape_union, type_arithmetic, 0};
constexpr InferenceRule kCompare{shape_union, type_compare, 0};
constexpr InferenceRule kLogic{shape_union, type_logic, 0};
constexpr InferenceRule kShift{shape_union, type_shift, 0};
constexpr InferenceRule kScan{shape_scan, type_sum, attr<ScanAttr>()};
constexpr InferenceRule kScanSame{shape_scan, type_first, attr<ScanAttr>()};
constexpr InferenceRule kSegment{shape_segment, type_segment, attr<SegmentAttr>()};

constexpr OpTable<InferenceRule>::Entry kEntries[] = {
    {Op::Input, {shape_input, type_input, attr<InputRef>()}},
    {Op::Const, {shape_scalar, type_const, attr<Literal>()}},
    {Op::SizeOf, {shape_scalar, type_int, attr<SizeAttr>()}},
    {Op::Iota, {shape_listed, type_i64, attr<AxisList>()}},
    {Op::Random, {shape_listed, type_f32, attr<AxisList>()}},
    {Op::Neg, kSameNumber},
    {Op::Abs, kSameNumber},
    {Op::Sign, kSameNumber},
    {Op::Floor, kSameNumber},
    {Op::Ceil, kSameNumber},
    {Op::Round, kSameNumber},
    {Op::Trunc, kSameNumber},
    {Op::Sqrt, kFloatingFunction},
    {Op::Rsqrt, kFloatingFunction},
    {Op::Exp, kFloatingFunction},
    {Op::Exp2, kFloatingFunction},
    {Op::Expm1, kFloatingFunction},
    {Op::Log, kFloatingFunction},
    {Op::Log2, kFloatingFunction},
    {Op::Log1p, kFloatingFunction},
    {Op::Sin, kFloatingFunction},
    {Op::Cos, kFloatingFunction},
    {Op::Tan, kFloatingFunction},
    {Op::Asin, kFloatingFunction},
    {Op::Acos, kFloatingFunction},
    {Op::Atan, kFloatingFunction},
    {Op::Sinh, kFloatingFunction},
    {Op::Cosh, kFloatingFunction},
    {Op::Tanh, kFloatingFunction},
    {Op::Asinh, kFloatingFunction},
    {Op::Acosh, kFloatingFunction},
    {Op::Atanh, kFloatingFunction},
    {Op::Erf, kFloatingFunction},
    {Op::Erfc, kFloatingFunction},
    {Op::Erfinv, kFloatingFunction},
    {Op::Sigmoid, kFloatingFunction},
    {Op::Not, kLogic},
    {Op::StopGradient, {shape_union, type_first, 0}},
    {Op::Cast, {shape_union, type_cast, attr<CastAttr>()}},
    {Op::Add, kArithmetic},
    {Op::Sub, kArithmetic},
    {Op::Mul, kArithmetic},
    {Op::Div, kFloatingFunction},
    {Op::FloorDiv, kArithmetic},
    {Op::Mod, kArithmetic},
    {Op::Pow, kArithmetic},
    {Op::Atan2, kFloatingFunction},
    {Op::Max, kArithmetic},
    {Op::Min, kArithmetic},
    {Op::Lt, kCompare},
    {Op::Le, kCompare},
    {Op::Eq, kCompare},
    {Op::Ne, kCompare},
    {Op::And, kLogic},
    {Op::Or, kLogic},
    {Op::Xor, kLogic},
    {Op::Shl, kShift},
    {Op::Shr, kShift},
    {Op::Select, {shape_union, type_select, 0}},
    {Op::Sum, {shape_reduce, type_sum, attr<AxisList>()}},
    {Op::Mean, {shape_reduce, type_floating_only, attr<AxisList>()}},
    {Op::Prod, {shape_reduce, type_sum, attr<AxisList>()}},
    {Op::ReduceMax, {shape_reduce, type_first, attr<AxisList>()}},
    {Op::ReduceMin, {shape_reduce, type_first, attr<AxisList>()}},
    {Op::Any, {shape_reduce, type_bool, attr<AxisList>()}},
    {Op::All, {shape_reduce, type_bool, attr<AxisList>()}},
    {Op::LogSumExp, {shape_reduce, type_floating_only, attr<AxisList>()}},
    {Op::ArgMax, {shape_reduce, type_i64, attr<AxisList>()}},
    {Op::ArgMin, {shape_reduce, type_i64, attr<AxisList>()}},
    {Op::Reduce, {shape_combine, type_part, attr<CombineAttr>()}},
    {Op::CumSum, kScan},
    {Op::CumProd, kScan},
    {Op::CumMax, kScanSame},
    {Op::CumMin, kScanSame},
    {Op::CumLogSumExp, {shape_scan, type_floating_only, attr<ScanAttr>()}},
    {Op::Scan, {shape_combine, type_part, attr<CombineAttr>()}},
    {Op::Gather, {shape_gather, type_gather, attr<AxisList>()}},
    {Op::ScatterAdd, {shape_scatter, type_scatter, attr<AxisList>()}},
    {Op::ScatterSet, {shape_scatter, type_scatter, attr<AxisList>()}},
    {Op::SegmentIndex, kSegment},
    {Op::SegmentSum, kSegment},
    {Op::SegmentMax, kSegment},
    {Op::SegmentMin, kSegment},
    {Op::Broadcast, {shape_broadcast, type_first, attr<AxisList>()}},
    {Op::Rename, {shape_rename, type_first, attr<RenameAttr>()}},
    {Op::Slice, {shape_slice, type_first, attr<SliceAttr>()}},
    {Op::Pad, {shape_slice, type_arithmetic, attr<SliceAttr>()}},
    {Op::Concat, {shape_concat, type_arithmetic, attr<ConcatAttr>()}},
    {Op::Split, {shape_split, type_first, attr<SplitAttr>()}},
    {Op::Merge, {shape_split, type_first, attr<SplitAttr>()}},
    {Op::Window, {shape_window, type_arithmetic, attr<WindowAttr>()}},
    {Op::Fold, {shape_window, type_first, attr<WindowAttr>()}},
    {Op::Sort, {shape_sort, type_first, attr<SortAttr>()}},
    {Op::ArgSort, {shape_sort, type_i64, attr<SortAttr>()}},
    {Op::TopK, {shape_top_k, type_first, attr<TopKAttr>()}},
    {Op::ArgTopK, {shape_top_k, type_i64, attr<TopKAttr>()}},
    {Op::Contract, {shape_reduce, type_arithmetic, attr<AxisList>()}},
};
constexpr InferenceRules kRules{kEntries, promote};

// Every axis that an attribute mentions exists.
Status known_axes(const Site& s) {
  for (AxisId a : mentioned_axes(s.attr))
    if (a < 0 || a >= static_cast<AxisId>(s.graph.axes.size()))
      return bad_input(s.name() + ": it mentions an axis that does not exist");
  return {};
}

}  // namespace

std::vector<AxisId> mentioned_axes(const Attr& attr) {
  struct Visitor {
    Axes operator()(const AxisList& a) const { return a.axes; }
    Axes operator()(const RenameAttr& a) const {
      Axes out;
      for (auto [from, to] : a.pairs) out.insert(out.end(), {from, to});
      return out;
    }
    Axes operator()(const SliceAttr& a) const { return {a.from, a.to}; }
    Axes operator()(const ConcatAttr& a) const {
      Axes out = a.from;
      out.push_back(a.to);
      return out;
    }
    Axes operator()(const SplitAttr& a) const { return {a.whole, a.outer, a.inner}; }
    Axes operator()(const WindowAttr& a) const { return {a.axis, a.out, a.tap}; }
    Axes operator()(const SegmentAttr& a) const { return {a.rows, a.segments, a.offsets}; }
    Axes operator()(const ScanAttr& a) const { return {a.axis}; }
    Axes operator()(const SortAttr& a) const { return {a.axis}; }
    Axes operator()(const TopKAttr& a) const { return {a.axis, a.to}; }
    Axes operator()(const CombineAttr& a) const { return {a.axis}; }
    Axes operator()(std::monostate) const { return {}; }
    Axes operator()(const Literal&) const { return {}; }
    Axes operator()(const InputRef&) const { return {}; }
    Axes operator()(const SizeAttr&) const { return {}; }
    Axes operator()(const CastAttr&) const { return {}; }
  };
  return std::visit(Visitor{}, attr);
}

std::string Site::axis_name(AxisId axis) const {
  return axis >= 0 && axis < static_cast<AxisId>(graph.axes.size()) ? graph.axis(axis).name
                                                                    : "axis#" + std::to_string(axis);
}

const InferenceRules& inference_rules() { return kRules; }

Result<Inferred> infer(const Graph& graph, Op op, std::span<const NodeId> args, const Attr& attr,
                       const InferenceRules& rules) {
  Site site{graph, op, args, attr, rules.promote};
  const OpInfo& row = info(op);
  if (static_cast<int>(args.size()) < row.min_operands || static_cast<int>(args.size()) > row.max_operands)
    return bad_input(site.name() + " takes " + std::to_string(row.min_operands) +
                     (row.max_operands == row.min_operands ? "" : " to " + std::to_string(row.max_operands)) +
                     " operands, not " + std::to_string(args.size()));
  for (NodeId arg : args)
    if (arg < 0 || arg >= static_cast<NodeId>(graph.nodes.size()))
      return bad_input(site.name() + ": an operand does not exist");
  const InferenceRule& rule = rules.rows[op];
  if (attr.index() != rule.attr) return bad_input(site.name() + ": it has an attribute of another op");
  KW_CHECK(known_axes(site));
  if (op == Op::Input && (std::get<InputRef>(attr).index < 0 ||
                          std::get<InputRef>(attr).index >= static_cast<int32_t>(graph.inputs.size())))
    return bad_input("an input of the interface does not exist");
  KW_TRY(Axes axes, rule.shape(site));
  KW_TRY(Type type, rule.type(site));
  return Inferred{std::move(axes), type};
}

Status check(const Graph& graph) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (NodeId arg : node.args)
      if (arg >= static_cast<NodeId>(i)) return bad_input("a node stands before its operand");
    KW_TRY(Inferred inferred, infer(graph, node.op, node.args, node.attr));
    if (inferred.axes != node.axes || !(inferred.type == node.type))
      return bad_input(std::string(info(node.op).name) + ": the node's axes or type are not what its operands give");
  }
  for (const Output& output : graph.outputs) {
    if (output.node < 0 || output.node >= static_cast<NodeId>(graph.nodes.size()))
      return bad_input("the output " + output.name + " has no value");
    Axes axes;
    for (AxisId a : output.dims)
      if (a != kUnit) axes.push_back(a);
    std::sort(axes.begin(), axes.end());
    if (axes != graph[output.node].axes)
      return bad_input("the output " + output.name + " does not list exactly its value's axes");
  }
  return {};
}

Status check_sizes(const Graph& graph, const std::function<std::optional<int64_t>(SymbolId)>& value_of) {
  Graph bound;
  for (size_t i = 0; i < graph.symbols.size(); ++i)
    bound.symbols.push_back({graph.symbols[i].name, value_of(static_cast<SymbolId>(i))});
  bound.axes = graph.axes;
  bound.inputs = graph.inputs;
  for (const Axis& axis : graph.axes) {
    std::optional<int64_t> n = bound.hinted(axis.size);
    if (n && *n < 0) return bad_input("the axis " + axis.name + " would have the size " + std::to_string(*n));
  }
  for (const SizeConstraint& c : graph.constraints) {
    std::optional<int64_t> left = bound.hinted(c.left), right = bound.hinted(c.right);
    if (!left || !right) continue;
    bool equal = c.kind == SizeConstraint::Kind::Equal;
    if (equal ? *left != *right : (*right == 0 || *left % *right != 0))
      return bad_input("the sizes do not fit: " + graph.size_text(c.left) +
                       (equal ? " must equal " : " must be a multiple of ") + graph.size_text(c.right) +
                       ", but they are " + std::to_string(*left) + " and " + std::to_string(*right));
  }
  bound.nodes.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    KW_CHECK(infer(bound, node.op, node.args, node.attr));
    bound.nodes.push_back(node);
  }
  return {};
}

}  // namespace kw::ir
