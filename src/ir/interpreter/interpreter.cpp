#include "ir/interpreter/interpreter.h"

#include <algorithm>

#include "ir/interpreter/group.h"

namespace kw::ir {
namespace {

using namespace interpreter;

class Run {
 public:
  Run(const Graph& graph, const Environment& call, const InterpretOptions& options, BoundSizes sizes)
      : graph_(graph),
        call_(call),
        context_{graph, options, std::move(sizes), rank_axes(graph), {}, {}},
        plan_(make_plan(context_)),
        values_(graph.nodes.size()) {}

  Result<std::vector<Array>> run() {
    KW_CHECK(check_axes());
    place_outputs();
    for (const Task& task : plan_.tasks) load_inputs(task);
    for (const Task& task : plan_.tasks) {
      if (task.node == kNoNode) {
        KW_CHECK(run_group(context_, plan_, task.group, values_));
      } else if (graph_[task.node].op != Op::Input) {
        KW_CHECK(run_node(task.node));
      }
      for (NodeId id : task.last_reads) at(id) = {};
    }
    for (size_t i = 0; i < outputs_.size(); ++i) collect(graph_.outputs[i], outputs_[i]);
    return std::move(outputs_);
  }

 private:
  View& at(NodeId id) { return values_[static_cast<size_t>(id)]; }
  View& value(NodeId id) { return at(plan_.source[static_cast<size_t>(id)]); }

  // Every axis of every node that runs has a size: no shape may leave one open.
  Status check_axes() const {
    auto check = [this](NodeId id) -> Status {
      for (AxisId axis : graph_[id].axes)
        if (!context_.sizes.axes[static_cast<size_t>(axis)])
          KW_CHECK(context_.sizes.value(graph_, graph_.axis(axis).size));
      return {};
    };
    for (const Task& task : plan_.tasks) {
      if (task.node != kNoNode) {
        KW_CHECK(check(task.node));
      }
      for (NodeId id : task.group.pointwise) {
        KW_CHECK(check(id));
      }
      for (NodeId id : task.group.folds) {
        KW_CHECK(check(id));
      }
    }
    return {};
  }

  void load_inputs(const Task& task) {
    std::vector<NodeId> nodes = task.group.pointwise;
    if (task.node != kNoNode) nodes.push_back(task.node);
    for (NodeId id : nodes)
      if (graph_[id].op == Op::Input)
        at(id) = input_view(graph_.inputs[static_cast<size_t>(graph_[id].as<InputRef>().index)]);
  }

  View input_view(const Input& input) {
    auto given = call_.inputs.find(input.name);
    if (given == call_.inputs.end()) {
      Store store = context_.allocate_in_order({});
      *store.values = input.default_value->number();
      if (store.bounds) *store.bounds = 0;
      return store.view;
    }
    const Array& array = given->second;
    View view{array.values.data(), array.bounds.empty() ? nullptr : array.bounds.data(), {}, {}, nullptr};
    int64_t stride = 1;
    for (size_t d = input.dims.size(); d-- > 0; stride *= array.shape[d]) {
      if (input.dims[d] == kUnit) continue;
      view.axes.push_back(input.dims[d]);
      view.strides.push_back(stride);
    }
    return view;
  }

  Status run_node(NodeId id) {
    const Node& node = graph_[id];
    const Meaning& meaning = meaning_of(node.op, context_.options);
    if (meaning.view) {
      ViewCall call{context_, id, node, value(node.args[0]), value(node.args[0])};
      KW_CHECK(meaning.view(call));
      at(id) = std::move(call.result);
      return {};
    }
    std::vector<View> args;
    for (NodeId arg : node.args) args.push_back(value(arg));
    WholeCall call{context_, id, node, args, context_.allocate(id)};
    KW_CHECK(meaning.whole(call));
    finish_values(context_, node, meaning.exactness, call.result.values, call.result.bounds, call.result.count);
    at(id) = call.result.view;
    return {};
  }

  static std::vector<AxisId> axes_of(const Output& output) {
    std::vector<AxisId> axes;
    for (AxisId axis : output.dims)
      if (axis != kUnit) axes.push_back(axis);
    return axes;
  }

  void place_outputs() {
    outputs_.resize(graph_.outputs.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Output& output = graph_.outputs[i];
      for (AxisId axis : output.dims) outputs_[i].shape.push_back(axis == kUnit ? 1 : context_.size(axis));
      const NodeId id = plan_.source[static_cast<size_t>(output.node)];
      if (axes_of(output) == context_.ordered(graph_[id].axes)) context_.places.try_emplace(id, &outputs_[i]);
    }
  }

  // Copies an output to the caller, unless it was computed there.
  void collect(const Output& output, Array& array) {
    const View& view = value(output.node);
    const std::vector<AxisId> axes = axes_of(output);
    if (view.values == array.values.data() && context_.count(axes) > 0) return;
    const Store store = context_.dense(view, axes);
    array.values.assign(store.values, store.values + store.count);
    if (store.bounds) array.bounds.assign(store.bounds, store.bounds + store.count);
  }

  const Graph& graph_;
  const Environment& call_;
  Context context_;
  Plan plan_;
  std::vector<View> values_;
  std::vector<Array> outputs_;
};

}  // namespace

Result<std::vector<Array>> interpret(const Graph& graph, const Environment& call, const InterpretOptions& options) {
  if (options.semantics == Semantics::Rounded)
    for (const Node& node : graph.nodes)
      if (!node.type.concrete())
        return bad_input("the element types of " + graph.name + " are not bound; rounding needs each of them");
  KW_TRY(BoundSizes sizes, solve_sizes(graph, call));
  return Run(graph, call, options, std::move(sizes)).run();
}

}  // namespace kw::ir
