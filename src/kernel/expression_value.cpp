#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "kernel/expression.h"
#include "kernel/layout.h"

namespace kw::kernel {

// One evaluation. Conditions are 0 or 1; `and` and `or` look at their right side only if they must.
class ExpressionValue {
 public:
  using Op = Expression::Op;
  using Node = Expression::Node;

  ExpressionValue(const Expression& expression, const Facts& facts) : expression_(expression), facts_(facts) {}

  Result<std::int64_t> whole() const { return of(static_cast<int>(expression_.nodes_.size()) - 1); }

 private:
  const Node& node(int index) const { return expression_.nodes_[static_cast<std::size_t>(index)]; }
  Failure wrong(const Node& at, std::string message) const { return expression_.wrong(at, std::move(message)); }

  std::optional<std::int64_t> named(const std::string& name) const {
    if (const auto size = facts_.sizes.find(name); size != facts_.sizes.end()) return size->second;
    if (name == "threads") return facts_.machine.threads;
    if (name == "multiprocessors") return facts_.machine.multiprocessors;
    return std::nullopt;
  }

  // Of one side of a comparison that is no whole number: a decimal, or a scalar.
  std::optional<double> real(const Node& side) const {
    if (side.op == Op::Decimal) return side.decimal;
    if (side.op != Op::Name || named(side.name)) return std::nullopt;
    const auto scalar = facts_.scalars.find(side.name);
    if (scalar == facts_.scalars.end()) return std::nullopt;
    return std::visit([](auto value) { return static_cast<double>(value); }, scalar->second);
  }

  Result<const Tensor*> tensor(const Node& at) const {
    const auto found = facts_.tensors.find(at.name);
    if (found == facts_.tensors.end()) return wrong(at, fmt::format("nothing is known of the buffer '{}'", at.name));
    return &found->second;
  }

  template <class T>
  static bool compare(Op op, T a, T b) {
    switch (op) {
      case Op::Eq:
        return a == b;
      case Op::Ne:
        return a != b;
      case Op::Lt:
        return a < b;
      case Op::Le:
        return a <= b;
      case Op::Gt:
        return a > b;
      default:
        return a >= b;
    }
  }

  Result<std::int64_t> comparison(const Node& at) const {
    const Node &a = node(at.inputs[0]), &b = node(at.inputs[1]);
    const std::optional<double> real_a = real(a), real_b = real(b);
    if (!real_a && !real_b) {
      KW_TRY(const std::int64_t left, of(at.inputs[0]));
      KW_TRY(const std::int64_t right, of(at.inputs[1]));
      return compare(at.op, left, right);
    }
    double sides[2] = {0, 0};
    for (const int i : {0, 1}) {
      const std::optional<double>& known = i == 0 ? real_a : real_b;
      if (known) {
        sides[i] = *known;
        continue;
      }
      KW_TRY(const std::int64_t value, of(at.inputs[static_cast<std::size_t>(i)]));
      sides[i] = static_cast<double>(value);
    }
    return compare(at.op, sides[0], sides[1]);
  }

  static std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

  Result<std::int64_t> arithmetic(const Node& at) const {
    KW_TRY(const std::int64_t a, of(at.inputs[0]));
    std::int64_t b = 0;
    if (at.inputs.size() > 1) {
      KW_TRY(b, of(at.inputs[1]));
    }
    std::int64_t result = 0;
    bool overflow = false;
    switch (at.op) {
      case Op::Add:
        overflow = __builtin_add_overflow(a, b, &result);
        break;
      case Op::Sub:
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
      case Op::Mul:
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
      case Op::Negate:
        overflow = __builtin_sub_overflow(std::int64_t{0}, a, &result);
        break;
      case Op::Min:
        return std::min(a, b);
      case Op::Max:
        return std::max(a, b);
      case Op::FloorDiv:
      case Op::Mod:
      case Op::CeilDiv: {
        if (b == 0) return wrong(at, "a division by zero");
        if (a == std::numeric_limits<std::int64_t>::min() && b == -1) {
          overflow = true;
          break;
        }
        const std::int64_t quotient = floor_div(a, b), remainder = a - quotient * b;
        if (at.op == Op::Mod) return remainder;
        return quotient + (at.op == Op::CeilDiv && remainder != 0);
      }
      default:  // NextPow2
        if (a > std::int64_t{1} << 62) overflow = true;
        for (result = 1; !overflow && result < a;) result *= 2;
        break;
    }
    if (overflow) return wrong(at, "a size that 64 bits do not hold");
    return result;
  }

  Result<std::int64_t> about_buffer(const Node& at) const {
    KW_TRY(const Tensor* x, tensor(node(at.inputs[0])));
    switch (at.op) {
      case Op::Shape:
      case Op::Stride: {
        const std::int64_t rank = static_cast<std::int64_t>(x->shape.size());
        const std::int64_t asked = node(at.inputs[1]).whole, dimension = asked < 0 ? asked + rank : asked;
        if (dimension < 0 || dimension >= rank) return wrong(at, "a dimension that the buffer does not have");
        return (at.op == Op::Shape ? x->shape : x->strides)[static_cast<std::size_t>(dimension)];
      }
      case Op::Bytes:
        return ir::info(x->dtype).bytes;
      case Op::Numel: {
        const std::optional<std::int64_t> count = numel(x->shape);
        if (!count) return wrong(at, "a size that 64 bits do not hold");
        return *count;
      }
      case Op::Dense:
        return is_dense(*x);
      case Op::Packed:
        return is_packed(*x);
      case Op::Unit:
        return x->shape.empty() || x->shape.back() <= 1 || x->strides.back() == 1;
      case Op::Aligned: {
        KW_TRY(const std::int64_t bytes, of(at.inputs[1]));
        if (bytes <= 0) return wrong(at, "an alignment is a positive number of bytes");
        return is_aligned(*x, bytes);
      }
      case Op::Starts: {
        KW_TRY(const std::int64_t bytes, of(at.inputs[1]));
        if (bytes <= 0) return wrong(at, "an alignment is a positive number of bytes");
        return is_aligned({x->dtype, x->shape, std::vector<std::int64_t>(x->shape.size(), 1), x->address}, bytes);
      }
      default: {  // SameStrides
        KW_TRY(const Tensor* y, tensor(node(at.inputs[1])));
        return same_strides(*x, *y);
      }
    }
  }

  Result<std::int64_t> of(int index) const {
    const Node& at = node(index);
    switch (at.op) {
      case Op::Whole:
        return at.whole;
      case Op::Decimal:
        return wrong(at, "a size is a whole number");
      case Op::Name: {
        if (const auto value = named(at.name)) return *value;
        if (facts_.scalars.contains(at.name)) return wrong(at, fmt::format("'{}' is a scalar, not a size", at.name));
        return wrong(at, fmt::format("nothing is known of '{}'", at.name));
      }
      case Op::Buffer:
        return wrong(at, fmt::format("'{}' is a buffer, not a size", at.name));
      case Op::And:
      case Op::Or: {
        KW_TRY(const std::int64_t left, of(at.inputs[0]));
        if ((left != 0) == (at.op == Op::Or)) return left;
        return of(at.inputs[1]);
      }
      case Op::Not: {
        KW_TRY(const std::int64_t inside, of(at.inputs[0]));
        return inside == 0;
      }
      case Op::Blocks: {
        const std::int64_t step = node(at.inputs[0]).whole;
        if (step >= std::ssize(facts_.blocks)) return wrong(at, fmt::format("step {} is not launched yet", step));
        return facts_.blocks[static_cast<std::size_t>(step)];
      }
      default:
        break;
    }
    if (at.op >= Op::Eq && at.op <= Op::Ge) return comparison(at);
    if (node(at.inputs[0]).op == Op::Buffer) return about_buffer(at);
    return arithmetic(at);
  }

  const Expression& expression_;
  const Facts& facts_;
};

Result<std::int64_t> Expression::size(const Facts& facts) const { return ExpressionValue(*this, facts).whole(); }

Result<bool> Expression::holds(const Facts& facts) const {
  KW_TRY(const std::int64_t value, ExpressionValue(*this, facts).whole());
  return value != 0;
}

Result<std::int64_t> evaluate_size(std::string_view text, const Facts& facts) {
  KW_TRY(const Expression expression, Expression::parse(text, Expression::Kind::Size));
  return expression.size(facts);
}

Result<bool> evaluate_condition(std::string_view text, const Facts& facts) {
  KW_TRY(const Expression expression, Expression::parse(text, Expression::Kind::Condition));
  return expression.holds(facts);
}

}  // namespace kw::kernel
