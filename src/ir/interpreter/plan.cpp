#include "ir/interpreter/plan.h"

#include <algorithm>

namespace kw::ir::interpreter {

bool holds_exactly(DType to, DType from) {
  if (to == from || is_weak(to)) return true;
  if (is_weak(from)) return false;
  const DTypeInfo &a = info(from), &b = info(to);
  if (a.category == Category::Bool) return true;
  if (b.category == Category::Bool) return false;
  if (a.category == Category::Integer && b.category == Category::Integer)
    return b.bytes > a.bytes && (from == DType::U8 || to != DType::U8);
  if (a.category == Category::Integer) return 8 * a.bytes - (from == DType::U8 ? 0 : 1) <= b.mantissa_bits;
  if (b.category == Category::Integer) return false;
  return a.mantissa_bits <= b.mantissa_bits && a.min_exponent - a.mantissa_bits >= b.min_exponent - b.mantissa_bits &&
         a.max_finite <= b.max_finite && to != DType::F8E4M3;
}

namespace {

template <class V>
decltype(auto) at(V& v, NodeId id) {
  return v[static_cast<size_t>(id)];
}

class Planner {
 public:
  explicit Planner(const Context& context) : context_(context), graph_(context.graph) {}

  Plan run() {
    const size_t n = graph_.nodes.size();
    needed_.assign(n, false);
    for (const Output& output : graph_.outputs) need(output.node);
    for (size_t i = n; i-- > 0;)
      if (needed_[i])
        for (NodeId arg : graph_.nodes[i].args) need(arg);
    plan_.source.resize(n);
    stage_.assign(n, 0);
    plan_.stored.assign(n, false);
    for (NodeId id = 0; id < static_cast<NodeId>(n); ++id) {
      at(plan_.source, id) = id;
      if (at(needed_, id)) place(id);
    }
    mark_stored();
    mark_products();
    order_tasks();
    mark_last_reads();
    return std::move(plan_);
  }

 private:
  void need(NodeId id) { at(needed_, id) = true; }
  NodeId source(NodeId id) const { return plan_.source[static_cast<size_t>(id)]; }
  const Meaning& meaning(NodeId id) const { return meaning_of(graph_[id].op, context_.options); }

  bool changes_nothing(NodeId id) const {
    const Node& node = graph_[id];
    if (node.op == Op::StopGradient) return true;
    if (node.op != Op::Cast) return false;
    const DType to = context_.dtype(node), from = context_.dtype(graph_[node.args[0]]);
    return holds_exactly(to, from) || (!context_.rounded() && is_floating(to));
  }
  // A tensor of the interface is read where it lies, unless it must be rounded first.
  bool is_pointwise(NodeId id) const {
    const Node& node = graph_[id];
    if (node.op == Op::Input) return context_.rounded() && !node.type.weak();
    return meaning(id).values != nullptr;
  }
  const std::vector<AxisId>& space_of(NodeId id) const {
    const Node& node = graph_[id];
    return meaning(id).folding ? graph_[node.args[0]].axes : node.axes;
  }

  void place(NodeId id) {
    const Node& node = graph_[id];
    if (changes_nothing(id)) {
      at(plan_.source, id) = source(node.args[0]);
      at(stage_, id) = at(stage_, source(id));
      return;
    }
    const bool grouped = is_pointwise(id) || meaning(id).folding;
    int32_t stage = 0;
    for (NodeId arg : node.args) {
      const NodeId from = source(arg);
      const bool together = grouped && is_pointwise(from) && graph_[from].axes == space_of(id);
      stage = std::max(stage, at(stage_, from) + (together ? 0 : 1));
    }
    at(stage_, id) = stage;
    if (!grouped) {
      plan_.tasks.push_back({.stage = stage, .node = id, .group = {}, .last_reads = {}});
      return;
    }
    auto [where, is_new] = groups_.try_emplace({stage, space_of(id)}, plan_.tasks.size());
    if (is_new) {
      Task task{.stage = stage, .node = kNoNode, .group = {}, .last_reads = {}};
      task.group.space = context_.ordered(space_of(id));
      plan_.tasks.push_back(std::move(task));
    }
    Group& group = plan_.tasks[where->second].group;
    (meaning(id).folding ? group.folds : group.pointwise).push_back(id);
  }

  void mark_stored() {
    auto store = [this](NodeId id) { at(plan_.stored, id) = true; };
    for (const Output& output : graph_.outputs) store(source(output.node));
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (!at(needed_, id) || source(id) != id) continue;
      const bool grouped = is_pointwise(id) || meaning(id).folding;
      for (NodeId arg : graph_[id].args) {
        const NodeId from = source(arg);
        const bool together =
            grouped && is_pointwise(from) && graph_[from].axes == space_of(id) && at(stage_, from) == at(stage_, id);
        if (!together) store(from);
      }
    }
  }

  // What reads a product is also what reads it unchanged: through a view, a choice, or a cast that changes nothing.
  void mark_products() {
    plan_.products.assign(graph_.nodes.size(), {});
    std::vector<bool> is_product(graph_.nodes.size(), false);
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const std::vector<NodeId>& args = graph_[id].args;
      const auto products = std::count_if(args.begin(), args.end(), [&](NodeId arg) { return at(is_product, arg); });
      if (graph_[id].op == Op::Mul) at(plan_.products, id).of_products = static_cast<int>(products);
      at(is_product, id) = graph_[id].op == Op::Mul || (passes_on(id) && products > 0);
    }
    for (NodeId id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;) {
      const ProductUse& use = at(plan_.products, id);
      const bool sums = is_sum(graph_[id].op) || (passes_on(id) && use.in_sum);
      const bool multiplies = graph_[id].op == Op::Mul || (passes_on(id) && use.in_product);
      for (NodeId arg : graph_[id].args) {
        at(plan_.products, arg).in_sum |= sums;
        at(plan_.products, arg).in_product |= multiplies;
      }
    }
  }
  bool passes_on(NodeId id) const {
    return meaning(id).exactness == Exactness::Moved || meaning(id).view || source(id) != id;
  }
  static bool is_sum(Op op) {
    switch (op) {
      case Op::Add:
      case Op::Sub:
      case Op::Sum:
      case Op::Mean:
      case Op::CumSum:
      case Op::Reduce:
      case Op::Scan:
      case Op::ScatterAdd:
      case Op::SegmentSum:
      case Op::Fold:
        return true;
      default:
        return false;
    }
  }

  void order_tasks() {
    auto first_node = [](const Task& task) {
      if (task.node != kNoNode) return task.node;
      return task.group.pointwise.empty() ? task.group.folds.front() : task.group.pointwise.front();
    };
    std::stable_sort(plan_.tasks.begin(), plan_.tasks.end(), [&](const Task& a, const Task& b) {
      return std::pair(a.stage, first_node(a)) < std::pair(b.stage, first_node(b));
    });
  }

  void mark_last_reads() {
    std::vector<bool> read(graph_.nodes.size(), false);
    for (const Output& output : graph_.outputs) at(read, source(output.node)) = true;
    for (size_t t = plan_.tasks.size(); t-- > 0;) {
      Task& task = plan_.tasks[t];
      std::vector<NodeId> nodes = task.group.pointwise;
      nodes.insert(nodes.end(), task.group.folds.begin(), task.group.folds.end());
      if (task.node != kNoNode) nodes.push_back(task.node);
      for (NodeId id : nodes)
        for (NodeId arg : graph_[id].args)
          if (!at(read, source(arg))) {
            at(read, source(arg)) = true;
            task.last_reads.push_back(source(arg));
          }
    }
  }

  const Context& context_;
  const Graph& graph_;
  Plan plan_;
  std::vector<bool> needed_;
  std::vector<int32_t> stage_;
  std::map<std::pair<int32_t, std::vector<AxisId>>, size_t> groups_;
};

}  // namespace

Plan make_plan(const Context& context) { return Planner(context).run(); }

}  // namespace kw::ir::interpreter
