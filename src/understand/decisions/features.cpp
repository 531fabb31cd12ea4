#include <algorithm>
#include <array>

#include "understand/decisions/casting.h"
#include "understand/decisions/closest.h"

namespace kw::understand {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::OpKind;

constexpr std::array<FeatureRow, kFeatureCount> kRows = {{
    {Feature::Activation, "activation", 2, "a nonlinear function of one element"},
    {Feature::Rectified, "rectified", 1, "a maximum or minimum with a number"},
    {Feature::Clamped, "clamped", 1, "a value between two numbers"},
    {Feature::Sigmoid, "sigmoid", 1, "a sigmoid"},
    {Feature::Tanh, "tanh", 1, "a hyperbolic tangent"},
    {Feature::ErrorFunction, "error function", 1, "an error function"},
    {Feature::SoftPlus, "softplus", 1, "log(1 + exp(x))"},
    {Feature::Squared, "squared", 1, "a value times itself, outside a statistic"},
    {Feature::SelfGated, "self-gated", 1, "a value times a nonlinear function of itself"},
    {Feature::Gated, "gated", 2, "a nonlinear function of one value times another value"},
    {Feature::MeanSquare, "mean of squares", 2, "a sum or mean of squares"},
    {Feature::Centred, "centred", 2, "a value minus its own mean"},
    {Feature::Normalised, "normalised", 2, "a value times or over a statistic of itself"},
    {Feature::Powers, "several powers", 2, "several powers of one value, each normalised"},
    {Feature::Exponential, "sum of exponentials", 2, "a sum of exponentials"},
    {Feature::Logarithm, "logarithm", 1, "a logarithm"},
    {Feature::Weighted, "weighted", 1, "a product with a tensor of fewer axes"},
    {Feature::Biased, "biased", 1, "a sum with a tensor of fewer axes"},
    {Feature::Grouped, "grouped", 1, "a reduction over a part of an axis"},
    {Feature::SeveralAxes, "several axes", 1, "a reduction over several axes together"},
    {Feature::InnerMean, "mean over an axis", 1, "a mean of an input along one of its axes"},
    {Feature::ResidualSum, "residual sum", 1, "the sum of two inputs, returned too"},
    {Feature::Loss, "loss", 2, "everything joined to a single number"},
    {Feature::TwoTensors, "two tensors", 1, "two inputs of the same shape"},
    {Feature::Difference, "difference", 1, "the difference of two inputs"},
    {Feature::Absolute, "absolute value", 1, "an absolute value"},
    {Feature::Divergence, "divergence", 1, "a tensor times the logarithm of it"},
    {Feature::Mixture, "mixture", 1, "a logarithm of a sum of two tensors"},
    {Feature::Selected, "selected", 1, "one of two values by a condition"},
    {Feature::Indexed, "indexed", 2, "values read by an index tensor"},
    {Feature::Scattered, "scattered", 1, "values sent to places given by an index tensor"},
    {Feature::Positions, "positions", 1, "numbers that say where an element is"},
    {Feature::Rotated, "rotated", 2, "pairs of elements turned by an angle"},
    {Feature::Contraction, "contraction", 2, "a sum of products over an axis: a matrix product"},
    {Feature::TwoContractions, "two contractions", 1, "two of them"},
    {Feature::Window, "window", 2, "sliding windows"},
    {Feature::WindowMaximum, "window maximum", 1, "a maximum over windows"},
    {Feature::Scan, "scan", 2, "a running sum, product or maximum"},
    {Feature::Segment, "segment", 2, "runs of rows given by offsets"},
    {Feature::Sorted, "sorted", 2, "an order along an axis"},
    {Feature::Chosen, "top k", 2, "the k largest along an axis"},
    {Feature::Random, "random", 2, "random numbers"},
}};

constexpr bool rows_stand_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].feature != static_cast<Feature>(i) || kRows[i].name.empty()) return false;
  return true;
}
static_assert(rows_stand_in_order(), "a feature is the index of its row");

class Finder {
 public:
  explicit Finder(const GraphView& view) : view_(view), graph_(view.graph) {}

  std::set<Feature> run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) look_at(static_cast<NodeId>(i));
    whole_graph();
    return found_;
  }

 private:
  bool is_nonlinear(Op op) const {
    static constexpr std::array kOps = {Op::Exp,     Op::Exp2, Op::Expm1, Op::Log1p, Op::Tanh, Op::Erf,   Op::Erfc,
                                        Op::Sigmoid, Op::Sin,  Op::Cos,   Op::Max,   Op::Min,  Op::Select};
    return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
  }

  // Whether a nonlinear operation lies between the node and the inputs, with no reduction between.
  bool has_nonlinear(NodeId node) const {
    std::vector<NodeId> pending = {node};
    std::set<NodeId> seen;
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (!seen.insert(id).second || view_.is_reduction(id)) continue;
      if (is_nonlinear(graph_[id].op) && graph_[id].type.floating()) return true;
      for (const NodeId arg : graph_[id].args) pending.push_back(arg);
    }
    return false;
  }
  // An input as it is, or a part of it, whatever its type and scale.
  NodeId plain_input(NodeId node) const {
    while (true) {
      const Node& n = graph_[node];
      if (n.op == Op::Slice) return node;
      if (n.op == Op::Cast || n.op == Op::Neg || view_.is_view(node) || (n.op == Op::Div && view_.is_number(n.args[1])))
        node = n.args[0];
      else if (n.op == Op::Mul && view_.is_number(n.args[1]))
        node = n.args[0];
      else if (n.op == Op::Mul && view_.is_number(n.args[0]))
        node = n.args[1];
      else
        break;
    }
    return graph_[node].op == Op::Input ? node : ir::kNoNode;
  }
  bool reaches(NodeId node, NodeId source) const { return view_.depends_on(node, source); }

  void look_at(NodeId id) {
    const Node& node = graph_[id];
    switch (ir::info(node.op).kind) {
      case OpKind::Scan:
        add(Feature::Scan);
        break;
      case OpKind::Contraction:
        ++contractions_;
        break;
      case OpKind::Order:
        add(node.op == Op::TopK || node.op == Op::ArgTopK ? Feature::Chosen : Feature::Sorted);
        break;
      case OpKind::Reduction:
        if (view_.is_reduction(id)) reduction(id);
        break;
      case OpKind::Pointwise:
        pointwise(id);
        break;
      default:
        other(id);
    }
  }

  void other(NodeId id) {
    switch (graph_[id].op) {
      case Op::Gather:
        if (!view_.is_view(id)) add(Feature::Indexed);
        break;
      case Op::ScatterAdd:
      case Op::ScatterSet:
        add(Feature::Scattered);
        break;
      case Op::SegmentIndex:
      case Op::SegmentSum:
      case Op::SegmentMax:
      case Op::SegmentMin:
        add(Feature::Segment);
        break;
      case Op::Window:
      case Op::Fold:
        add(Feature::Window);
        break;
      case Op::Iota:
        add(Feature::Positions);
        break;
      case Op::Random:
        add(Feature::Random);
        break;
      case Op::Concat:
        if (concatenates_turned_parts(id)) add(Feature::Rotated);
        break;
      default:
        break;
    }
  }

  // [-b, a] from the parts a, b of one tensor, or [a cos - b sin, b cos + a sin].
  bool concatenates_turned_parts(NodeId id) const {
    bool negated = false;
    bool parts = false;
    std::vector<NodeId> pending(graph_[id].args.begin(), graph_[id].args.end());
    std::set<NodeId> seen;
    while (!pending.empty()) {
      const NodeId node = pending.back();
      pending.pop_back();
      if (!seen.insert(node).second) continue;
      negated = negated || graph_[node].op == Op::Neg || graph_[node].op == Op::Sub;
      parts = parts || graph_[node].op == Op::Slice || graph_[node].op == Op::Split;
      for (const NodeId arg : graph_[node].args) pending.push_back(arg);
    }
    return negated && parts;
  }

  void reduction(NodeId id) {
    const Node& node = graph_[id];
    const NodeId operand = view_.behind_casts(node.args[0]);
    const Node& inner = graph_[operand];
    if (node.op == Op::LogSumExp) {
      add(Feature::Exponential);
      add(Feature::Logarithm);
    }
    if (node.op == Op::Sum || node.op == Op::Mean) {
      if (inner.op == Op::Mul && inner.args[0] == inner.args[1]) add(Feature::MeanSquare);
      if (inner.op == Op::Exp) add(Feature::Exponential);
      if (plain_input(node.args[0]) != ir::kNoNode && view_.is_output(id)) add(Feature::InnerMean);
    }
    if ((node.op == Op::ReduceMax || node.op == Op::ReduceMin) && window_below(node.args[0]))
      add(Feature::WindowMaximum);
    const auto* list = std::get_if<ir::AxisList>(&node.attr);
    if (list && list->axes.size() > 1 && !node.axes.empty()) add(Feature::SeveralAxes);
    if (list && splits_below(node.args[0], list->axes)) add(Feature::Grouped);
  }
  bool window_below(NodeId node) const {
    while (!graph_[node].args.empty() &&
           (graph_[node].op == Op::Cast || ir::info(graph_[node].op).kind == OpKind::View ||
            ir::info(graph_[node].op).kind == OpKind::Reduction)) {
      if (graph_[node].op == Op::Window) return true;
      node = graph_[node].args[0];
    }
    return false;
  }
  bool splits_below(NodeId node, const std::vector<ir::AxisId>& axes) const {
    for (NodeId i = 0; i <= node; ++i)
      if (graph_[i].op == Op::Split && reaches(node, i))
        if (std::find(axes.begin(), axes.end(), graph_[i].as<ir::SplitAttr>().inner) != axes.end()) return true;
    return false;
  }

  void pointwise(NodeId id) {
    const Node& node = graph_[id];
    if (!node.type.floating() || node.type.weak()) return;
    switch (node.op) {
      case Op::Sigmoid:
        add(Feature::Sigmoid);
        break;
      case Op::Tanh:
        add(Feature::Tanh);
        break;
      case Op::Erf:
      case Op::Erfc:
        add(Feature::ErrorFunction);
        break;
      case Op::Log1p:
        add(Feature::SoftPlus);
        break;
      case Op::Log:
      case Op::Log2:
        add(Feature::Logarithm);
        if (graph_[view_.behind_casts(node.args[0])].op == Op::Add && view_.inputs_of(id).size() >= 2)
          add(Feature::Mixture);
        break;
      case Op::Abs:
        add(Feature::Absolute);
        break;
      case Op::Select:
        selection(id);
        break;
      case Op::Max:
      case Op::Min:
        for (const NodeId arg : node.args) {
          if (!view_.is_number(arg)) continue;
          add(Feature::Rectified);
          const NodeId below = node.args[node.args[0] == arg ? 1 : 0];
          const Op opposite = node.op == Op::Max ? Op::Min : Op::Max;
          if (graph_[view_.behind_casts(below)].op == opposite) add(Feature::Clamped);
        }
        break;
      case Op::Sub:
        difference(id);
        break;
      case Op::Add:
        sum(id);
        break;
      case Op::Mul:
        product(id);
        break;
      default:
        break;
    }
  }

  // x or a number, by how x compares with that number, is a limit; x == 0 only takes one point out.
  void selection(NodeId id) {
    const Node& node = graph_[id];
    const Node& condition = graph_[node.args[0]];
    const auto is_limit = [&](NodeId number, NodeId value) {
      return view_.is_number(number) && (condition.args == std::vector<NodeId>{number, value} ||
                                         condition.args == std::vector<NodeId>{value, number});
    };
    const bool compares = condition.op == Op::Lt || condition.op == Op::Le;
    const bool point = condition.op == Op::Eq && graph_[condition.args[0]].type.floating();
    // limited from above, the value may be one that is limited from below already
    const NodeId inner = node.args[2];
    const bool twice = graph_[inner].op == Op::Select && compares && is_limit(node.args[1], graph_[inner].args[2]);
    if (compares && (is_limit(node.args[1], node.args[2]) || is_limit(node.args[2], node.args[1]) || twice)) {
      add(Feature::Rectified);
      if (twice) add(Feature::Clamped);
    } else if (!point) {
      add(Feature::Selected);
    }
  }

  void difference(NodeId id) {
    const Node& node = graph_[id];
    const NodeId a = plain_input(node.args[0]);
    const NodeId b = plain_input(node.args[1]);
    if (a != ir::kNoNode && b != ir::kNoNode && a != b && graph_[a].axes == graph_[b].axes) add(Feature::Difference);
    const NodeId mean = view_.behind_casts(node.args[1]);
    const bool statistic =
        graph_[mean].op == Op::Mean ||
        (graph_[mean].op == Op::Div && view_.is_reduction(view_.behind_casts(graph_[mean].args[0])) &&
         graph_[view_.behind_casts(graph_[mean].args[0])].op == Op::Sum);
    if (statistic && graph_[node.args[1]].axes.size() < graph_[node.args[0]].axes.size()) add(Feature::Centred);
  }

  bool has_fewer_axes(NodeId part, NodeId whole) const {
    return !graph_[part].axes.empty() && graph_[part].axes.size() < graph_[whole].axes.size();
  }
  // A tensor of the interface with fewer axes than what it meets, perhaps shifted by a number (1 + w).
  bool is_weight(NodeId node, NodeId whole) const {
    if (!has_fewer_axes(node, whole)) return false;
    std::vector<NodeId> pending = {node};
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (view_.is_reduction(id)) return false;
      for (const NodeId arg : graph_[id].args) pending.push_back(arg);
    }
    return !view_.inputs_of(node).empty();
  }

  void sum(NodeId id) {
    const Node& node = graph_[id];
    for (int side = 0; side < 2; ++side)
      if (is_weight(node.args[static_cast<std::size_t>(side)], node.args[static_cast<std::size_t>(1 - side)]))
        add(Feature::Biased);
    const NodeId a = plain_input(node.args[0]);
    const NodeId b = plain_input(node.args[1]);
    if (a != ir::kNoNode && b != ir::kNoNode && a != b && graph_[a].axes == graph_[b].axes && view_.is_output(id) &&
        !view_.users(id).empty())
      add(Feature::ResidualSum);
  }

  void product(NodeId id) {
    const Node& node = graph_[id];
    const NodeId a = node.args[0];
    const NodeId b = node.args[1];
    if (a == b) {
      bool statistic = false;
      for (const NodeId user : view_.users(id)) statistic = statistic || view_.is_reduction(user);
      bool leaves = view_.is_output(id);
      for (const NodeId user : view_.users(id))
        leaves = leaves || (graph_[user].op == Op::Cast && view_.is_output(user));
      if (!statistic && leaves) add(Feature::Squared);
      return;
    }
    for (int side = 0; side < 2; ++side) {
      const NodeId value = side == 0 ? a : b;
      const NodeId other = side == 0 ? b : a;
      if (is_weight(other, value)) add(Feature::Weighted);
      if (graph_[value].axes != graph_[other].axes || graph_[value].axes.empty()) continue;
      const NodeId input = plain_input(value);
      if (input != ir::kNoNode && has_nonlinear(other) && !reduces(other))
        add(reaches(other, input) || shares_leaf(other, input) ? Feature::SelfGated : Feature::Gated);
      const NodeId log = view_.behind_casts(other);
      if (contains_log(log) && shares_input(value, other)) add(Feature::Divergence);
    }
  }
  bool reduces(NodeId node) const {
    for (NodeId i = 0; i <= node; ++i)
      if (view_.is_reduction(i) && reaches(node, i)) return true;
    return false;
  }
  // The same part of the same input, cast another time.
  bool shares_leaf(NodeId node, NodeId input) const {
    const NodeId leaf = graph_[input].op == Op::Slice ? ir::kNoNode : view_.behind_casts(input);
    return leaf != ir::kNoNode && reaches(node, leaf);
  }
  bool shares_input(NodeId a, NodeId b) const {
    std::vector<int> shared;
    std::set_intersection(view_.inputs_of(a).begin(), view_.inputs_of(a).end(), view_.inputs_of(b).begin(),
                          view_.inputs_of(b).end(), std::back_inserter(shared));
    return !shared.empty();
  }
  bool contains_log(NodeId node) const {
    if (graph_[node].op == Op::Log) return true;
    if (graph_[node].op != Op::Sub && graph_[node].op != Op::Add) return false;
    return graph_[view_.behind_casts(graph_[node].args[0])].op == Op::Log ||
           graph_[view_.behind_casts(graph_[node].args[1])].op == Op::Log;
  }

  void whole_graph() {
    if (contractions_ > 0) add(Feature::Contraction);
    if (contractions_ > 1) add(Feature::TwoContractions);
    const std::size_t normalised = normalised_values(view_).size();
    if (normalised > 0) add(Feature::Normalised);
    if (normalised >= 3) add(Feature::Powers);
    bool reduces_any = false;
    bool nonlinear = false;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      reduces_any = reduces_any || view_.is_reduction(static_cast<NodeId>(i));
      nonlinear = nonlinear || (is_nonlinear(graph_.nodes[i].op) && graph_.nodes[i].type.floating());
    }
    if (!graph_.outputs.empty() && graph_[graph_.outputs[0].node].axes.empty() && reduces_any) add(Feature::Loss);
    if (nonlinear && !reduces_any && contractions_ == 0) add(Feature::Activation);
    int same_shape = 0;
    const ir::Input* first = nullptr;
    for (const ir::Input& input : graph_.inputs) {
      if (input.kind != ir::InputKind::Tensor || !input.type.floating()) continue;
      if (!first) first = &input;
      if (graph_[input.node].axes == graph_[first->node].axes && !input.dims.empty()) ++same_shape;
    }
    if (same_shape >= 2) add(Feature::TwoTensors);
  }

  void add(Feature feature) { found_.insert(feature); }

  const GraphView& view_;
  const Graph& graph_;
  std::set<Feature> found_;
  int contractions_ = 0;
};

}  // namespace

std::span<const FeatureRow> feature_rows() { return kRows; }
std::string_view to_text(Feature feature) { return kRows[static_cast<std::size_t>(feature)].name; }

std::set<Feature> features_of(const GraphView& view) { return Finder(view).run(); }

}  // namespace kw::understand
