// Python's operators on numbers, strings and sequences; on tensors they are PyTorch's.
#include <cmath>

#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

constexpr size_t kLongestList = 100'000;

struct OperatorName {
  BinaryOperator op;
  const char* symbol;
  const char* torch;
  const char* method;
};
constexpr OperatorName kBinary[] = {
    {BinaryOperator::Add, "+", "operator.add", "__add__"},
    {BinaryOperator::Sub, "-", "operator.sub", "__sub__"},
    {BinaryOperator::Mul, "*", "operator.mul", "__mul__"},
    {BinaryOperator::MatMul, "@", "operator.matmul", "__matmul__"},
    {BinaryOperator::Div, "/", "operator.truediv", "__truediv__"},
    {BinaryOperator::Mod, "%", "operator.mod", "__mod__"},
    {BinaryOperator::Pow, "**", "operator.pow", "__pow__"},
    {BinaryOperator::LeftShift, "<<", "operator.lshift", "__lshift__"},
    {BinaryOperator::RightShift, ">>", "operator.rshift", "__rshift__"},
    {BinaryOperator::BitOr, "|", "operator.or_", "__or__"},
    {BinaryOperator::BitXor, "^", "operator.xor", "__xor__"},
    {BinaryOperator::BitAnd, "&", "operator.and_", "__and__"},
    {BinaryOperator::FloorDiv, "//", "operator.floordiv", "__floordiv__"},
};

const OperatorName& name_of(BinaryOperator op) { return kBinary[static_cast<size_t>(op)]; }

std::optional<int64_t> floor_quotient(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::optional<int64_t> integer_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
    if (i > 64 && (result == 0 || result == 1 || result == -1)) return exponent % 2 == 0 ? result * result : result;
  }
  return result;
}

double float_modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace

std::optional<double> Interpreter::known_number(const Value& value) const {
  if (const auto number = as_known_number(value)) return number;
  if (const auto* scalar = value.get<ScalarValue>()) return scalar->known;
  if (const auto* size = value.get<ir::Size>()) {
    if (const auto hint = builder_.graph().hinted(*size)) return static_cast<double>(*hint);
  }
  return std::nullopt;
}

Result<ScalarValue> Interpreter::as_scalar(const Value& number) {
  if (const auto* scalar = number.get<ScalarValue>()) return *scalar;
  if (const auto* real = number.get<double>()) return ScalarValue{builder_.constant(*real), *real};
  if (const auto size = as_size(number)) {
    const auto known = known_number(number);
    if (const auto constant = size->constant()) return ScalarValue{builder_.integer(*constant), known};
    return ScalarValue{builder_.size_of(*size), known};
  }
  return refuse("expected a number, not " + type_name(number));
}

Result<Value> Interpreter::scalar_unary(ir::Op op, const Value& number, double (*known)(double)) {
  KW_TRY(const ScalarValue operand, as_scalar(number));
  builder_.set_origin(origin());
  KW_TRY(const ir::NodeId node, builder_.try_make(op, {operand.node}));
  return Value{ScalarValue{node, operand.known ? std::optional(known(*operand.known)) : std::nullopt}};
}

Result<Value> Interpreter::unary(UnaryOperator op, const Value& operand) {
  if (op == UnaryOperator::Not) {
    KW_TRY(const bool value, truth(operand));
    return Value{!value};
  }
  if (operand.is_tensor()) {
    const char* name = op == UnaryOperator::Minus    ? "operator.neg"
                       : op == UnaryOperator::Invert ? "operator.invert"
                                                     : "operator.pos";
    return torch_call(name, {{operand}, {}});
  }
  if (op == UnaryOperator::Invert) {
    const auto size = as_size(operand);
    if (size) return Value{ir::Size(-1) - *size};
  } else if (op == UnaryOperator::Plus) {
    if (as_size(operand)) return Value{*as_size(operand)};
    if (operand.get<double>() || operand.get<ScalarValue>()) return operand;
  } else {
    if (const auto size = as_size(operand)) return Value{ir::Size(0) - *size};
    if (const auto* real = operand.get<double>()) return Value{-*real};
    if (operand.get<ScalarValue>()) return scalar_unary(ir::Op::Neg, operand, [](double x) { return -x; });
  }
  return refuse("this operator is not read on " + type_name(operand));
}

Result<Value> Interpreter::size_binary(BinaryOperator op, const ir::Size& left, const ir::Size& right) {
  using enum BinaryOperator;
  const auto a = left.constant(), b = right.constant();
  if ((op == Div || op == FloorDiv || op == Mod) && b && *b == 0) return raise("ZeroDivisionError", "division by zero");
  if (a && b) {
    int64_t result = 0;
    bool overflow = false;
    switch (op) {
      case Add:
        overflow = __builtin_add_overflow(*a, *b, &result);
        break;
      case Sub:
        overflow = __builtin_sub_overflow(*a, *b, &result);
        break;
      case Mul:
        overflow = __builtin_mul_overflow(*a, *b, &result);
        break;
      case Div:
        return Value{static_cast<double>(*a) / static_cast<double>(*b)};
      case FloorDiv:
      case Mod: {
        const auto quotient = floor_quotient(*a, *b);
        overflow = !quotient;
        if (quotient) result = op == FloorDiv ? *quotient : *a - *quotient * *b;
        break;
      }
      case Pow: {
        if (*b < 0) return Value{std::pow(static_cast<double>(*a), static_cast<double>(*b))};
        const auto power = integer_power(*a, *b);
        overflow = !power;
        result = power.value_or(0);
        break;
      }
      case LeftShift:
        overflow = *b < 0 || *b > 62 || __builtin_mul_overflow(*a, int64_t{1} << *b, &result);
        break;
      case RightShift:
        overflow = *b < 0;
        if (!overflow) result = *a >> std::min<int64_t>(*b, 63);
        break;
      case BitOr:
        result = *a | *b;
        break;
      case BitXor:
        result = *a ^ *b;
        break;
      case BitAnd:
        result = *a & *b;
        break;
      case MatMul:
        return refuse("@ needs tensors");
    }
    if (overflow) return refuse("this integer does not fit into 64 bits");
    return int_value(result);
  }
  // What does not fit into 64 bits at the user's own shape fits nowhere.
  const auto hint_left = builder_.graph().hinted(left), hint_right = builder_.graph().hinted(right);
  int64_t ignored = 0;
  if (op == Mul && hint_left && hint_right && __builtin_mul_overflow(*hint_left, *hint_right, &ignored)) {
    return refuse("this integer does not fit into 64 bits");
  }
  switch (op) {
    case Add:
      return Value{left + right};
    case Sub:
      return Value{left - right};
    case Mul:
      return Value{left * right};
    case FloorDiv:
      return Value{floor_div(left, right)};
    case Mod:
      return Value{modulo(left, right)};
    case Div:
      return scalar_binary(op, Value{left}, Value{right});
    case Pow: {
      if (!b || *b < 0 || *b > 8) return scalar_binary(op, Value{left}, Value{right});
      Value result = int_value(1);
      for (int64_t i = 0; i < *b; ++i) {
        KW_TRY(result, size_binary(Mul, *result.get<ir::Size>(), left));
      }
      return result;
    }
    default:
      break;
  }
  KW_TRY(const int64_t x, facts_.fix(builder_.graph(), left));
  KW_TRY(const int64_t y, facts_.fix(builder_.graph(), right));
  return size_binary(op, ir::Size(x), ir::Size(y));
}

Result<Value> Interpreter::scalar_binary(BinaryOperator op, const Value& left, const Value& right) {
  using enum BinaryOperator;
  KW_TRY(const ScalarValue a, as_scalar(left));
  KW_TRY(const ScalarValue b, as_scalar(right));
  struct Row {
    BinaryOperator op;
    ir::Op node;
    double (*known)(double, double);
  };
  static constexpr Row kRows[] = {
      {Add, ir::Op::Add, [](double x, double y) { return x + y; }},
      {Sub, ir::Op::Sub, [](double x, double y) { return x - y; }},
      {Mul, ir::Op::Mul, [](double x, double y) { return x * y; }},
      {Div, ir::Op::Div, [](double x, double y) { return x / y; }},
      {Pow, ir::Op::Pow, [](double x, double y) { return std::pow(x, y); }},
      {FloorDiv, ir::Op::FloorDiv, [](double x, double y) { return std::floor(x / y); }},
      {Mod, ir::Op::Mod, float_modulo},
  };
  for (const Row& row : kRows) {
    if (row.op != op) continue;
    if ((op == Div || op == FloorDiv || op == Mod) && b.known && *b.known == 0) {
      return raise("ZeroDivisionError", "division by zero");
    }
    std::optional<double> known;
    if (a.known && b.known) known = row.known(*a.known, *b.known);
    builder_.set_origin(origin());
    KW_TRY(const ir::NodeId node, builder_.try_make(row.node, {a.node, b.node}));
    return Value{ScalarValue{node, known}};
  }
  return refuse(std::string("the operator ") + name_of(op).symbol + " is not read on " + type_name(left) + " and " +
                type_name(right));
}

Result<Value> Interpreter::number_binary(BinaryOperator op, const Value& left, const Value& right) {
  using enum BinaryOperator;
  if (left.get<bool>() && right.get<bool>()) {
    const bool a = *left.get<bool>(), b = *right.get<bool>();
    if (op == BitAnd) return Value{a && b};
    if (op == BitOr) return Value{a || b};
    if (op == BitXor) return Value{a != b};
  }
  const auto a = as_size(left), b = as_size(right);
  if (a && b) return size_binary(op, *a, *b);
  const auto x = as_known_number(left), y = as_known_number(right);
  if (!x || !y) return scalar_binary(op, left, right);
  if ((op == Div || op == FloorDiv || op == Mod) && *y == 0)
    return raise("ZeroDivisionError", "float division by zero");
  switch (op) {
    case Add:
      return Value{*x + *y};
    case Sub:
      return Value{*x - *y};
    case Mul:
      return Value{*x * *y};
    case Div:
      return Value{*x / *y};
    case FloorDiv:
      return Value{std::floor((*x - float_modulo(*x, *y)) / *y + 0.5)};
    case Mod:
      return Value{float_modulo(*x, *y)};
    case Pow:
      if (*x < 0 && *y != std::floor(*y)) return refuse("a fractional power of a negative number");
      if (*x == 0 && *y < 0) return raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
      return Value{std::pow(*x, *y)};
    default:
      return scalar_binary(op, left, right);
  }
}

Result<Value> Interpreter::binary(BinaryOperator op, const Value& left, const Value& right) {
  using enum BinaryOperator;
  const auto is_number = [](const Value& value) {
    return value.get<bool>() || value.get<ir::Size>() || value.get<double>() || value.get<ScalarValue>();
  };
  if (left.is_tensor() || right.is_tensor()) {
    const bool fits = (left.is_tensor() || is_number(left)) && (right.is_tensor() || is_number(right));
    if (fits) return torch_call(name_of(op).torch, {{left, right}, {}});
  } else if (is_number(left) && is_number(right)) {
    return number_binary(op, left, right);
  }
  const auto* a = sequence_items(left);
  const auto* b = sequence_items(right);
  const bool tuples = left.get<SequenceValue>() && right.get<SequenceValue>();
  if (op == Add && a && b && (tuples || (as<ListObject>(left) && as<ListObject>(right)))) {
    if (a->size() + b->size() > kLongestList) return refuse("this list is too long to be read");
    std::vector<Value> items = *a;
    items.insert(items.end(), b->begin(), b->end());
    return tuples ? tuple_value(std::move(items)) : list_value(std::move(items));
  }
  const Value* sequence = a ? &left : b ? &right : nullptr;
  const Value* count = a ? &right : &left;
  if (op == Mul && sequence && as_size(*count)) {
    KW_TRY(const int64_t times, facts_.fix(builder_.graph(), *as_size(*count)));
    const std::vector<Value>& part = *sequence_items(*sequence);
    if (times > 0 && part.size() * static_cast<uint64_t>(times) > kLongestList)
      return refuse("this list is too long to be read");
    std::vector<Value> items;
    for (int64_t i = 0; i < times; ++i) items.insert(items.end(), part.begin(), part.end());
    return sequence->get<SequenceValue>() ? tuple_value(std::move(items)) : list_value(std::move(items));
  }
  if (left.get<std::string>() || as<OpaqueString>(left)) {
    if (op == Add && left.get<std::string>() && right.get<std::string>()) {
      if (left.get<std::string>()->size() > kLongestList) return refuse("this string is too long to be read");
      return Value{*left.get<std::string>() + *right.get<std::string>()};
    }
    if (op == Mod || (op == Add && (right.get<std::string>() || as<OpaqueString>(right)))) {
      return object_value(std::make_shared<OpaqueString>());
    }
  }
  if (op == BitOr && as<DictObject>(left) && as<DictObject>(right)) {
    auto merged = std::make_shared<DictObject>(*as<DictObject>(left));
    for (const auto& [key, value] : as<DictObject>(right)->items) {
      KW_TRY(Value * slot, dict_find(*merged, key));
      if (slot) {
        *slot = value;
      } else {
        merged->items.emplace_back(key, value);
      }
    }
    return object_value(std::move(merged));
  }
  if (const auto instance = as<InstanceObject>(left)) {
    KW_TRY(const auto method, find_attribute(left, name_of(op).method));
    if (method) return call(*method, {{right}, {}});
  }
  return refuse(std::string("the operator ") + name_of(op).symbol + " is not read on " + type_name(left) + " and " +
                type_name(right));
}

}  // namespace kw::understand::python
