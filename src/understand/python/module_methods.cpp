// nn.Module: parameters, buffers, containers, and the methods that a module has from its base class.
#include <algorithm>
#include <array>

#include "understand/python/interpreter.h"
#include "understand/torch/broadcast.h"

namespace kw::understand::python {
namespace {

// Methods that change nothing of the math, and give back the module.
constexpr std::array kIgnored{"apply",
                              "post_init",
                              "init_weights",
                              "reset_parameters",
                              "requires_grad_",
                              "share_memory",
                              "register_forward_hook",
                              "register_forward_pre_hook",
                              "_init_weights",
                              "extra_repr",
                              "_register_load_state_dict_pre_hook",
                              "register_load_state_dict_post_hook",
                              "__setstate__"};
constexpr std::array kMethods{"register_buffer",
                              "register_parameter",
                              "add_module",
                              "register_module",
                              "parameters",
                              "children",
                              "modules",
                              "eval",
                              "train",
                              "to",
                              "float",
                              "half",
                              "bfloat16",
                              "double",
                              "cuda",
                              "cpu"};

template <size_t N>
bool among(const std::array<const char*, N>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&](const char* candidate) { return name == candidate; });
}

// A named argument by position or keyword, taken out of the list.
std::optional<Value> argument(const Arguments& arguments, size_t position, std::string_view name) {
  if (position < arguments.positional.size()) return arguments.positional[position];
  for (const auto& [key, value] : arguments.keyword) {
    if (key == name) return value;
  }
  return std::nullopt;
}

}  // namespace

bool Interpreter::is_module_method(const std::string& name) { return among(kMethods, name) || among(kIgnored, name); }

Value Interpreter::make_tensor_input(ir::Input input) {
  const std::vector<ir::AxisId> dims = input.dims;
  const ir::NodeId node = builder_.input(std::move(input));
  storages_.push_back({0, node, 0});
  const int32_t identity = static_cast<int32_t>(tensors_.size()) + 1;
  const TensorValue value{node, dims, identity};
  tensors_.push_back({static_cast<int>(storages_.size()) - 1, 0, value});
  return Value{value};
}

// nn.Parameter(tensor), nn.Buffer(tensor): the tensor's shape and type become an input of the graph; its elements are
// the initial value alone.
Result<Value> Interpreter::make_parameter(Arguments arguments, ir::InputKind kind) {
  const auto data = argument(arguments, 0, "data");
  if (!data || data->is_none()) return refuse("a parameter without a tensor is not read");
  const auto* tensor = data->get<TensorValue>();
  if (!tensor) return refuse("a parameter needs a tensor, not " + type_name(*data));
  const bool is_input = builder_[tensor->node].op == ir::Op::Input;
  if (is_input && !is_sample(*tensor) && tensor->identity != 0)
    return *data;  // a parameter of a parameter is the same one
  if (running_) return refuse("a parameter that every call makes anew is not read", "make it in the constructor");
  ir::Input input;
  input.name = "#" + std::to_string(builder_.graph().inputs.size());
  input.kind = kind;
  KW_TRY(input.type, parameter_type(builder_[tensor->node].type));
  input.dims = axes_for(shape_of(builder_.graph(), *tensor), input.name);
  input.differentiable = kind == ir::InputKind::Parameter && input.type.floating();
  if (const auto wanted = argument(arguments, 1, "requires_grad"); kind == ir::InputKind::Parameter && wanted) {
    KW_TRY(const bool yes, truth(*wanted));
    input.differentiable = input.differentiable && yes;
  }
  Value value = make_tensor_input(std::move(input));
  const std::string text(file_ ? file_->excerpt(span_) : "");
  parameter_sources_.push_back({value.get<TensorValue>()->node, text, file_ ? file_->place(span_) : Place{}});
  return value;
}

void Interpreter::collect_tensors(const Value& value, ir::InputKind kind, std::vector<Value>& out) const {
  if (const auto* tensor = value.get<TensorValue>()) {
    const ir::Node& node = builder_[tensor->node];
    if (node.op != ir::Op::Input) return;
    if (builder_.graph().inputs[static_cast<size_t>(node.as<ir::InputRef>().index)].kind == kind) out.push_back(value);
  } else if (const auto instance = as<InstanceObject>(value)) {
    for (const auto& item : instance->attributes.items()) collect_tensors(item.second, kind, out);
    if (instance->layer) collect_tensors(object_value(instance->layer), kind, out);
  } else if (const auto layer = as<Layer>(value)) {
    for (const auto& item : layer->attributes) collect_tensors(item.second, kind, out);
  } else if (const auto container = as<ContainerObject>(value)) {
    for (const auto& item : container->items) collect_tensors(item.second, kind, out);
  }
}

Result<Value> Interpreter::module_method(const Value& self, const std::string& name, Arguments arguments) {
  const auto set = [&](const std::string& key, Value value) -> Result<Value> {
    KW_CHECK(assign_attribute(self, key, std::move(value)));
    return none();
  };
  if (name == "register_buffer" || name == "register_parameter" || name == "add_module" || name == "register_module") {
    const auto key = argument(arguments, 0, "name");
    auto value = argument(arguments, 1,
                          name == "register_buffer"      ? "tensor"
                          : name == "register_parameter" ? "param"
                                                         : "module");
    if (!key || !key->get<std::string>() || !value) return refuse(name + " needs a name that is known and a value");
    if (value->is_tensor() && name == "register_buffer") {
      KW_TRY(value, make_parameter({{*value}, {}}, ir::InputKind::Buffer));
    }
    return set(*key->get<std::string>(), *value);
  }
  if (name == "parameters") {
    std::vector<Value> tensors;
    collect_tensors(self, ir::InputKind::Parameter, tensors);
    return list_value(std::move(tensors));
  }
  if (name == "children" || name == "modules") {
    std::vector<Value> children;
    if (name == "modules") children.push_back(self);
    if (const auto instance = as<InstanceObject>(self)) {
      for (const auto& [key, value] : instance->attributes.items()) {
        const auto inner = as<InstanceObject>(value);
        if (as<Layer>(value) || as<ContainerObject>(value) || (inner && is_module_class(*inner->type))) {
          if (name == "modules" && !as<Layer>(value)) return refuse("modules() of nested modules is not read");
          children.push_back(value);
        }
      }
    }
    return list_value(std::move(children));
  }
  if (name == "to" || name == "float" || name == "half" || name == "bfloat16" || name == "double") {
    return refuse("a module that changes its own type is not read",
                  "give the parameters their type where they are made");
  }
  if (name == "eval" || name == "train") return refuse("a module that changes its own mode is not read");
  return self;  // ignored: it changes nothing that is read
}

Result<Value> Interpreter::make_container(const std::string& kind, Arguments arguments) {
  auto container = std::make_shared<ContainerObject>();
  container->kind = kind;
  const bool named = kind == "ModuleDict" || kind == "ParameterDict";
  std::vector<Value> items = arguments.positional;
  if (!arguments.keyword.empty()) return refuse("nn." + kind + " takes no keyword arguments");
  if (items.size() == 1) {
    if (const auto dict = as<DictObject>(items[0])) {
      for (const auto& [key, value] : dict->items) {
        if (!key.get<std::string>()) return refuse("the names of modules are strings");
        container->items.emplace_back(*key.get<std::string>(), value);
      }
      return object_value(std::move(container));
    }
    if (kind != "Sequential") {
      KW_TRY(items, iterate(items[0]));
    }
  }
  for (const Value& item : items) {
    if (named) {
      const auto* pair = sequence_items(item);
      if (!pair || pair->size() != 2 || !(*pair)[0].get<std::string>())
        return refuse("nn." + kind + " needs names and values");
      container->items.emplace_back(*(*pair)[0].get<std::string>(), (*pair)[1]);
    } else {
      Value value = item;
      if (kind == "ParameterList" && value.is_tensor()) {
        KW_TRY(value, make_parameter({{value}, {}}, ir::InputKind::Parameter));
      }
      container->items.emplace_back(std::to_string(container->items.size()), std::move(value));
    }
  }
  return object_value(std::move(container));
}

Result<Value> Interpreter::container_method(ContainerObject& container, const std::string& name, Arguments arguments) {
  const auto& given = arguments.positional;
  if (name == "append" && given.size() == 1) {
    container.items.emplace_back(std::to_string(container.items.size()), given[0]);
    return none();
  }
  if (name == "extend" && given.size() == 1) {
    KW_TRY(const std::vector<Value> items, iterate(given[0]));
    for (const Value& item : items) container.items.emplace_back(std::to_string(container.items.size()), item);
    return none();
  }
  if (name == "add_module" && given.size() == 2 && given[0].get<std::string>()) {
    container.items.emplace_back(*given[0].get<std::string>(), given[1]);
    return none();
  }
  if (name == "keys" || name == "values" || name == "items") {
    std::vector<Value> result;
    for (const auto& [key, value] : container.items) {
      result.push_back(name == "keys"     ? text_value(key)
                       : name == "values" ? value
                                          : tuple_value({text_value(key), value}));
    }
    return list_value(std::move(result));
  }
  if (name == "parameters") {
    std::vector<Value> tensors;
    for (const auto& item : container.items) collect_tensors(item.second, ir::InputKind::Parameter, tensors);
    return list_value(std::move(tensors));
  }
  if (among(kIgnored, name)) return none();
  return refuse("nn." + container.kind + "." + name + " is not read");
}

// super().NAME(…) where NAME belongs to a library's class.
Result<Value> Interpreter::call_super_of_external(const std::string& base, const SuperObject& object,
                                                  const std::string& name, Arguments arguments) {
  const auto instance = as<InstanceObject>(object.self);
  if (base == "torch.nn.Module") {
    if (name == "__init__") return none();
    if (is_module_method(name)) return module_method(object.self, name, std::move(arguments));
    if (name == "__setattr__" && arguments.positional.size() == 2 && arguments.positional[0].get<std::string>()) {
      KW_CHECK(assign_attribute(object.self, *arguments.positional[0].get<std::string>(), arguments.positional[1]));
      return none();
    }
    return refuse("super()." + name + " of nn.Module is not read");
  }
  if (base.starts_with("torch.nn.") && instance) {
    const std::string layer_name = base.substr(9);
    if (knows_layer(layer_name)) {
      if (name == "__init__") {
        KW_CHECK(plain(arguments));
        builder_.set_origin(origin());
        KW_TRY(instance->layer, construct_layer(torch_, layer_name, std::move(arguments)));
        for (const auto& [key, value] : instance->layer->attributes) instance->attributes.set(key, value);
        return none();
      }
      if (name == "forward" && instance->layer) {
        // What the user's class changed on itself counts for the layer's forward too.
        for (auto& [key, value] : instance->layer->attributes) {
          if (const Value* own = instance->attributes.find(key)) value = *own;
        }
        return call_layer_object(*instance->layer, std::move(arguments));
      }
      if (is_module_method(name)) return module_method(object.self, name, std::move(arguments));
    }
    return refuse("a class that inherits from " + base + " is not read");
  }
  if (base.starts_with("collections.") || base == "builtins.dict") {
    // A dict with methods of its own: its items live in one attribute.
    if (!instance) return refuse("super() is not read here");
    if (name == "__init__") {
      auto dict = std::make_shared<DictObject>();
      if (!arguments.positional.empty()) {
        const auto given = as<DictObject>(arguments.positional[0]);
        if (!given) return refuse("this kind of dict is not read");
        dict->items = given->items;
      }
      for (const auto& [key, value] : arguments.keyword) dict->items.emplace_back(text_value(key), value);
      instance->attributes.set("#items", object_value(std::move(dict)));
      return none();
    }
    const Value* items = instance->attributes.find("#items");
    if (items && name == "__getitem__" && arguments.positional.size() == 1)
      return subscript(*items, arguments.positional[0]);
    if (items) return dict_method(as<DictObject>(*items), name, arguments);
  }
  return refuse("super()." + name + " of " + base + " is not read");
}

}  // namespace kw::understand::python
