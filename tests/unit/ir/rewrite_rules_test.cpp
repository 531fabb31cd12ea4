// Every text rule of the rewrite table is run: both sides, on random values, must be equal to the bit in every floating
// type below f64, which is what "keeps each rounding" means. In f64 the interpreter's own functions are within an ulp
// of exact.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/interpreter/interpreter.h"
#include "ir/simplify/pattern.h"
#include "ir/simplify/simplify.h"

namespace kw::ir {
namespace {

// Builds a pattern as it stands, without simplifying it.
class Verbatim final : public Rewriter {
 public:
  explicit Verbatim(GraphBuilder& builder) : builder_(builder) {}
  NodeId make(Op op, std::vector<NodeId> args, Attr attr) override {
    return builder_.make(op, std::move(args), std::move(attr));
  }
  GraphBuilder& builder() override { return builder_; }

 private:
  GraphBuilder& builder_;
};

bool is_logical(const Pattern& p) {
  if (p.kind == Pattern::Kind::Boolean) return true;
  if (p.kind == Pattern::Kind::Call && (p.op == Op::Not || p.op == Op::And || p.op == Op::Or)) return true;
  for (const Pattern& arg : p.args)
    if (is_logical(arg)) return true;
  return false;
}

// Both sides of the rule at the same random values; "" if they agree to the bit.
std::string disagreement(const Rule& rule, DType dtype) {
  Pattern pattern = parse_pattern(rule.pattern), result = parse_pattern(rule.result);
  bool select = pattern.op == Op::Select;
  bool logical = !select && is_logical(pattern);
  GraphBuilder b;
  AxisId n = b.axis("n", Size(64));
  Match match;
  Environment call;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-3, 3);
  for (char name : {'x', 'y', 'z'}) {
    bool boolean = logical || (select && name == 'x');
    DType type = boolean ? DType::Bool : dtype;
    match[name] = b.input({std::string(1, name), InputKind::Tensor, type, {n}, {}, true, kNoNode});
    Array values{{64}, {}};
    for (int i = 0; i < 64; ++i)
      values.values.push_back(boolean ? double(random() % 2) : round_to(dtype, uniform(random)));
    call.inputs[std::string(1, name)] = std::move(values);
  }
  Verbatim verbatim(b);
  NodeId left = build(verbatim, pattern, match), right = build(verbatim, result, match);
  if (!(b[left].type == b[right].type)) return "";  // the engine does not apply such a rule
  b.output({"left", b.broadcast(left, {n}), {n}, {}});
  b.output({"right", b.broadcast(right, {n}), {n}, {}});
  Result<std::vector<Array>> out = interpret(std::move(b).finish(), call, {.semantics = Semantics::Rounded});
  if (!out) return out.error().message;
  for (size_t i = 0; i < 64; ++i) {
    double p = (*out)[0].values[i], q = (*out)[1].values[i];
    double slack = dtype == DType::F64 ? 2 * ulp(DType::F64, p) : 0;
    if (!(p == q || std::abs(p - q) <= slack || (std::isnan(p) && std::isnan(q))))
      return std::string(rule.name) + ": " + std::to_string(p) + " is not " + std::to_string(q);
  }
  return "";
}

constexpr DType kFloating[] = {DType::BF16, DType::F16, DType::F32, DType::F64};

TEST(RewriteTable, BothSidesOfEveryTextRuleRoundAlike) {
  int checked = 0;
  for (const Rule& rule : rewrite_rules()) {
    if (rule.native) continue;
    for (DType dtype : kFloating) EXPECT_EQ(disagreement(rule, dtype), "") << rule.name << " in " << info(dtype).name;
    ++checked;
  }
  EXPECT_GE(checked, 25);
}

TEST(RewriteTable, AWrongRowIsCaught) {
  constexpr Rule kWrong[] = {
      {"sub-swapped", "sub(x, y)", "sub(y, x)"},
      {"square-as-double", "pow(x, 2)", "add(x, x)"},
      {"one-over-root", "div(1, sqrt(x))", "rsqrt(x)"},  // the same math, another rounding
      {"cube-as-products", "pow(x, 3)", "mul(mul(x, x), x)"},
      {"select-unswapped", "select(not(x), y, z)", "select(x, y, z)"},
      {"and-as-or", "and(x, y)", "or(x, y)"},
  };
  for (const Rule& rule : kWrong) {
    bool caught = false;
    for (DType dtype : kFloating) caught |= !disagreement(rule, dtype).empty();
    EXPECT_TRUE(caught) << rule.name;
  }
}

}  // namespace
}  // namespace kw::ir
