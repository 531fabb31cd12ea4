// The rewrite table. Every rule keeps each rounding where it was: signs and powers of two are exact, a widening cast is
// exact.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ir/simplify/rule.h"

namespace kw::ir {
namespace {

bool is_boolean(const Graph& graph, NodeId node) { return graph[node].type.boolean(); }
bool is_floating_value(const Graph& graph, NodeId node) { return graph[node].type.floating(); }

const Literal* literal(Rewriter& r, NodeId id) {
  const Node& node = r[id];
  return node.op == Op::Const ? &node.as<Literal>() : nullptr;
}

// ---- constants: Python's own arithmetic on its numbers -------------------------------------------------------------
std::optional<double> fold_real(Op op, double a, double b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return b == 0 ? std::nullopt : std::optional(a / b);
    case Op::Pow:
      return a > 0 || b == std::trunc(b) ? std::optional(std::pow(a, b)) : std::nullopt;
    case Op::Max:
      return std::max(a, b);
    case Op::Min:
      return std::min(a, b);
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> fold_integer(Op op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case Op::Add:
      return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case Op::Sub:
      return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case Op::Mul:
      return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case Op::Max:
      return std::max(a, b);
    case Op::Min:
      return std::min(a, b);
    default:
      return std::nullopt;
  }
}

std::optional<NodeId> fold_binary(Rewriter& r, NodeId id) {
  Node node = r[id];
  const Literal *a = literal(r, node.args[0]), *b = literal(r, node.args[1]);
  if (!a || !b || a->value.index() == 0 || b->value.index() == 0) return std::nullopt;
  if (a->value.index() == 1 && b->value.index() == 1 && node.op != Op::Div && node.op != Op::Pow) {
    if (auto v = fold_integer(node.op, std::get<int64_t>(a->value), std::get<int64_t>(b->value)))
      return r.make(Op::Const, {}, Literal{*v});
    return std::nullopt;
  }
  if (!(node.type == Type(DType::Real))) return std::nullopt;
  if (auto v = fold_real(node.op, a->number(), b->number())) return r.make(Op::Const, {}, Literal{*v});
  return std::nullopt;
}

std::optional<NodeId> fold_unary(Rewriter& r, NodeId id) {
  Node node = r[id];
  const Literal* a = literal(r, node.args[0]);
  if (!a || a->value.index() == 0) return std::nullopt;
  if (const int64_t* i = std::get_if<int64_t>(&a->value); i && node.op == Op::Neg && *i != INT64_MIN)
    return r.make(Op::Const, {}, Literal{-*i});
  double x = a->number();
  if (node.op == Op::Neg && a->value.index() == 2) return r.make(Op::Const, {}, Literal{-x});
  if (node.op == Op::Sqrt && x >= 0) return r.make(Op::Const, {}, Literal{std::sqrt(x)});
  if (node.op == Op::Exp) return r.make(Op::Const, {}, Literal{std::exp(x)});
  if (node.op == Op::Log && x > 0) return r.make(Op::Const, {}, Literal{std::log(x)});
  return std::nullopt;
}

// A size that is a number, and arithmetic of sizes.
std::optional<NodeId> fold_size(Rewriter& r, NodeId id) {
  Node node = r[id];
  if (auto n = node.as<SizeAttr>().size.constant()) return r.make(Op::Const, {}, Literal{*n});
  return std::nullopt;
}

std::optional<Size> integer_size(Rewriter& r, NodeId id) {
  const Node& node = r[id];
  if (node.op == Op::SizeOf) return node.as<SizeAttr>().size;
  if (node.op == Op::Const)
    if (const int64_t* i = std::get_if<int64_t>(&node.as<Literal>().value)) return Size(*i);
  return std::nullopt;
}

std::optional<NodeId> fold_size_arithmetic(Rewriter& r, NodeId id) {
  Node node = r[id];
  std::optional<Size> a = integer_size(r, node.args[0]), b = integer_size(r, node.args[1]);
  if (!a || !b) return std::nullopt;
  if (node.op == Op::Add) return r.make(Op::SizeOf, {}, SizeAttr{*a + *b});
  if (node.op == Op::Sub) return r.make(Op::SizeOf, {}, SizeAttr{*a - *b});
  if (node.op == Op::Mul) return r.make(Op::SizeOf, {}, SizeAttr{*a * *b});
  if (node.op == Op::FloorDiv && b->constant().value_or(0) > 0)
    return r.make(Op::SizeOf, {}, SizeAttr{floor_div(*a, *b)});
  return std::nullopt;
}

// ---- casts ----------------------------------------------------------------------------------------------------------
// Every value of type `narrow` is a value of type `wide`.
bool holds_exactly(Type wide, Type narrow) {
  if (narrow.weak() || wide.weak()) return false;
  if (narrow.floating() && wide.floating()) return promote(narrow, wide) == wide;
  if (narrow.boolean()) return !wide.boolean();
  return narrow.integer() && wide.integer() && promote(narrow, wide) == wide;
}

std::optional<NodeId> cast_of_same_type(Rewriter& r, NodeId id) {
  Node node = r[id];
  if (r[node.args[0]].type == node.as<CastAttr>().type) return node.args[0];
  return std::nullopt;
}

std::optional<NodeId> cast_through_wider(Rewriter& r, NodeId id) {
  Node node = r[id];
  const Node& inner = r[node.args[0]];
  if (inner.op != Op::Cast || !holds_exactly(inner.type, r[inner.args[0]].type)) return std::nullopt;
  NodeId source = inner.args[0];
  return r[source].type == node.type ? source : r.make(Op::Cast, {source}, CastAttr{node.type});
}

// A promotion that widens is written out, so that x * rstd and x.float() * rstd are the same math to every later stage.
// Promotions among type parameters (T with W) stay implied: which of them widens is not known yet.
std::optional<NodeId> explicit_widening(Rewriter& r, NodeId id) {
  Node node = r[id];
  if (!node.type.floating() || node.type.weak() || node.type.floor() == DType::None) return std::nullopt;
  std::vector<NodeId> args = node.args;
  for (size_t i = node.op == Op::Select ? 1 : 0; i < args.size(); ++i) {
    Type type = r[args[i]].type;
    if (type.floating() && !(type == node.type) && holds_exactly(node.type, type))
      args[i] = r.make(Op::Cast, {args[i]}, CastAttr{node.type});
  }
  return args == node.args ? std::nullopt : std::optional(r.make(node.op, std::move(args), node.attr));
}

// ---- select ----
std::optional<NodeId> select_known(Rewriter& r, NodeId id) {
  Node node = r[id];
  if (const Literal* c = literal(r, node.args[0])) return c->number() != 0 ? node.args[1] : node.args[2];
  if (node.args[1] == node.args[2]) return node.args[1];
  return std::nullopt;
}

// ---- views ----------------------------------------------------------------------------------------------------------
std::optional<NodeId> rename_of_rename(Rewriter& r, NodeId id) {
  Node node = r[id];
  Node inner = r[node.args[0]];
  if (inner.op != Op::Rename) return std::nullopt;
  std::vector<std::pair<AxisId, AxisId>> pairs = inner.as<RenameAttr>().pairs;
  for (auto [from, to] : node.as<RenameAttr>().pairs) {
    bool found = false;
    for (auto& p : pairs)
      if (p.second == from) {
        p.second = to;
        found = true;
        break;
      }
    if (!found) pairs.emplace_back(from, to);
  }
  return r.builder().rename(inner.args[0], std::move(pairs));
}

std::optional<NodeId> rename_of_broadcast(Rewriter& r, NodeId id) {
  Node node = r[id];
  Node inner = r[node.args[0]];
  if (inner.op != Op::Broadcast) return std::nullopt;
  std::vector<AxisId> added = inner.as<AxisList>().axes;
  std::vector<std::pair<AxisId, AxisId>> rest;
  for (auto [from, to] : node.as<RenameAttr>().pairs) {
    auto at = std::find(added.begin(), added.end(), from);
    if (at == added.end()) rest.emplace_back(from, to);
  }
  for (AxisId& a : added)
    for (auto [from, to] : node.as<RenameAttr>().pairs)
      if (a == from) {
        a = to;
        break;
      }
  NodeId source = r.builder().rename(inner.args[0], std::move(rest));
  for (AxisId a : added)  // a simultaneous swap can leave the source with an axis that is to be added
    if (std::binary_search(r[source].axes.begin(), r[source].axes.end(), a)) return std::nullopt;
  return r.builder().broadcast(source, std::move(added));
}

std::optional<NodeId> broadcast_of_broadcast(Rewriter& r, NodeId id) {
  Node node = r[id];
  Node inner = r[node.args[0]];
  if (inner.op != Op::Broadcast) return std::nullopt;
  std::vector<AxisId> axes = inner.as<AxisList>().axes;
  axes.insert(axes.end(), node.as<AxisList>().axes.begin(), node.as<AxisList>().axes.end());
  return r.builder().broadcast(inner.args[0], std::move(axes));
}

// A pointwise op broadcasts by itself: an operand need not, if another operand has the axes already.
std::optional<NodeId> broadcast_operand(Rewriter& r, NodeId id) {
  Node node = r[id];
  for (size_t i = 0; i < node.args.size(); ++i) {
    const Node& arg = r[node.args[i]];
    if (arg.op != Op::Broadcast) continue;
    std::vector<NodeId> args = node.args;
    args[i] = arg.args[0];
    std::vector<AxisId> axes;
    for (NodeId a : args) axes.insert(axes.end(), r[a].axes.begin(), r[a].axes.end());
    bool covered = std::all_of(node.axes.begin(), node.axes.end(),
                               [&](AxisId a) { return std::find(axes.begin(), axes.end(), a) != axes.end(); });
    if (covered) return r.make(node.op, std::move(args), node.attr);
  }
  return std::nullopt;
}

// f(broadcast x) is broadcast f(x).
std::optional<NodeId> broadcast_outward(Rewriter& r, NodeId id) {
  Node node = r[id];
  Node inner = r[node.args[0]];
  if (inner.op != Op::Broadcast) return std::nullopt;
  NodeId value = r.make(node.op, {inner.args[0]}, node.attr);
  return r.builder().broadcast(value, inner.as<AxisList>().axes);
}

std::optional<NodeId> split_of_merge(Rewriter& r, NodeId id) {
  Node node = r[id];
  Node inner = r[node.args[0]];
  Op opposite = node.op == Op::Split ? Op::Merge : Op::Split;
  if (inner.op != opposite) return std::nullopt;
  const SplitAttr &a = node.as<SplitAttr>(), &b = inner.as<SplitAttr>();
  const Graph& g = r.builder().graph();
  if (node.op == Op::Split) {
    if (a.whole != b.whole || !(g.axis(a.inner).size == g.axis(b.inner).size)) return std::nullopt;
    return r.builder().rename(inner.args[0], {{b.outer, a.outer}, {b.inner, a.inner}});
  }
  if (a.outer != b.outer || a.inner != b.inner) return std::nullopt;
  return r.builder().rename(inner.args[0], {{b.whole, a.whole}});
}

// A slice of everything, a pad by nothing and a concatenation of one tensor only rename.
std::optional<NodeId> whole_slice(Rewriter& r, NodeId id) {
  Node node = r[id];
  const SliceAttr& a = node.as<SliceAttr>();
  const Graph& g = r.builder().graph();
  if (a.step != 1 || !(a.start == Size(0)) || !(g.axis(a.from).size == g.axis(a.to).size)) return std::nullopt;
  return r.builder().rename(node.args[0], {{a.from, a.to}});
}

std::optional<NodeId> slice_of_slice(Rewriter& r, NodeId id) {
  Node node = r[id];
  Node inner = r[node.args[0]];
  if (inner.op != Op::Slice) return std::nullopt;
  const SliceAttr &outer = node.as<SliceAttr>(), &first = inner.as<SliceAttr>();
  if (outer.from != first.to) return std::nullopt;
  return r.make(Op::Slice, {inner.args[0]},
                SliceAttr{first.from, outer.to, first.start + outer.start * Size(first.step), first.step * outer.step});
}

std::optional<NodeId> concat_of_one(Rewriter& r, NodeId id) {
  Node node = r[id];
  if (node.args.size() != 1) return std::nullopt;
  return r.builder().rename(node.args[0], {{node.as<ConcatAttr>().from[0], node.as<ConcatAttr>().to}});
}

// ---- reductions -----------------------------------------------------------------------------------------------------
// The reduced part of a broadcast is constant along it: its mean, maximum and minimum are itself.
std::optional<NodeId> reduce_of_broadcast(Rewriter& r, NodeId id) {
  Node node = r[id];
  Node inner = r[node.args[0]];
  if (inner.op != Op::Broadcast) return std::nullopt;
  std::vector<AxisId> reduced = node.as<AxisList>().axes, kept;
  for (AxisId a : inner.as<AxisList>().axes)
    if (std::erase(reduced, a) == 0) kept.push_back(a);
  if (kept.size() == inner.as<AxisList>().axes.size()) return std::nullopt;
  const Graph& g = r.builder().graph();
  for (AxisId a : inner.as<AxisList>().axes)  // an empty axis has no mean, and any may be empty whose size is not known
    if (std::find(kept.begin(), kept.end(), a) == kept.end() && g.axis(a).size.constant().value_or(0) == 0)
      return std::nullopt;
  NodeId value = reduced.empty() ? inner.args[0] : r.make(node.op, {inner.args[0]}, AxisList{reduced});
  return r.builder().broadcast(value, kept);
}

// max(max(x, a), b) is max(x, a b): no rounding lies between them.
std::optional<NodeId> reduce_of_reduce(Rewriter& r, NodeId id) {
  Node node = r[id];
  Node inner = r[node.args[0]];
  if (inner.op != node.op) return std::nullopt;
  std::vector<AxisId> axes = inner.as<AxisList>().axes;
  axes.insert(axes.end(), node.as<AxisList>().axes.begin(), node.as<AxisList>().axes.end());
  std::sort(axes.begin(), axes.end());
  return r.make(node.op, {inner.args[0]}, AxisList{std::move(axes)});
}

// What a Rename feeds is reduced away: reduce the original axis.
std::optional<NodeId> reduce_of_rename(Rewriter& r, NodeId id) {
  Node node = r[id];
  Node inner = r[node.args[0]];
  if (inner.op != Op::Rename) return std::nullopt;
  std::vector<AxisId> reduced = node.as<AxisList>().axes;
  std::vector<std::pair<AxisId, AxisId>> rest;
  for (auto [from, to] : inner.as<RenameAttr>().pairs) {
    auto at = std::find(reduced.begin(), reduced.end(), to);
    if (at == reduced.end())
      rest.emplace_back(from, to);
    else
      *at = from;
  }
  if (rest.size() == inner.as<RenameAttr>().pairs.size()) return std::nullopt;
  std::sort(reduced.begin(), reduced.end());
  if (std::adjacent_find(reduced.begin(), reduced.end()) != reduced.end()) return std::nullopt;
  return r.builder().rename(r.make(node.op, {inner.args[0]}, AxisList{reduced}), std::move(rest));
}

#define KW_NATIVE(name, op, function) \
  { name, "", "", nullptr, Op::op, function }
constexpr Rule kRules[] = {
    // numbers
    KW_NATIVE("fold-add", Add, fold_binary),
    KW_NATIVE("fold-sub", Sub, fold_binary),
    KW_NATIVE("fold-mul", Mul, fold_binary),
    KW_NATIVE("fold-div", Div, fold_binary),
    KW_NATIVE("fold-pow", Pow, fold_binary),
    KW_NATIVE("fold-max", Max, fold_binary),
    KW_NATIVE("fold-min", Min, fold_binary),
    KW_NATIVE("fold-neg", Neg, fold_unary),
    KW_NATIVE("fold-sqrt", Sqrt, fold_unary),
    KW_NATIVE("fold-exp", Exp, fold_unary),
    KW_NATIVE("fold-log", Log, fold_unary),
    KW_NATIVE("fold-size", SizeOf, fold_size),
    KW_NATIVE("size-add", Add, fold_size_arithmetic),
    KW_NATIVE("size-sub", Sub, fold_size_arithmetic),
    KW_NATIVE("size-mul", Mul, fold_size_arithmetic),
    KW_NATIVE("size-div", FloorDiv, fold_size_arithmetic),
    // sums and products
    {"add-zero", "add(x, 0)", "x"},
    {"sub-zero", "sub(x, 0)", "x"},
    {"zero-sub", "sub(0, x)", "neg(x)"},
    {"add-same", "add(x, x)", "mul(2, x)"},
    {"mul-one", "mul(x, 1)", "x"},
    {"div-one", "div(x, 1)", "x"},
    {"mul-minus-one", "mul(x, -1)", "neg(x)"},
    {"neg-neg", "neg(neg(x))", "x"},
    {"add-neg", "add(x, neg(y))", "sub(x, y)"},
    {"sub-neg", "sub(x, neg(y))", "add(x, y)"},
    {"neg-sub", "neg(sub(x, y))", "sub(y, x)", is_floating_value},
    {"mul-neg", "mul(neg(x), y)", "neg(mul(x, y))"},
    {"div-neg", "div(neg(x), y)", "neg(div(x, y))"},
    {"div-by-neg", "div(x, neg(y))", "neg(div(x, y))"},
    {"abs-neg", "abs(neg(x))", "abs(x)"},
    {"abs-abs", "abs(abs(x))", "abs(x)"},
    // powers: PyTorch computes these exponents by exactly these operations
    {"pow-one", "pow(x, 1)", "x"},
    {"pow-two", "pow(x, 2)", "mul(x, x)"},
    {"pow-half", "pow(x, 0.5)", "sqrt(x)"},
    {"pow-minus-half", "pow(x, -0.5)", "rsqrt(x)"},
    {"pow-minus-one", "pow(x, -1)", "div(1, x)"},
    // order and logic
    {"max-same", "max(x, x)", "x"},
    {"min-same", "min(x, x)", "x"},
    {"and-same", "and(x, x)", "x"},
    {"or-same", "or(x, x)", "x"},
    {"not-not", "not(not(x))", "x"},
    {"and-true", "and(x, true)", "x"},
    {"and-false", "and(x, false)", "false", is_boolean},
    {"or-false", "or(x, false)", "x"},
    {"or-true", "or(x, true)", "true", is_boolean},
    {"ne-zero-of-bool", "ne(x, false)", "x"},
    {"eq-not", "eq(x, false)", "not(x)"},
    KW_NATIVE("select-known", Select, select_known),
    {"select-not", "select(not(x), y, z)", "select(x, z, y)"},
    {"stop-stop", "stop_gradient(stop_gradient(x))", "stop_gradient(x)"},
    // casts
    KW_NATIVE("cast-same", Cast, cast_of_same_type),
    KW_NATIVE("cast-through-wider", Cast, cast_through_wider),
    KW_NATIVE("widen-add", Add, explicit_widening),
    KW_NATIVE("widen-sub", Sub, explicit_widening),
    KW_NATIVE("widen-mul", Mul, explicit_widening),
    KW_NATIVE("widen-div", Div, explicit_widening),
    KW_NATIVE("widen-pow", Pow, explicit_widening),
    KW_NATIVE("widen-max", Max, explicit_widening),
    KW_NATIVE("widen-min", Min, explicit_widening),
    KW_NATIVE("widen-select", Select, explicit_widening),
    // views
    KW_NATIVE("rename-rename", Rename, rename_of_rename),
    KW_NATIVE("rename-broadcast", Rename, rename_of_broadcast),
    KW_NATIVE("broadcast-broadcast", Broadcast, broadcast_of_broadcast),
    KW_NATIVE("broadcast-add", Add, broadcast_operand),
    KW_NATIVE("broadcast-sub", Sub, broadcast_operand),
    KW_NATIVE("broadcast-mul", Mul, broadcast_operand),
    KW_NATIVE("broadcast-div", Div, broadcast_operand),
    KW_NATIVE("broadcast-max", Max, broadcast_operand),
    KW_NATIVE("broadcast-min", Min, broadcast_operand),
    KW_NATIVE("broadcast-select", Select, broadcast_operand),
    KW_NATIVE("broadcast-lt", Lt, broadcast_operand),
    KW_NATIVE("broadcast-le", Le, broadcast_operand),
    KW_NATIVE("broadcast-eq", Eq, broadcast_operand),
    KW_NATIVE("broadcast-ne", Ne, broadcast_operand),
    KW_NATIVE("broadcast-cast", Cast, broadcast_outward),
    KW_NATIVE("broadcast-neg", Neg, broadcast_outward),
    KW_NATIVE("split-merge", Split, split_of_merge),
    KW_NATIVE("merge-split", Merge, split_of_merge),
    KW_NATIVE("slice-whole", Slice, whole_slice),
    KW_NATIVE("pad-nothing", Pad, whole_slice),
    KW_NATIVE("slice-slice", Slice, slice_of_slice),
    KW_NATIVE("concat-one", Concat, concat_of_one),
    // reductions
    KW_NATIVE("mean-broadcast", Mean, reduce_of_broadcast),
    KW_NATIVE("max-broadcast", ReduceMax, reduce_of_broadcast),
    KW_NATIVE("min-broadcast", ReduceMin, reduce_of_broadcast),
    KW_NATIVE("max-max", ReduceMax, reduce_of_reduce),
    KW_NATIVE("min-min", ReduceMin, reduce_of_reduce),
    KW_NATIVE("any-any", Any, reduce_of_reduce),
    KW_NATIVE("all-all", All, reduce_of_reduce),
    KW_NATIVE("sum-rename", Sum, reduce_of_rename),
    KW_NATIVE("mean-rename", Mean, reduce_of_rename),
    KW_NATIVE("max-rename", ReduceMax, reduce_of_rename),
};
#undef KW_NATIVE

}  // namespace

std::span<const Rule> rewrite_rules() { return kRules; }

}  // namespace kw::ir
