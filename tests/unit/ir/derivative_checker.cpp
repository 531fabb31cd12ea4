#include "derivative_checker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "ir/infer.h"

namespace kw::ir::test {
namespace {

constexpr double kStep = 1e-4;          // of the differences
constexpr double kKinkDistance = 1e-3;  // no sampled value is nearer to a kink: a step cannot cross it
// The differences err by about step⁴·f⁗' + 1e-16·|loss|/step ≈ 1e-11; a wrong formula is off by much more than this.
constexpr double kTolerance = 1e-8;

constexpr OpTable<Kink>::Entry kEntries[] = {
    {Op::Input, Kink::None},
    {Op::Const, Kink::None},
    {Op::SizeOf, Kink::None},
    {Op::Iota, Kink::None},
    {Op::Random, Kink::None},
    {Op::Neg, Kink::None},
    {Op::Abs, Kink::Zero},
    {Op::Sign, Kink::Zero},
    {Op::Floor, Kink::Whole},
    {Op::Ceil, Kink::Whole},
    {Op::Round, Kink::Whole},  // its jumps are at halves; whole numbers of 2x cover both
    {Op::Trunc, Kink::Whole},
    {Op::Sqrt, Kink::None},
    {Op::Rsqrt, Kink::None},
    {Op::Exp, Kink::None},
    {Op::Exp2, Kink::None},
    {Op::Expm1, Kink::None},
    {Op::Log, Kink::None},
    {Op::Log2, Kink::None},
    {Op::Log1p, Kink::None},
    {Op::Sin, Kink::None},
    {Op::Cos, Kink::None},
    {Op::Tan, Kink::None},
    {Op::Asin, Kink::None},
    {Op::Acos, Kink::None},
    {Op::Atan, Kink::None},
    {Op::Sinh, Kink::None},
    {Op::Cosh, Kink::None},
    {Op::Tanh, Kink::None},
    {Op::Asinh, Kink::None},
    {Op::Acosh, Kink::None},
    {Op::Atanh, Kink::None},
    {Op::Erf, Kink::None},
    {Op::Erfc, Kink::None},
    {Op::Erfinv, Kink::None},
    {Op::Sigmoid, Kink::None},
    {Op::Not, Kink::None},
    {Op::StopGradient, Kink::None},
    {Op::Cast, Kink::None},
    {Op::Add, Kink::None},
    {Op::Sub, Kink::None},
    {Op::Mul, Kink::None},
    {Op::Div, Kink::None},
    {Op::FloorDiv, Kink::WholeQuotient},
    {Op::Mod, Kink::WholeQuotient},
    {Op::Pow, Kink::None},
    {Op::Atan2, Kink::None},
    {Op::Max, Kink::Equal},
    {Op::Min, Kink::Equal},
    {Op::Lt, Kink::Equal},
    {Op::Le, Kink::Equal},
    {Op::Eq, Kink::Equal},
    {Op::Ne, Kink::Equal},
    {Op::And, Kink::None},
    {Op::Or, Kink::None},
    {Op::Xor, Kink::None},
    {Op::Shl, Kink::None},
    {Op::Shr, Kink::None},
    {Op::Select, Kink::None},  // its condition's kinks are the comparison's
    {Op::Sum, Kink::None},
    {Op::Mean, Kink::None},
    {Op::Prod, Kink::None},
    {Op::ReduceMax, Kink::Ties},
    {Op::ReduceMin, Kink::Ties},
    {Op::Any, Kink::None},
    {Op::All, Kink::None},
    {Op::LogSumExp, Kink::None},
    {Op::ArgMax, Kink::Ties},
    {Op::ArgMin, Kink::Ties},
    {Op::Reduce, Kink::Ties},  // a combine may compare its elements
    {Op::CumSum, Kink::None},
    {Op::CumProd, Kink::None},
    {Op::CumMax, Kink::Ties},
    {Op::CumMin, Kink::Ties},
    {Op::CumLogSumExp, Kink::None},
    {Op::Scan, Kink::Ties},
    {Op::Gather, Kink::None},
    {Op::ScatterAdd, Kink::None},
    {Op::ScatterSet, Kink::None},
    {Op::SegmentIndex, Kink::None},
    {Op::SegmentSum, Kink::None},
    {Op::SegmentMax, Kink::Ties},
    {Op::SegmentMin, Kink::Ties},
    {Op::Broadcast, Kink::None},
    {Op::Rename, Kink::None},
    {Op::Slice, Kink::None},
    {Op::Pad, Kink::None},
    {Op::Concat, Kink::None},
    {Op::Split, Kink::None},
    {Op::Merge, Kink::None},
    {Op::Window, Kink::None},
    {Op::Fold, Kink::None},
    {Op::Sort, Kink::Ties},
    {Op::ArgSort, Kink::Ties},
    {Op::TopK, Kink::Ties},
    {Op::ArgTopK, Kink::Ties},
    {Op::Contract, Kink::None},
};
constexpr OpTable<Kink> kKinks{kEntries};

struct Probe {
  Graph graph;               // outputs: what shows how near a kink is
  std::vector<bool> is_gap;  // per output: the gaps between its elements count, not its elements' distance from zero
};

Probe kink_probe(const Graph& forward) {
  Graph start = forward;
  start.outputs.clear();
  GraphBuilder b(std::move(start));
  Probe probe;
  auto output = [&](NodeId node, bool is_gap) {
    std::string name = "probe" + std::to_string(probe.is_gap.size());
    b.output({name, node, b[node].axes, std::nullopt});
    probe.is_gap.push_back(is_gap);
  };
  auto from_whole = [&](NodeId node) {
    NodeId twice = b.make(Op::Mul, {node, b.constant(2.0)});
    return b.make(Op::Sub, {twice, b.make(Op::Round, {twice})});
  };
  for (const Node& node : forward.nodes) {
    if (node.args.empty() || !forward[node.args[0]].type.floating()) continue;
    switch (kink_of(node.op)) {
      case Kink::None:
        break;
      case Kink::Zero:
        output(node.args[0], false);
        break;
      case Kink::Equal:
        output(b.make(Op::Sub, {node.args[0], node.args[1]}), false);
        break;
      case Kink::Whole:
        output(from_whole(node.args[0]), false);
        break;
      case Kink::WholeQuotient:
        output(from_whole(b.make(Op::Div, {node.args[0], node.args[1]})), false);
        break;
      case Kink::Ties:
        for (NodeId arg : node.args)
          if (forward[arg].type.floating()) output(arg, true);
        break;
    }
  }
  probe.graph = std::move(b).finish();
  return probe;
}

double nearest_kink(const Array& array, bool is_gap) {
  std::vector<double> values = array.values;
  double nearest = std::numeric_limits<double>::infinity();
  if (!is_gap) {
    for (double v : values) nearest = std::min(nearest, std::fabs(v));
    return nearest;
  }
  std::sort(values.begin(), values.end());
  // Sampled values are never equal: equal ones are copies of one element (in windows that overlap) and move together.
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] != values[i - 1]) nearest = std::min(nearest, values[i] - values[i - 1]);
  return nearest;
}

Array shaped(const Graph& graph, const std::vector<AxisId>& dims) {
  Array out;
  int64_t count = 1;
  for (AxisId dim : dims) {
    out.shape.push_back(dim == kUnit ? 1 : *graph.hinted(graph.axis(dim).size));
    count *= out.shape.back();
  }
  out.values.resize(static_cast<size_t>(count));
  return out;
}

class Dice {
 public:
  explicit Dice(const std::string& name) : engine_(seed(name)) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }

 private:
  static uint64_t seed(const std::string& name) {  // the same on every machine
    uint64_t h = 14695981039346656037ull;
    for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    return h;
  }
  std::mt19937_64 engine_;
};

double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
  return sum;
}

// The forward's outputs times the cotangents, at a point.
class Loss {
 public:
  Loss(const Graph& forward, std::vector<Array> cotangents) : forward_(forward), cotangents_(std::move(cotangents)) {}
  Result<double> operator()(const Environment& point) const {
    KW_TRY(std::vector<Array> outputs, interpret(forward_, point));
    double sum = 0;
    for (size_t i = 0; i < outputs.size(); ++i) sum += dot(outputs[i], cotangents_[i]);
    return sum;
  }
  // The slope along `direction` of the input `name`, by the four-point difference.
  Result<double> slope(Environment point, const std::string& name, const std::vector<double>& direction) const {
    std::vector<double> centre = point.inputs.at(name).values;
    auto at = [&](double t) {
      std::vector<double>& values = point.inputs.at(name).values;
      for (size_t i = 0; i < values.size(); ++i) values[i] = centre[i] + t * direction[i];
      return (*this)(point);
    };
    KW_TRY(double far_up, at(2 * kStep));
    KW_TRY(double up, at(kStep));
    KW_TRY(double down, at(-kStep));
    KW_TRY(double far_down, at(-2 * kStep));
    return (8 * (up - down) - (far_up - far_down)) / (12 * kStep);
  }

 private:
  const Graph& forward_;
  std::vector<Array> cotangents_;
};

bool near(double a, double b) { return std::fabs(a - b) <= kTolerance * std::max({1.0, std::fabs(a), std::fabs(b)}); }

std::optional<std::string> check_interface(const Graph& forward, const Graph& joint) {
  if (Status checked = check(joint); !checked) return "the joint graph is not well-formed: " + checked.error().message;
  size_t gradient = forward.outputs.size();
  for (const Input& input : forward.inputs) {
    if (!input.type.floating() || input.type.weak()) continue;
    const Output& output = joint.outputs.at(gradient++);
    if (output.name != "grad_" + input.name) return "the gradient of " + input.name + " is called " + output.name;
    if (output.dims != input.dims) return output.name + " has other dims than its input";
    if (!(joint[output.node].type == input.type)) return output.name + " has another type than its input";
  }
  if (gradient != joint.outputs.size()) return "there is a gradient too many";
  return std::nullopt;
}

}  // namespace

Kink kink_of(Op op) { return kKinks[op]; }

std::optional<Environment> sample_point(const DerivativeCase& c) {
  Probe probe = kink_probe(c.graph);
  Dice dice(c.name);
  for (int attempt = 0; attempt < 500; ++attempt) {
    Environment point;
    for (const Symbol& symbol : c.graph.symbols) point.sizes[symbol.name] = *symbol.hint;
    for (const Input& input : c.graph.inputs) {
      if (input.kind == InputKind::Scalar) continue;  // at its default
      Array array = shaped(c.graph, input.dims);
      auto fixed = c.fixed.find(input.name);
      if (fixed != c.fixed.end()) {
        array.values = fixed->second;
      } else {
        Range range = c.ranges.at(input.name);
        for (double& v : array.values) v = dice.uniform(range.low, range.high);
      }
      point.inputs[input.name] = std::move(array);
    }
    if (probe.is_gap.empty()) return point;
    Result<std::vector<Array>> shown = interpret(probe.graph, point);
    if (!shown) return std::nullopt;
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < shown->size(); ++i) nearest = std::min(nearest, nearest_kink((*shown)[i], probe.is_gap[i]));
    if (nearest >= kKinkDistance) return point;
  }
  return std::nullopt;
}

std::optional<std::string> check_derivative(const DerivativeCase& c,
                                            const std::map<Op, DerivativeRule>& override_rules) {
  DerivativeOptions options;
  options.override_rules = override_rules;
  Result<Graph> joint = differentiate(c.graph, options);
  if (!joint) return joint.error().message;
  if (auto wrong = check_interface(c.graph, *joint)) return wrong;
  std::optional<Environment> point = sample_point(c);
  if (!point) return "no point away from the kinks was found";

  Dice dice(c.name + " cotangents");
  std::vector<Array> cotangents;
  Environment with_cotangents = *point;
  for (const Output& output : c.graph.outputs) {
    Array array = shaped(c.graph, output.dims);
    for (double& v : array.values) v = dice.uniform(-1, 1);
    with_cotangents.inputs["d_" + output.name] = array;
    cotangents.push_back(std::move(array));
  }
  Result<std::vector<Array>> values = interpret(*joint, with_cotangents);
  if (!values) return "the joint graph does not run: " + values.error().message;
  Result<std::vector<Array>> forward = interpret(c.graph, *point);
  if (!forward) return "the forward does not run: " + forward.error().message;
  for (size_t i = 0; i < forward->size(); ++i)
    if ((*forward)[i].values != (*values)[i].values) return "the joint graph's forward is not the forward";

  Loss loss(c.graph, cotangents);
  size_t next = c.graph.outputs.size();
  for (const Input& input : c.graph.inputs) {
    if (!input.type.floating() || input.type.weak()) continue;
    const Array& gradient = (*values)[next++];
    auto disagrees = [&](const std::vector<double>& direction, const std::string& where) -> std::optional<std::string> {
      Result<double> difference = loss.slope(*point, input.name, direction);
      if (!difference) return "the forward does not run: " + difference.error().message;
      double derivative = 0;
      for (size_t i = 0; i < direction.size(); ++i)
        if (direction[i] != 0) derivative += direction[i] * gradient.values[i];
      if (near(derivative, *difference)) return std::nullopt;
      std::ostringstream text;
      text.precision(17);
      text << "grad_" << input.name << where << " is " << derivative << ", the difference is " << *difference;
      return text.str();
    };
    for (size_t i = 0; i < gradient.values.size(); ++i) {
      std::vector<double> direction(gradient.values.size());
      direction[i] = 1;
      if (auto wrong = disagrees(direction, "[" + std::to_string(i) + "]")) return wrong;
    }
    for (int round = 0; round < 3; ++round) {
      std::vector<double> direction(gradient.values.size());
      for (double& v : direction) v = dice.uniform(-1, 1);
      if (auto wrong = disagrees(direction, " along a direction")) return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace kw::ir::test
