// Where a node rounds: its operands on the way in, its result on the way out.
#include <algorithm>
#include <vector>

#include "ir/interpreter/group.h"

namespace kw::ir::interpreter {

void finish_values(Op op, DType type, bool rounded, Exactness exactness, double* values, double* spreads, int64_t n) {
  const bool integral = !is_floating(type) && !is_weak(type);
  if (exactness == Exactness::Moved || !rounded) {
    // Narrow integers wrap in any semantics, and a cast to an integer truncates.
    if (integral && type != DType::Bool && type != DType::I64) round_values(type, values, n);
    if (integral && op == Op::Cast) round_values(type, values, n);
    return;
  }
  if (spreads)
    round_with_bounds(type, exactness, values, spreads, n);
  else
    round_values(type, values, n);
}

void finish_values(const Context& context, const Node& node, Exactness exactness, double* values, double* spreads,
                   int64_t n) {
  finish_values(node.op, context.dtype(node), context.rounded(), exactness, values, spreads, n);
}

Conversion conversion_of(Op op, DType result, std::span<const DType> operands, size_t operand,
                         const InterpretOptions& options) {
  if (options.semantics != Semantics::Rounded) return {};
  switch (op) {
    case Op::Input:
    case Op::Cast:
    case Op::StopGradient:
    case Op::Not:
      return {};
    default:
      break;
  }
  if (op == Op::Select && operand == 0) return {};
  const bool compares = op == Op::Lt || op == Op::Le || op == Op::Eq || op == Op::Ne;
  const DType common = compares ? promote(operands[0], operands[1]) : result;
  const DType from = operands[operand];
  if (from == common || is_weak(common)) return {};
  if (!is_weak(from)) return holds_exactly(common, from) ? Conversion{} : Conversion{common};
  const bool moves = meaning_of(op, options).exactness == Exactness::Moved;
  if (moves) return {common};
  const bool cpu_rounds_to_the_type = op == Op::Add || op == Op::Sub || op == Op::Pow || op == Op::Mod;
  return {opmath(common), cpu_rounds_to_the_type && opmath(common) != common ? common : DType::None};
}

Conversion conversion_of(const Context& context, const Node& reader, size_t operand) {
  std::vector<DType> types;
  for (NodeId arg : reader.args) types.push_back(context.dtype(context.graph[arg]));
  return conversion_of(reader.op, context.dtype(reader), types, operand, context.options);
}

void convert(const Conversion& conversion, double* values, double* bounds, int64_t n) {
  if (!bounds) return round_values(conversion.to, values, n);
  std::vector<double> others;
  if (conversion.alternative != DType::None) {
    others.assign(values, values + n);
    round_values(conversion.alternative, others.data(), n);
  }
  round_with_bounds(conversion.to, Exactness::Correct, values, bounds, n);
  for (size_t i = 0; i < others.size(); ++i) bounds[i] = std::max(bounds[i], gap(others[i], values[i]));
}

namespace {

// A kernel's evaluation error, on top of what its operands' errors do.
void charge_evaluation(DType type, Ulps ulps, const PointwiseCall& call) {
  const DType computed = opmath(type);
  const double least_normal = std::ldexp(1.0, info(computed).min_exponent);
  // In f64 the oracle's own library is as inexact as the kernel's.
  const double own = type == DType::F64 ? 1 : 0;
  for (int64_t i = 0; i < call.n; ++i) {
    const double value = call.out[i];
    // An infinite or undefined result is no approximation, nor is a zero of exact operands (tanh 0, log 1, exp -inf).
    if (!std::isfinite(value) || (value == 0 && call.spreads[i] == 0)) continue;
    const double x = call.in[0].values[i * call.in[0].step];
    const double y = call.in[1].values ? call.in[1].values[i * call.in[1].step] : 0;
    const double magnitude = std::fabs(value) + call.spreads[i];
    call.spreads[i] += (ulps(computed, x, y) + own) * ulp(computed, magnitude);
    // Approximate instructions flush subnormal results to zero.
    if (value != 0 && std::fabs(value) < least_normal) call.spreads[i] = std::max(call.spreads[i], std::fabs(value));
  }
}

// Some of PyTorch's kernels evaluate these in several steps, each rounded to the tensor's own narrow type.
double evaluate_in_steps(Op op, DType type, double x, double y, double otherwise) {
  auto rounded = [type](double v) { return round_through(type, v); };
  if (op == Op::Pow && y == 3) return rounded(x * x) * x;
  if (op == Op::Pow && y == -2) return 1 / rounded(x * x);
  if (op == Op::Pow && y == -0.5) return 1 / rounded(std::sqrt(x));
  if (op != Op::FloorDiv || y == 0) return otherwise;
  const double rest = rounded(std::fmod(x, y));
  double quotient = rounded(rounded(x - rest) / y);
  if (rest != 0 && (rest < 0) != (y < 0)) quotient = rounded(quotient - 1);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

void charge_steps(Op op, DType type, const PointwiseCall& call) {
  if (!is_floating(type) || opmath(type) == type || (op != Op::Pow && op != Op::FloorDiv)) return;
  for (int64_t i = 0; i < call.n; ++i) {
    const double x = call.in[0].values[i * call.in[0].step], y = call.in[1].values[i * call.in[1].step];
    call.spreads[i] += gap(evaluate_in_steps(op, type, x, y, call.out[i]), call.out[i]);
  }
}

// The factors of a longer product, multiplied in another order: for every product within it, another one is rounded.
// Only where nothing rounds to a narrower type between them. An order in which something overflows or loses bits to
// underflow, where the graph's own does not, has no part in this.
void charge_order(DType type, const ProductUse& use, const PointwiseCall& call) {
  if (use.of_products == 0 || !is_floating(type) || is_weak(type) || opmath(type) != type) return;
  const double roundings = use.of_products * unit_roundoff(type);
  for (int64_t i = 0; i < call.n; ++i)
    if (std::isfinite(call.out[i])) call.spreads[i] += scaled(call.out[i], roundings);
}

// A product that leaves the range of its type, and that a kernel may never have by itself: there nothing is known.
void charge_overflow(DType type, const PointwiseCall& call) {
  if (!is_floating(type) || is_weak(type) || opmath(type) != type) return;
  const auto is_finite = [](const TileOperand& operand, int64_t i) {
    return std::isfinite(operand.values[i * operand.step]);
  };
  for (int64_t i = 0; i < call.n; ++i)
    if (!std::isfinite(round_through(type, call.out[i])) && is_finite(call.in[0], i) && is_finite(call.in[1], i))
      call.spreads[i] = kInfinity;
}

// A power that is written as a product rounds like one.
bool is_written_out(const Node& node, const PointwiseCall& call) {
  if (node.op != Op::Pow || call.in[1].step != 0 || call.in[1].bounds) return false;
  return ulps_pow(call.type, 0, *call.in[1].values) <= 0.5;
}

}  // namespace

void evaluate_pointwise(const Context& context, const Node& node, const ProductUse& use, PointwiseCall& call) {
  const Meaning& meaning = meaning_of(node.op, context.options);
  const DType type = context.dtype(node);
  call.type = type;
  meaning.values(call);
  Exactness exactness = meaning.exactness;
  if (call.spreads) {
    meaning.spreads(call);
    if (exactness == Exactness::Within && is_written_out(node, call)) exactness = Exactness::Fusible;
    if (exactness == Exactness::Fusible && !use.in_sum && !use.in_product) exactness = Exactness::Correct;
    if (exactness == Exactness::Within && meaning.ulps && is_floating(type) && !is_weak(type))
      charge_evaluation(type, meaning.ulps, call);
    charge_steps(node.op, type, call);
    charge_order(type, use, call);
    if (exactness == Exactness::Fusible) charge_overflow(type, call);
  }
  // What is said of a given tensor is said of its values in their own type.
  finish_values(context, node, exactness, call.out, node.op == Op::Input ? nullptr : call.spreads, call.n);
}

}  // namespace kw::ir::interpreter
