// Python's operators: on tensors they are PyTorch's operations, on numbers they follow Python. Sizes stay symbolic as
// long as they can; a number of the interface becomes weak arithmetic in the graph.
#include <cmath>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"

namespace kw::understand {
namespace {

using ir::Op;
using ir::Size;

enum class Arithmetic { Add, Sub, Mul, TrueDiv, FloorDiv, Mod, Pow };

struct ArithmeticInfo {
  std::string_view torch;  // the operation on tensors
  Op op;
};
constexpr ArithmeticInfo kArithmetic[] = {
    {"torch.add", Op::Add},
    {"torch.sub", Op::Sub},
    {"torch.mul", Op::Mul},
    {"torch.div", Op::Div},
    {"torch.floor_divide", Op::FloorDiv},
    {"torch.remainder", Op::Mod},
    {"torch.pow", Op::Pow},
};

// int ∘ int where Python gives an int and sizes can say it.
std::optional<Size> on_sizes(Arithmetic kind, const Size& a, const Size& b) {
  switch (kind) {
    case Arithmetic::Add:
      return a + b;
    case Arithmetic::Sub:
      return a - b;
    case Arithmetic::Mul:
      return a * b;
    case Arithmetic::FloorDiv:
      return b == Size(0) ? std::nullopt : std::optional<Size>(floor_div(a, b));
    case Arithmetic::Mod:
      return b == Size(0) ? std::nullopt : std::optional<Size>(modulo(a, b));
    case Arithmetic::TrueDiv:
      return std::nullopt;
    case Arithmetic::Pow: {
      auto exponent = b.constant();
      if (!exponent || *exponent < 0 || *exponent > 62) return std::nullopt;
      Size out(1);
      for (int64_t i = 0; i < *exponent; ++i) out = out * a;
      return out;
    }
  }
  return std::nullopt;
}

double on_numbers(Arithmetic kind, double a, double b) {
  switch (kind) {
    case Arithmetic::Add:
      return a + b;
    case Arithmetic::Sub:
      return a - b;
    case Arithmetic::Mul:
      return a * b;
    case Arithmetic::TrueDiv:
      return a / b;
    case Arithmetic::FloorDiv:
      return std::floor(a / b);
    case Arithmetic::Mod:
      return a - b * std::floor(a / b);
    case Arithmetic::Pow:
      return std::pow(a, b);
  }
  return 0;
}

// True numbers count as ints.
std::optional<Size> as_int(const Value& value) {
  if (const auto* s = value.get<Size>()) return *s;
  if (const auto* b = value.get<bool>()) return Size(*b ? 1 : 0);
  return std::nullopt;
}

bool is_literal(const Value& value) {
  if (const auto* s = value.get<Size>()) return s->constant().has_value();
  return value.get<double>() || value.get<bool>();
}

// A number divided by a tensor is Tensor.__rtruediv__: the reciprocal rounds, and so does its product with the number.
Result<Value> divide_number(Call& call, const Value& number, const Value& tensor) {
  KW_TRY(Value reciprocal, call_torch(call.context, "torch.reciprocal", {{tensor}, {}}));
  if (is_literal(number) && known_number(call.builder.graph(), number) == 1.0) return reciprocal;
  return call_torch(call.context, "torch.mul", {{reciprocal, number}, {}});
}

template <Arithmetic kind>
Result<Value> arithmetic(Call& call) {
  const Value& a = call["input"];
  const Value& b = call["other"];
  constexpr const ArithmeticInfo& info = kArithmetic[static_cast<size_t>(kind)];
  if (kind == Arithmetic::TrueDiv && b.is_tensor() && is_number(a)) return divide_number(call, a, b);
  if (a.is_tensor() || b.is_tensor()) return call_torch(call.context, info.torch, {{a, b}, {}});
  if (!is_number(a) || !is_number(b))
    return call.refuse("is not defined on " + describe(a, call.builder.graph()) + " and " +
                       describe(b, call.builder.graph()));
  auto x = as_int(a), y = as_int(b);
  const bool divides = kind == Arithmetic::TrueDiv || kind == Arithmetic::FloorDiv || kind == Arithmetic::Mod;
  auto divisor = known_number(call.builder.graph(), b);
  if (divides && divisor == 0.0) return call.refuse("divides by zero");
  if (x && y)
    if (auto size = on_sizes(kind, *x, *y)) return Value{*size};
  auto left = known_number(call.builder.graph(), a), right = divisor;
  std::optional<double> known;
  if (left && right) known = on_numbers(kind, *left, *right);
  if (is_literal(a) && is_literal(b)) return Value{*known};
  TensorValue p = *as_operand(call.builder, a), q = *as_operand(call.builder, b);
  KW_TRY(ir::NodeId node, call.builder.try_make(info.op, {p.node, q.node}));
  return Value{ScalarValue{node, known}};
}

enum class Comparison { Lt, Le, Gt, Ge, Eq, Ne };
constexpr std::string_view kComparisons[] = {"torch.lt", "torch.le", "torch.gt", "torch.ge", "torch.eq", "torch.ne"};

bool compare_numbers(Comparison kind, double a, double b) {
  switch (kind) {
    case Comparison::Lt:
      return a < b;
    case Comparison::Le:
      return a <= b;
    case Comparison::Gt:
      return a > b;
    case Comparison::Ge:
      return a >= b;
    case Comparison::Eq:
      return a == b;
    case Comparison::Ne:
      return a != b;
  }
  return false;
}

// Of numbers: what is not the same for every size is decided at the user's own shape.
template <Comparison kind>
Result<Value> comparison(Call& call) {
  const Value& a = call["input"];
  const Value& b = call["other"];
  const ir::Graph& graph = call.builder.graph();
  constexpr bool equality = kind == Comparison::Eq || kind == Comparison::Ne;
  if (a.is_tensor() || b.is_tensor()) {
    if (equality && (a.is_none() || b.is_none())) return Value{kind == Comparison::Ne};
    return call_torch(call.context, kComparisons[static_cast<size_t>(kind)], {{a, b}, {}});
  }
  if (const auto* s = a.get<std::string>(), *t = b.get<std::string>(); s && t && equality)
    return Value{(*s == *t) == (kind == Comparison::Eq)};
  if (const auto* s = a.get<DTypeValue>(), *t = b.get<DTypeValue>(); s && t && equality)
    return Value{(s->type == t->type) == (kind == Comparison::Eq)};
  if (equality && (a.is_none() || b.is_none())) return Value{(a.is_none() && b.is_none()) == (kind == Comparison::Eq)};
  if (!is_number(a) || !is_number(b))
    return call.refuse("cannot compare " + describe(a, graph) + " and " + describe(b, graph));
  auto x = as_int(a), y = as_int(b);
  if (x && y && *x == *y) return Value{compare_numbers(kind, 0, 0)};
  auto left = known_number(graph, a), right = known_number(graph, b);
  if (!left || !right) return call.refuse("depends on a value that is not known while reading");
  bool decided = compare_numbers(kind, *left, *right);
  if (!is_literal(a) || !is_literal(b))
    call.context.assumptions.push_back(describe(a, graph) + " compared with " + describe(b, graph) + ": decided as " +
                                       (decided ? "true" : "false") + " at the given sizes and values");
  return Value{decided};
}

Result<Value> negative(Call& call) {
  const Value& x = call["input"];
  if (x.is_tensor()) return call_torch(call.context, "torch.neg", {{x}, {}});
  if (auto s = as_int(x)) return Value{Size(0) - *s};
  if (const auto* d = x.get<double>()) return Value{-*d};
  if (const auto* v = x.get<ScalarValue>()) {
    auto known = v->known ? std::optional<double>(-*v->known) : std::nullopt;
    return Value{ScalarValue{call.make(Op::Neg, {v->node}), known}};
  }
  return call.refuse("is not defined on " + describe(x, call.builder.graph()));
}

Result<Value> positive(Call& call) { return call["input"]; }

Result<Value> invert(Call& call) {
  const Value& x = call["input"];
  if (x.is_tensor()) return call_torch(call.context, "torch.bitwise_not", {{x}, {}});
  if (auto s = as_int(x)) return Value{Size(-1) - *s};
  return call.refuse("is not defined on " + describe(x, call.builder.graph()));
}

// &, |, ^, <<, >> on tensors; on ints that are known.
enum class Bits { And, Or, Xor, Left, Right };
constexpr std::string_view kBits[] = {"torch.bitwise_and", "torch.bitwise_or", "torch.bitwise_xor",
                                      "torch.bitwise_left_shift", "torch.bitwise_right_shift"};
template <Bits kind>
Result<Value> bits(Call& call) {
  const Value& a = call["input"];
  const Value& b = call["other"];
  if (a.is_tensor() || b.is_tensor()) return call_torch(call.context, kBits[static_cast<size_t>(kind)], {{a, b}, {}});
  auto x = as_int(a), y = as_int(b);
  if (!x || !y || !x->constant() || !y->constant())
    return call.refuse("is not defined on " + describe(a, call.builder.graph()) + " and " +
                       describe(b, call.builder.graph()));
  int64_t p = *x->constant(), q = *y->constant();
  bool is_bool = a.get<bool>() && b.get<bool>();
  int64_t out = 0;
  switch (kind) {
    case Bits::And:
      out = p & q;
      break;
    case Bits::Or:
      out = p | q;
      break;
    case Bits::Xor:
      out = p ^ q;
      break;
    case Bits::Left:
      if (q < 0 || q > 62 || std::abs(p) > (int64_t{1} << (62 - q))) return call.refuse("shifts too far");
      return Value{Size(p * (int64_t{1} << q))};
    case Bits::Right:
      if (q < 0) return call.refuse("shifts too far");
      return Value{Size(p >> std::min<int64_t>(q, 63))};
  }
  if (is_bool) return Value{out != 0};
  return Value{Size(out)};
}

Result<Value> absolute_value(Call& call) {
  const Value& x = call["input"];
  if (x.is_tensor()) return call_torch(call.context, "torch.abs", {{x}, {}});
  if (auto s = as_int(x)) {
    auto hint = call.builder.graph().hinted(*s);
    if (hint) return Value{*hint < 0 ? Size(0) - *s : *s};
  }
  if (const auto* d = x.get<double>()) return Value{std::abs(*d)};
  if (const auto* v = x.get<ScalarValue>()) {
    auto known = v->known ? std::optional<double>(std::abs(*v->known)) : std::nullopt;
    return Value{ScalarValue{call.make(Op::Abs, {v->node}), known}};
  }
  return call.refuse("is not defined on " + describe(x, call.builder.graph()));
}

// ---- the math module, on numbers ----
template <Op op, double (*function)(double)>
Result<Value> math_function(Call& call) {
  const Value& x = call["input"];
  if (!is_number(x)) return call.wrong("input", "a number");
  auto known = known_number(call.builder.graph(), x);
  if (known) known = function(*known);
  if (known && std::isnan(*known)) return call.refuse("is not defined on " + describe(x, call.builder.graph()));
  if (is_literal(x)) return Value{*known};
  return Value{ScalarValue{call.make(op, {as_operand(call.builder, x)->node}), known}};
}

double inverse_root(double x) { return 1.0 / std::sqrt(x); }

template <bool up>
Result<Value> math_rounding(Call& call) {
  const Value& x = call["input"];
  if (auto s = as_int(x)) return Value{*s};
  if (const auto* d = x.get<double>()) return Value{Size(static_cast<int64_t>(up ? std::ceil(*d) : std::floor(*d)))};
  return call.wrong("input", "a number that is known while reading");
}

Result<Value> math_power(Call& call) {
  const Value& a = call["input"];
  const Value& b = call["other"];
  auto x = known_number(call.builder.graph(), a), y = known_number(call.builder.graph(), b);
  if (!is_literal(a) || !is_literal(b)) return arithmetic<Arithmetic::Pow>(call);
  return Value{std::pow(*x, *y)};
}

Result<Value> math_log(Call& call) {
  const Value& x = call["input"];
  if (!call.given("base")) return math_function<Op::Log, std::log>(call);
  auto a = known_number(call.builder.graph(), x), b = known_number(call.builder.graph(), call["base"]);
  if (!is_literal(x) || !is_literal(call["base"]) || !a || !b) return call.refuse("with a base needs known numbers");
  return Value{std::log(*a) / std::log(*b)};
}

constexpr std::string_view kTwo = "input, other";

constexpr Entry kEntries[] = {
    {"add", kOperator, kTwo, arithmetic<Arithmetic::Add>},
    {"sub", kOperator, kTwo, arithmetic<Arithmetic::Sub>},
    {"mul", kOperator, kTwo, arithmetic<Arithmetic::Mul>},
    {"truediv", kOperator, kTwo, arithmetic<Arithmetic::TrueDiv>},
    {"floordiv", kOperator, kTwo, arithmetic<Arithmetic::FloorDiv>},
    {"mod", kOperator, kTwo, arithmetic<Arithmetic::Mod>},
    {"pow", kOperator, kTwo, arithmetic<Arithmetic::Pow>},
    {"lt", kOperator, kTwo, comparison<Comparison::Lt>},
    {"le", kOperator, kTwo, comparison<Comparison::Le>},
    {"gt", kOperator, kTwo, comparison<Comparison::Gt>},
    {"ge", kOperator, kTwo, comparison<Comparison::Ge>},
    {"eq", kOperator, kTwo, comparison<Comparison::Eq>},
    {"ne", kOperator, kTwo, comparison<Comparison::Ne>},
    {"neg", kOperator, "input", negative},
    {"pos", kOperator, "input", positive},
    {"invert", kOperator, "input", invert},
    {"abs", kOperator, "input", absolute_value},
    {"and_", kOperator, kTwo, bits<Bits::And>},
    {"or_", kOperator, kTwo, bits<Bits::Or>},
    {"xor", kOperator, kTwo, bits<Bits::Xor>},
    {"lshift", kOperator, kTwo, bits<Bits::Left>},
    {"rshift", kOperator, kTwo, bits<Bits::Right>},
    {"sqrt", kMath, "input", math_function<Op::Sqrt, std::sqrt>},
    {"rsqrt", kMath, "input", math_function<Op::Rsqrt, inverse_root>},
    {"exp", kMath, "input", math_function<Op::Exp, std::exp>},
    {"log", kMath, "input, base=None", math_log},
    {"log2", kMath, "input", math_function<Op::Log2, std::log2>},
    {"log1p", kMath, "input", math_function<Op::Log1p, std::log1p>},
    {"sin", kMath, "input", math_function<Op::Sin, std::sin>},
    {"cos", kMath, "input", math_function<Op::Cos, std::cos>},
    {"tanh", kMath, "input", math_function<Op::Tanh, std::tanh>},
    {"erf", kMath, "input", math_function<Op::Erf, std::erf>},
    {"fabs", kMath, "input", math_function<Op::Abs, std::fabs>},
    {"floor", kMath, "input", math_rounding<false>},
    {"ceil", kMath, "input", math_rounding<true>},
    {"pow", kMath, kTwo, math_power},
};

}  // namespace

std::span<const Entry> operator_entries() { return kEntries; }

}  // namespace kw::understand
