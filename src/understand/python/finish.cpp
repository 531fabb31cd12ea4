#include "understand/python/finish.h"

#include <algorithm>
#include <set>

#include "ir/infer.h"
#include "understand/torch/memory_order.h"

namespace kw::understand::python {
namespace {

const std::string kUnregistered = "unregistered_";

bool is_placeholder(const ir::Input& input) { return input.name.starts_with("#"); }
bool is_sample(const ir::Input& input) { return input.name.starts_with("%"); }

// The parameters and buffers of a module by their place in it: its own first, then those of its children.
class Naming {
 public:
  explicit Naming(Interpreter& interpreter) : graph_(interpreter.builder().graph()) {}
  std::vector<StateName> names;

  void visit(const Value& module, const std::string& prefix) {
    std::vector<std::pair<std::string, Value>> members = members_of(module);
    for (const ir::InputKind kind : {ir::InputKind::Parameter, ir::InputKind::Buffer}) {
      for (const auto& [name, value] : members) tensor(value, prefix + name, kind);
    }
    for (const auto& [name, value] : members) {
      if (!value.is_tensor()) visit_child(value, prefix + name + ".");
    }
  }

 private:
  std::vector<std::pair<std::string, Value>> members_of(const Value& module) const {
    if (const auto instance = as<InstanceObject>(module)) return instance->attributes.items();
    if (const auto layer = as<Layer>(module)) return layer->attributes;
    if (const auto container = as<ContainerObject>(module)) return container->items;
    return {};
  }
  void visit_child(const Value& value, const std::string& prefix) {
    const auto* object = value.get<std::shared_ptr<Object>>();
    if (!object || !visited_.insert(object->get()).second) return;
    visit(value, prefix);
  }
  void tensor(const Value& value, const std::string& name, ir::InputKind kind) {
    const auto* tensor = value.get<TensorValue>();
    if (!tensor) return;
    // A buffer that was changed in place is named after what it was.
    const ir::Node& node = graph_[tensor->node];
    if (node.op != ir::Op::Input) return;
    const int32_t index = node.as<ir::InputRef>().index;
    const ir::Input& input = graph_.inputs[static_cast<size_t>(index)];
    if (input.kind == kind && is_placeholder(input) && named_.insert(index).second) names.push_back({index, name});
  }

  const ir::Graph& graph_;
  std::set<int32_t> named_;
  std::set<const Object*> visited_;
};

// The tensors that a program returns, with the names that the source gives them.
Status collect_outputs(Interpreter& interpreter, const Value& value, const std::string& name,
                       std::vector<std::pair<std::string, TensorValue>>& out) {
  if (value.is_none()) return {};
  if (const auto* tensor = value.get<TensorValue>()) {
    KW_TRY(TensorValue now, interpreter.current(*tensor));
    out.emplace_back(name, std::move(now));
    return {};
  }
  if (const auto* items = sequence_items(value)) {
    for (const Value& item : *items) KW_CHECK(collect_outputs(interpreter, item, name, out));
    return {};
  }
  if (const auto dict = as<DictObject>(value)) {
    for (const auto& [key, item] : dict->items) {
      const auto* text = key.get<std::string>();
      KW_CHECK(collect_outputs(interpreter, item, text ? *text : name, out));
    }
    return {};
  }
  if (const auto instance = as<InstanceObject>(value)) {
    for (const auto& [key, item] : instance->attributes.items()) KW_CHECK(collect_outputs(interpreter, item, key, out));
    return {};
  }
  return interpreter.refuse("the program returns " + interpreter.type_name(value) + ", not tensors alone",
                            "return the tensors; what is known before the call needs no kernel");
}

void add_outputs(Interpreter& interpreter, std::vector<std::pair<std::string, TensorValue>> outputs,
                 ReadResult& result) {
  ir::GraphBuilder& builder = interpreter.builder();
  std::set<std::string> taken;
  for (const ir::Input& input : builder.graph().inputs) taken.insert(input.name);
  const bool several = outputs.size() > 1;
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto& [name, tensor] = outputs[i];
    if (name.empty()) {
      const auto known = builder.graph().names.find(tensor.node);
      name = known == builder.graph().names.end() ? "" : known->second;
    }
    if (name.empty() || taken.contains(name)) name = several ? "y" + std::to_string(i) : "y";
    while (taken.contains(name)) name += "_";
    taken.insert(name);
    builder.output({name, tensor.node, tensor.dims, std::nullopt});
    result.layouts[name] = ir::text_of(layout_of(builder.graph(), tensor));
  }
}

std::set<ir::NodeId> reachable(const ir::Graph& graph) {
  std::set<ir::NodeId> seen;
  std::vector<ir::NodeId> pending;
  for (const ir::Output& output : graph.outputs) pending.push_back(output.node);
  while (!pending.empty()) {
    const ir::NodeId node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    pending.insert(pending.end(), graph[node].args.begin(), graph[node].args.end());
  }
  return seen;
}

// Tensors in the order of the arguments, then parameters and buffers, then scalars; scalars and buffers that no output
// needs are dropped.
void order_inputs(ir::Graph& graph, const std::vector<int32_t>& state_order) {
  const std::set<ir::NodeId> used = reachable(graph);
  std::vector<int32_t> order;
  const auto take = [&](int32_t index) {
    if (std::find(order.begin(), order.end(), index) == order.end()) order.push_back(index);
  };
  const auto count = static_cast<int32_t>(graph.inputs.size());
  const auto input = [&](int32_t i) -> const ir::Input& { return graph.inputs[static_cast<size_t>(i)]; };
  const auto is_updated = [&](const ir::Input& candidate) {
    return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                       [&](const ir::Output& output) { return output.updates == candidate.name; });
  };
  const auto is_needed = [&](const ir::Input& candidate) {
    const bool is_lost = candidate.name.starts_with(kUnregistered);  // replaced, or never put into the module
    if (candidate.kind == ir::InputKind::Tensor || (candidate.kind == ir::InputKind::Parameter && !is_lost))
      return true;
    return used.contains(candidate.node) || is_updated(candidate);
  };
  for (int32_t i = 0; i < count; ++i) {
    if (input(i).kind == ir::InputKind::Tensor && !is_sample(input(i))) take(i);
  }
  for (const int32_t i : state_order) {
    if (is_needed(input(i))) take(i);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (input(i).kind != ir::InputKind::Scalar && !is_sample(input(i)) && is_needed(input(i)) &&
        (used.contains(input(i).node) || !is_placeholder(input(i))))
      take(i);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (input(i).kind == ir::InputKind::Scalar && is_needed(input(i))) take(i);
  }
  std::vector<ir::Input> inputs;
  std::vector<int32_t> position(graph.inputs.size(), -1);
  for (const int32_t i : order) {
    position[static_cast<size_t>(i)] = static_cast<int32_t>(inputs.size());
    inputs.push_back(graph.inputs[static_cast<size_t>(i)]);
  }
  for (ir::Node& node : graph.nodes) {
    if (node.op == ir::Op::Input)
      node.attr = ir::InputRef{position[static_cast<size_t>(node.as<ir::InputRef>().index)]};
  }
  graph.inputs = std::move(inputs);
}

// Symbols that nothing mentions any more are dropped, and the rest are renumbered.
void drop_unused_symbols(ir::Graph& graph) {
  std::set<ir::AxisId> axes;
  for (const ir::Input& input : graph.inputs) axes.insert(input.dims.begin(), input.dims.end());
  for (const ir::Node& node : graph.nodes) axes.insert(node.axes.begin(), node.axes.end());
  std::set<ir::SymbolId> used;
  const auto mention = [&](const ir::Size& size) {
    for (const ir::SymbolId id : size.symbols()) used.insert(id);
  };
  for (const ir::AxisId axis : axes) {
    if (axis != ir::kUnit) mention(graph.axis(axis).size);
  }
  for (const ir::Node& node : graph.nodes) {
    if (const auto* size = std::get_if<ir::SizeAttr>(&node.attr)) mention(size->size);
    if (const auto* slice = std::get_if<ir::SliceAttr>(&node.attr)) mention(slice->start);
    if (const auto* window = std::get_if<ir::WindowAttr>(&node.attr)) mention(window->pad_before);
  }
  std::erase_if(graph.constraints, [&](const ir::SizeConstraint& constraint) {
    for (const ir::Size* side : {&constraint.left, &constraint.right}) {
      for (const ir::SymbolId id : side->symbols()) {
        if (!used.contains(id)) return true;
      }
    }
    return false;
  });
  std::vector<ir::Symbol> symbols;
  std::vector<ir::SymbolId> renumbered(graph.symbols.size(), 0);
  for (const ir::SymbolId id : used) {
    renumbered[static_cast<size_t>(id)] = static_cast<ir::SymbolId>(symbols.size());
    symbols.push_back(graph.symbols[static_cast<size_t>(id)]);
  }
  const auto renamed = [&](const ir::Size& size) {
    return size.substitute([&](ir::SymbolId id) -> std::optional<ir::Size> {
      return used.contains(id) ? ir::Size::symbol(renumbered[static_cast<size_t>(id)]) : ir::Size(1);
    });
  };
  for (ir::Axis& axis : graph.axes) axis.size = renamed(axis.size);
  for (ir::Node& node : graph.nodes) {
    if (auto* size = std::get_if<ir::SizeAttr>(&node.attr)) size->size = renamed(size->size);
    if (auto* slice = std::get_if<ir::SliceAttr>(&node.attr)) slice->start = renamed(slice->start);
    if (auto* window = std::get_if<ir::WindowAttr>(&node.attr)) window->pad_before = renamed(window->pad_before);
  }
  for (ir::SizeConstraint& constraint : graph.constraints) {
    constraint.left = renamed(constraint.left);
    constraint.right = renamed(constraint.right);
  }
  graph.symbols = std::move(symbols);
}

}  // namespace

std::vector<StateName> state_names(Interpreter& interpreter, const Value& module) {
  Naming naming(interpreter);
  naming.visit(module, "");
  return std::move(naming.names);
}

Result<ReadResult> finish_reading(Interpreter& interpreter, const Value& returned, const Value* module,
                                  std::string name, const std::function<void(ReadResult&)>& named) {
  ReadResult result;
  result.name = name;
  result.is_module = module != nullptr;
  ir::GraphBuilder& builder = interpreter.builder();
  std::vector<std::pair<std::string, TensorValue>> outputs;
  KW_CHECK(collect_outputs(interpreter, returned, "", outputs));
  if (outputs.empty()) return interpreter.refuse(name + " returns no tensor");

  ir::Graph& graph = builder.graph();
  std::vector<int32_t> state_order;
  if (module) {
    for (StateName& state : state_names(interpreter, *module)) {
      graph.inputs[static_cast<size_t>(state.input)].name = std::move(state.name);
      state_order.push_back(state.input);
    }
  }
  int unregistered = 0;
  std::set<std::string> taken;
  for (ir::Input& input : graph.inputs) {
    if (is_placeholder(input)) input.name = kUnregistered + std::to_string(unregistered++);
  }
  for (const ir::Input& input : graph.inputs) {
    if (input.kind == ir::InputKind::Parameter || input.kind == ir::InputKind::Buffer) taken.insert(input.name);
  }
  for (ir::Input& input : graph.inputs) {
    if (input.kind == ir::InputKind::Parameter || input.kind == ir::InputKind::Buffer) continue;
    while (!taken.insert(input.name).second) input.name += "_";
  }
  for (const auto& source : interpreter.parameter_sources()) {
    const ir::Input& input = graph.inputs[static_cast<size_t>(graph[source.node].as<ir::InputRef>().index)];
    result.parameters.push_back({input.name, input.kind, source.init, source.place});
  }

  named(result);

  add_outputs(interpreter, std::move(outputs), result);
  for (const auto& update : interpreter.buffer_updates()) {
    const ir::Input& input = graph.inputs[static_cast<size_t>(graph[update.buffer].as<ir::InputRef>().index)];
    if (is_sample(input)) continue;
    if (input.kind == ir::InputKind::Tensor) {
      result.changed_inputs.push_back(input.name);
      continue;
    }
    builder.output({input.name + "_updated", update.value.node, update.value.dims, input.name});
  }
  for (const ir::NodeId node : reachable(graph)) {
    if (graph[node].op != ir::Op::Input) continue;
    if (!is_sample(graph.inputs[static_cast<size_t>(graph[node].as<ir::InputRef>().index)])) continue;
    return interpreter.refuse("the program uses random or uninitialised elements that its constructor made",
                              "make them a parameter or a buffer");
  }
  order_inputs(graph, state_order);
  // A scalar that was dropped may still have its node: it has no place in the interface any more.
  result.graph = std::move(builder).finish();
  drop_unused_symbols(result.graph);
  result.graph.name = std::move(name);
  return result;
}

}  // namespace kw::understand::python
