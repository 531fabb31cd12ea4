#include "planted.h"

#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "ir/infer.h"

namespace kw::tools {

using namespace ir;

namespace {

struct Swap {
  Op op;
  Op with;
};

// Ops whose rows have the same form, so that one can stand in for the other.
constexpr Swap kMeanings[] = {
    {Op::Exp, Op::Exp2},
    {Op::Sin, Op::Cos},
    {Op::Round, Op::Floor},
    {Op::Add, Op::Sub},
    {Op::Max, Op::Min},
    {Op::Lt, Op::Le},
    {Op::And, Op::Or},
    {Op::Sum, Op::Mean},
    {Op::ReduceMax, Op::ReduceMin},
    {Op::Any, Op::All},
    {Op::ArgMax, Op::ArgMin},
    {Op::CumSum, Op::CumProd},
    {Op::CumMax, Op::CumMin},
    {Op::ScatterAdd, Op::ScatterSet},
    {Op::SegmentMax, Op::SegmentMin},
    {Op::Sort, Op::ArgSort},
    {Op::TopK, Op::ArgTopK},
};
constexpr Swap kDerivatives[] = {
    {Op::Exp, Op::Exp2}, {Op::Sin, Op::Cos},       {Op::Tanh, Op::Sigmoid},
    {Op::Sub, Op::Add},  {Op::Mul, Op::Add},       {Op::Max, Op::Min},
    {Op::Sum, Op::Mean}, {Op::LogSumExp, Op::Sum}, {Op::CumSum, Op::CumLogSumExp},
    {Op::Erf, Op::Atan}, {Op::Sqrt, Op::Rsqrt},
};

constexpr Swap kShapes[] = {{Op::Sum, Op::Add},
                            {Op::Gather, Op::ScatterAdd},
                            {Op::Split, Op::Add},
                            {Op::TopK, Op::Add},
                            {Op::Contract, Op::Mul}};

Op stand_in(std::span<const Swap> swaps, const std::string& name) {
  for (const Swap& swap : swaps)
    if (info(swap.op).name == name) return swap.with;
  std::fprintf(stderr, "no wrong row is known for %s\n", name.c_str());
  std::exit(2);
}

}  // namespace

Result<Graph> Plant::inferred_wrongly(const Graph& graph) const {
  if (!inference) return graph;
  GraphBuilder builder(*inference);
  Graph& start = builder.graph();
  start = graph;
  start.nodes.clear();
  start.origins.clear();
  start.inputs.clear();
  start.outputs.clear();
  start.names.clear();
  std::map<NodeId, NodeId> image;
  for (Input input : graph.inputs) {
    NodeId old = input.node;
    image[old] = builder.input(std::move(input));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (image.contains(static_cast<NodeId>(i))) continue;
    std::vector<NodeId> args = graph.nodes[i].args;
    for (NodeId& arg : args) arg = image.at(arg);
    KW_TRY(image[static_cast<NodeId>(i)], builder.try_make(graph.nodes[i].op, std::move(args), graph.nodes[i].attr));
  }
  for (Output output : graph.outputs) {
    const std::vector<AxisId>& before = graph[output.node].axes;
    output.node = image.at(output.node);
    if (builder[output.node].axes != before) return bad_input("the output " + output.name + " has other axes");
    builder.output(std::move(output));
  }
  return std::move(builder).finish();
}

Plant planted(const std::string& what) {
  Plant plant;
  for (const Rule& rule : rewrite_rules()) plant.rewrites.push_back(rule);
  std::vector<std::string> words = split(what, ':');
  if (what.empty()) return plant;
  if (words.size() == 2 && words[0] == "meaning") {
    plant.meanings.emplace(*op_from_name(words[1]), meaning_of(stand_in(kMeanings, words[1]), {}));
  } else if (words.size() == 2 && words[0] == "derivative") {
    plant.derivatives.emplace(*op_from_name(words[1]), derivative_rule(stand_in(kDerivatives, words[1])));
  } else if (what == "promotion") {
    plant.inference = inference_rules();
    plant.inference->promote = [](Type a, Type b) {
      bool both = a.floating() && b.floating() && !a.weak() && !b.weak();
      return both ? a : promote(a, b);
    };
  } else if (words.size() == 2 && words[0] == "shape") {
    plant.inference = inference_rules();
    Op op = *op_from_name(words[1]);
    InferenceRule row = plant.inference->rows[op];
    row.shape = plant.inference->rows[stand_in(kShapes, words[1])].shape;
    plant.inference->rows = plant.inference->rows.with(op, row);
  } else if (what == "rewrite") {
    plant.rewrites.push_back({"planted", "sub(x, y)", "add(x, y)"});
  } else {
    std::fprintf(stderr, "nothing can be planted as '%s'\n", what.c_str());
    std::exit(2);
  }
  return plant;
}

}  // namespace kw::tools
