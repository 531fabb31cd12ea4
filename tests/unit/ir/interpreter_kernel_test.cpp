// Random graphs against random kernels: each kernel rounds where the graph says, errs by up to the stated ulps in every
// function, fuses products into sums and adds in an order of its own. All of them must lie within the oracle's bound.
#include <algorithm>
#include <cmath>
#include <random>

#include "interpreter_case.h"
#include "ir/interpreter/compare.h"
#include "ir/interpreter/meaning.h"

namespace kw::ir {
namespace {

using Values = std::vector<double>;
constexpr size_t kRows = 3, kCols = 37;

// A kernel of graphs over [rows, cols], each value written out in full: a reduction's result stands in every column.
class RandomKernel {
 public:
  RandomKernel(const Graph& graph, const Environment& call, unsigned seed)
      : graph_(graph), call_(call), generator_(seed), values_(graph.nodes.size()) {}

  Values run() {
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id)
      values_[static_cast<size_t>(id)] = evaluate(id);
    return of(graph_.outputs[0].node);
  }

 private:
  const Values& of(NodeId id) const { return values_[static_cast<size_t>(id)]; }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(generator_); }
  bool chance() { return generator_() % 2 == 0; }

  Values evaluate(NodeId id) {
    const Node& node = graph_[id];
    const DType type = node.type.floor();
    Values out(kRows * kCols);
    if (node.op == Op::Input) {
      const Array& array = call_.inputs.at(graph_.inputs[static_cast<size_t>(node.as<InputRef>().index)].name);
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = round_to(type, array.values[array.shape.size() == 2 ? i : i % kCols]);
    } else if (node.op == Op::Const) {
      std::fill(out.begin(), out.end(), node.as<Literal>().number());
    } else if (node.op == Op::Broadcast) {
      out = of(node.args[0]);
    } else if (info(node.op).kind == OpKind::Reduction) {
      for (size_t r = 0; r < kRows; ++r) {
        const auto first = of(node.args[0]).begin() + static_cast<std::ptrdiff_t>(r * kCols);
        const double reduced = round(type, reduce(node, std::vector<float>(first, first + kCols)));
        std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(r * kCols), kCols, reduced);
      }
    } else {
      // Whether the compiler fuses, and how the backend rounds numbers, is one choice for the whole kernel.
      const bool fuses = chance(), cpu = chance();
      for (size_t i = 0; i < out.size(); ++i) out[i] = round(type, pointwise(node, i, fuses, cpu));
    }
    return out;
  }

  static double round(DType type, double v) {
    if (!is_floating(type) || is_weak(type)) return v;
    return round_to(type, round_to(opmath(type), v));
  }

  double operand(const Node& node, size_t k, size_t i, bool cpu) const {
    const Node& arg = graph_[node.args[k]];
    const double v = of(node.args[k])[i];
    DType common = node.type.floor();
    const bool compares = common == DType::Bool;
    if (compares) common = promote(graph_[node.args[0]].type.floor(), graph_[node.args[1]].type.floor());
    if (node.op == Op::Cast || is_weak(common) || !arg.type.weak()) return v;
    const bool moves = compares || node.op == Op::Max || node.op == Op::Min || node.op == Op::Select;
    return round_to(moves || (cpu && (node.op == Op::Add || node.op == Op::Sub)) ? common : opmath(common), v);
  }

  double pointwise(const Node& node, size_t i, bool fuses, bool cpu) {
    std::array<double, 3> x{};
    for (size_t k = 0; k < node.args.size(); ++k) x[k] = operand(node, k, i, cpu);
    const DType type = node.type.floor();
    if ((node.op == Op::Add || node.op == Op::Sub) && fuses && type == DType::F32) {
      const Node& left = graph_[node.args[0]];
      if (left.op == Op::Mul && left.type == Type(DType::F32))
        x[0] = operand(left, 0, i, cpu) * operand(left, 1, i, cpu);
    }
    const Meaning& meaning = meaning_of(node.op, {});
    interpreter::PointwiseCall call;
    double v = 0;
    for (size_t k = 0; k < node.args.size(); ++k) call.in[k] = {&x[k], nullptr, 1};
    call.out = &v;
    call.n = 1;
    call.type = type;
    meaning.values(call);
    if (meaning.ulps && is_floating(type) && std::isfinite(v) && v != 0)
      v += uniform(-1, 1) * (meaning.ulps(opmath(type), x[0], x[1]) - 0.5) * ulp(opmath(type), v);
    return v;
  }

  // Serial chains of up to 16 terms, in any order, then a tree.
  float sum(std::vector<float> terms) {
    std::shuffle(terms.begin(), terms.end(), generator_);
    while (terms.size() > 1) {
      const size_t chain = 2 + generator_() % 15;
      std::vector<float> partial;
      for (size_t i = 0; i < terms.size(); i += chain) {
        float s = terms[i];
        for (size_t j = i + 1; j < std::min(terms.size(), i + chain); ++j) s += terms[j];
        partial.push_back(s);
      }
      terms = std::move(partial);
    }
    return terms[0];
  }

  double reduce(const Node& node, const std::vector<float>& x) {
    const auto n = static_cast<float>(x.size());
    switch (node.op) {
      case Op::Sum:
        return sum(x);
      case Op::Mean:
        return chance() ? sum(x) / n : sum(x) * (1 / n);
      case Op::ReduceMax:
        return *std::max_element(x.begin(), x.end());
      default: {
        const float m = *std::max_element(x.begin(), x.end());
        std::vector<float> exps;
        for (float v : x) exps.push_back(std::exp2((v - m) * 1.44269504f));
        return m + std::log(sum(exps));
      }
    }
  }

  const Graph& graph_;
  const Environment& call_;
  std::mt19937 generator_;
  std::vector<Values> values_;
};

// A random well-typed graph; every function is applied where it is defined.
InterpreterCase random_case(unsigned seed) {
  std::mt19937 generator(seed);
  auto pick = [&](const auto& list) { return *(std::begin(list) + generator() % std::size(list)); };
  InterpreterCase c;
  const AxisId rows = c.axis("rows"), cols = c.axis("cols");
  constexpr DType kTypes[] = {DType::F32, DType::BF16, DType::F16};
  std::vector<NodeId> pool{c.tensor("x", pick(kTypes), {rows, cols}), c.tensor("y", pick(kTypes), {rows, cols}),
                           c.tensor("w", pick(kTypes), {cols})};
  std::normal_distribution<double> normal;
  for (const auto& [name, shape] :
       {std::pair<std::string, std::vector<int64_t>>{"x", {kRows, kCols}}, {"y", {kRows, kCols}}, {"w", {kCols}}}) {
    Values values(shape.size() == 2 ? kRows * kCols : kCols);
    const DType type = c.b.graph().find_input(name)->type.floor();
    for (double& v : values) v = round_to(type, normal(generator));
    c.give(name, shape, values);
  }
  constexpr Op kAnywhere[] = {Op::Exp, Op::Tanh, Op::Sigmoid, Op::Erf, Op::Sin, Op::Cos, Op::Neg, Op::Abs, Op::Atan};
  constexpr Op kPositive[] = {Op::Sqrt, Op::Rsqrt, Op::Log, Op::Log1p};
  constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::Mul, Op::Max, Op::Min, Op::Add, Op::Div};
  constexpr Op kReductions[] = {Op::Sum, Op::Mean, Op::ReduceMax, Op::LogSumExp};
  NodeId last = pool[0];
  for (int step = 0; step < 10; ++step) {
    const NodeId x = generator() % 2 ? last : pick(pool), y = pick(pool);
    switch (generator() % 7) {
      case 0:
        last = c.b.make(pick(kAnywhere), {x});
        break;
      case 1: {  // a function of |x| + 1/3
        const NodeId positive = c.b.make(Op::Add, {c.b.make(Op::Abs, {x}), c.b.constant(1.0 / 3)});
        last = c.b.make(pick(kPositive), {positive});
        break;
      }
      case 2:
        last = c.b.cast(x, pick(kTypes));
        break;
      case 3: {
        const NodeId wide = c.b.broadcast(x, {rows, cols});
        last = c.b.make(pick(kReductions), {wide}, AxisList{{cols}});
        break;
      }
      case 4:
        last = c.b.make(Op::Select, {c.b.make(Op::Lt, {x, y}), x, y});
        break;
      case 5:
        last = c.b.make(pick(kBinary), {x, c.b.constant(0.7)});
        break;
      default: {
        const Op op = pick(kBinary);
        const NodeId divisor = op == Op::Div ? c.b.make(Op::Add, {c.b.make(Op::Abs, {y}), c.b.constant(0.5)}) : y;
        last = c.b.make(op, {x, divisor});
      }
    }
    pool.push_back(last);
  }
  c.output(c.b.broadcast(last, {rows, cols}), {rows, cols});
  return c;
}

TEST(InterpreterKernel, RandomKernelsOfRandomGraphsLieWithinTheBound) {
  int64_t elements = 0, exact = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    InterpreterCase c = random_case(seed);
    const Array oracle = c.run(kBounded);
    const Graph& graph = c.b.graph();
    for (unsigned kernel = 0; kernel < 2; ++kernel) {
      const Values got = RandomKernel(graph, c.call, seed * 7 + kernel).run();
      const ErrorReport report = compare(oracle, got, graph[graph.outputs[0].node].type.floor());
      ASSERT_TRUE(report.within()) << "seed " << seed << ": " << describe(report);
    }
    elements += static_cast<int64_t>(oracle.values.size());
    for (double bound : oracle.bounds) exact += bound == 0;
  }
  EXPECT_GT(exact * 10, elements);  // the bound says something
}

TEST(InterpreterKernel, AWrongRowInTheTableOfMeaningsIsCaught) {
  // Each op's row is replaced by that of another with as many operands: some kernel of some graph must leave the bound.
  const std::pair<Op, Op> planted[] = {{Op::Exp, Op::Tanh},    {Op::Sigmoid, Op::Erf}, {Op::Sin, Op::Cos},
                                       {Op::Abs, Op::Neg},     {Op::Add, Op::Sub},     {Op::Mul, Op::Div},
                                       {Op::Max, Op::Min},     {Op::Sum, Op::Mean},    {Op::ReduceMax, Op::LogSumExp},
                                       {Op::Rsqrt, Op::Sqrt},  {Op::Log, Op::Log1p},   {Op::LogSumExp, Op::Sum},
                                       {Op::Tanh, Op::Sigmoid}};
  for (const auto& [op, other] : planted) {
    const std::map<Op, Meaning> wrong{{op, meaning_of(other, {})}};
    InterpretOptions options = kBounded;
    options.replaced_meanings = &wrong;
    bool caught = false;
    for (unsigned seed = 0; seed < 400 && !caught; ++seed) {
      InterpreterCase c = random_case(seed);
      const Graph& graph = c.b.graph();
      const Values got = RandomKernel(graph, c.call, seed).run();
      caught = !compare(c.run(options), got, graph[graph.outputs[0].node].type.floor()).within();
    }
    EXPECT_TRUE(caught) << info(op).name << " as " << info(other).name;
  }
}

}  // namespace
}  // namespace kw::ir
