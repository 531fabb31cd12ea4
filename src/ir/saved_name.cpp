#include "ir/saved_name.h"

#include <algorithm>
#include <utility>

namespace kw::ir {
namespace {

// Words for ops whose operands say nothing more. Never the name of a function: the word becomes a variable of kernels.
constexpr std::pair<Op, std::string_view> kWords[] = {
    {Op::Neg, "negated"},
    {Op::Abs, "magnitude"},
    {Op::Sign, "direction"},
    {Op::Exp, "exponential"},
    {Op::Not, "condition"},
    {Op::And, "condition"},
    {Op::Or, "condition"},
    {Op::Xor, "condition"},
    {Op::Lt, "condition"},
    {Op::Le, "condition"},
    {Op::Eq, "condition"},
    {Op::Ne, "condition"},
    {Op::Sub, "difference"},
    {Op::Add, "sum_of_two"},
    {Op::Mul, "product"},
    {Op::Div, "quotient"},
    {Op::Pow, "power"},
    {Op::Max, "larger"},
    {Op::Min, "smaller"},
    {Op::Select, "selected"},
    {Op::Sum, "total"},
    {Op::Mean, "mean"},
    {Op::Prod, "product"},
    {Op::ReduceMax, "maximum"},
    {Op::ReduceMin, "minimum"},
    {Op::LogSumExp, "lse"},
    {Op::CumSum, "running_sum"},
    {Op::CumProd, "running_product"},
    {Op::CumMax, "running_maximum"},
    {Op::CumMin, "running_minimum"},
    {Op::Gather, "gathered"},
    {Op::ScatterAdd, "scattered"},
    {Op::ScatterSet, "scattered"},
    {Op::SegmentIndex, "segment"},
    {Op::SegmentSum, "segment_total"},
    {Op::SegmentMax, "segment_maximum"},
    {Op::SegmentMin, "segment_minimum"},
    {Op::Sort, "in_order"},
    {Op::ArgSort, "order"},
    {Op::TopK, "top"},
    {Op::ArgTopK, "top_index"},
    {Op::Contract, "product"},
    {Op::Random, "draw"},
};

std::string word_for(Op op) {
  for (const auto& [known, word] : kWords)
    if (known == op) return std::string(word);
  return std::string(info(op).name) + "_value";
}

class Namer {
 public:
  explicit Namer(const Graph& graph) : graph_(graph) {}

  std::string name(NodeId id) const {
    const Node& node = graph_[id];
    const auto arg = [&](size_t i) { return graph_[node.args[i]].op; };
    switch (node.op) {
      case Op::Cast:
      case Op::StopGradient:
        return same_as(node.args[0], "rounded");
      case Op::Mean:
        return is_square(node.args[0]) ? (is_centred(squared(node.args[0])) ? "var" : "mean_square") : "mean";
      case Op::Sum:
        return sum(node);
      case Op::Rsqrt:
        return is_spread(node.args[0]) ? "rstd" : "inverse_root";
      case Op::Sqrt:
        return root(node.args[0]);
      case Op::Log:
        return name(beneath(node.args[0])) == "sum_exp" ? "log_sum_exp" : "logarithm";
      case Op::Div:
        return quotient(node);
      case Op::Sub:
        return is_statistic(node.args[1], Op::Mean) ? "centred" : "difference";
      case Op::Add:
      case Op::Mul:
        if (node.op == Op::Add && (arg(0) == Op::Log || arg(1) == Op::Log)) return "lse";
        if (is_number(node.args[0]) || is_number(node.args[1])) return node.op == Op::Add ? "shifted" : "scaled";
        return node.op == Op::Mul && node.args[0] == node.args[1] ? "square" : word_for(node.op);
      case Op::Max:
      case Op::Min:  // with a number: a limit of something
        for (size_t i = 0; i < 2; ++i)
          if (is_number(node.args[i])) return same_as(node.args[1 - i], "limited");
        return word_for(node.op);
      case Op::Select:  // with a number: something, where it counts
        for (size_t i = 1; i < 3; ++i)
          if (is_number(node.args[i])) return same_as(node.args[3 - i], "selected");
        return word_for(node.op);
      default:
        if (info(node.op).kind == OpKind::View) return same_as(node.args[0], std::string(info(node.op).name));
        return word_for(node.op);
    }
  }

 private:
  // Through what changes neither value nor meaning.
  NodeId beneath(NodeId id) const {
    while (graph_[id].op == Op::Cast || graph_[id].op == Op::StopGradient || graph_[id].op == Op::Broadcast)
      id = graph_[id].args[0];
    return id;
  }
  bool is_number(NodeId id) const {
    const Node& node = graph_[beneath(id)];
    return node.type.weak() && node.axes.empty();
  }
  bool is_square(NodeId id) const {
    const Node& node = graph_[beneath(id)];
    if (node.op == Op::Mul) return node.args[0] == node.args[1];
    const Literal* power = node.op == Op::Pow ? std::get_if<Literal>(&graph_[node.args[1]].attr) : nullptr;
    return power != nullptr && power->number() == 2;
  }
  NodeId squared(NodeId id) const { return beneath(graph_[beneath(id)].args[0]); }

  // A mean or a sum over axes, perhaps rounded.
  bool is_statistic(NodeId id, Op op) const {
    const Node& node = graph_[beneath(id)];
    if (node.op == Op::Div && op == Op::Mean)
      return graph_[beneath(node.args[0])].op == Op::Sum && is_number(node.args[1]);
    return node.op == op;
  }
  bool is_centred(NodeId id) const {
    const Node& node = graph_[id];
    return node.op == Op::Sub && is_statistic(node.args[1], Op::Mean);
  }
  // The operand of a sum with a number (var + eps), else the node itself.
  NodeId without_offset(NodeId id) const {
    const Node& node = graph_[beneath(id)];
    if (node.op != Op::Add) return beneath(id);
    for (size_t i = 0; i < 2; ++i)
      if (is_number(node.args[i])) return beneath(node.args[1 - i]);
    return beneath(id);
  }
  bool is_spread(NodeId id) const {
    const NodeId inner = without_offset(id);
    return is_statistic(inner, Op::Mean) || is_statistic(inner, Op::Sum);
  }

  std::string sum(const Node& node) const {
    const NodeId inner = beneath(node.args[0]);
    if (graph_[inner].type.boolean()) return "count";
    if (graph_[inner].op == Op::Exp) return "sum_exp";
    return is_square(inner) ? "sum_square" : "total";
  }
  std::string root(NodeId id) const {
    const NodeId inner = without_offset(id);
    const std::string of = name(inner);
    if (of == "var") return "std";
    if (of == "mean_square") return "rms";
    return of == "sum_square" ? "norm" : "root";
  }
  std::string quotient(const Node& node) const {
    const Node& above = graph_[beneath(node.args[0])];
    if (is_number(node.args[1]))
      return above.op == Op::Sum ? (is_square(above.args[0]) ? "mean_square" : "mean") : "scaled";
    if (!is_number(node.args[0])) return "quotient";
    const Node& below = graph_[beneath(node.args[1])];
    return below.op == Op::Sqrt && is_spread(below.args[0]) ? "rstd" : "reciprocal";
  }

  // What is another form of a value is called after it.
  std::string same_as(NodeId id, const std::string& form) const {
    const Node& node = graph_[id];
    if (node.op == Op::Input) {
      std::string input = graph_.inputs[static_cast<size_t>(node.as<InputRef>().index)].name;
      std::replace(input.begin(), input.end(), '.', '_');  // of a parameter: lm_head.weight
      return input + "_" + form;
    }
    if (const auto named = graph_.names.find(id); named != graph_.names.end()) return named->second + "_" + form;
    return name(id);
  }

  const Graph& graph_;
};

}  // namespace

std::string descriptive_name(const Graph& graph, NodeId node) {
  // The source named what this is rounded to: the two differ in their type alone.
  for (const auto& [named, name] : graph.names) {
    const Node& cast = graph[named];
    if (cast.op != Op::Cast || cast.args[0] != node) continue;
    return name + (opmath(cast.type) == graph[node].type ? "_wide" : "_narrow");
  }
  return Namer(graph).name(node);
}

}  // namespace kw::ir
