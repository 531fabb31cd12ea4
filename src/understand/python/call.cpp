// Calls: arguments bound to parameters, and the callee's body read in place.
#include <algorithm>

#include "base/text.h"
#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

constexpr size_t kDeepestCall = 60;
constexpr int kMostActive = 8;  // of one function

}  // namespace

Result<Arguments> Interpreter::evaluate_arguments(const Call& node) {
  Arguments arguments;
  KW_TRY(arguments.positional, evaluate_items(node.arguments));
  for (const Keyword& keyword : node.keywords) {
    KW_TRY(Value value, evaluate(*keyword.value));
    if (keyword.name) {
      arguments.keyword.emplace_back(*keyword.name, std::move(value));
      continue;
    }
    const auto dict = as<DictObject>(value);
    if (!dict) return refuse("** needs a dict, not " + type_name(value));
    for (const auto& [key, item] : dict->items) {
      const auto* name = key.get<std::string>();
      if (!name) return refuse("the keys of ** must be strings");
      arguments.keyword.emplace_back(*name, item);
    }
  }
  return arguments;
}

Status Interpreter::bind_arguments(const FunctionObject& function, Arguments arguments, Scope& scope) {
  const Parameters& parameters = *function.parameters;
  const size_t count = parameters.positional.size();
  std::vector<std::optional<Value>> values(count);
  std::vector<std::optional<Value>> keyword_values(parameters.keyword_only.size());
  std::vector<Value> rest;
  auto extra = std::make_shared<DictObject>();
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    if (i < count) {
      values[i] = std::move(arguments.positional[i]);
    } else {
      rest.push_back(std::move(arguments.positional[i]));
    }
  }
  if (!rest.empty() && !parameters.star) {
    return raise("TypeError", function.name + "() takes " + std::to_string(count) + " arguments, not " +
                                  std::to_string(arguments.positional.size()));
  }
  for (auto& [name, value] : arguments.keyword) {
    const auto named = [&, &wanted = name](const Parameter& p) { return p.name == wanted; };
    const auto first = parameters.positional.begin() + static_cast<ptrdiff_t>(parameters.positional_only);
    if (const auto found = std::find_if(first, parameters.positional.end(), named);
        found != parameters.positional.end()) {
      auto& slot = values[static_cast<size_t>(found - parameters.positional.begin())];
      if (slot) return raise("TypeError", function.name + "() has two values for " + name);
      slot = std::move(value);
      continue;
    }
    const auto found = std::find_if(parameters.keyword_only.begin(), parameters.keyword_only.end(), named);
    if (found != parameters.keyword_only.end()) {
      keyword_values[static_cast<size_t>(found - parameters.keyword_only.begin())] = std::move(value);
    } else if (parameters.double_star) {
      extra->items.emplace_back(text_value(name), std::move(value));
    } else {
      return raise("TypeError", function.name + "() has no parameter " + name);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const size_t without_default = count - function.defaults.size();
    if (!values[i] && i >= without_default) values[i] = function.defaults[i - without_default];
    if (!values[i]) return raise("TypeError", function.name + "() lacks the argument " + parameters.positional[i].name);
    scope.names.insert_or_assign(parameters.positional[i].name, *std::move(values[i]));
  }
  for (size_t i = 0; i < keyword_values.size(); ++i) {
    if (!keyword_values[i]) keyword_values[i] = function.keyword_defaults[i];
    if (!keyword_values[i]) {
      return raise("TypeError", function.name + "() lacks the argument " + parameters.keyword_only[i].name);
    }
    scope.names.insert_or_assign(parameters.keyword_only[i].name, *std::move(keyword_values[i]));
  }
  if (parameters.star) scope.names.insert_or_assign(parameters.star->name, tuple_value(std::move(rest)));
  if (parameters.double_star)
    scope.names.insert_or_assign(parameters.double_star->name, object_value(std::move(extra)));
  return {};
}

Result<Value> Interpreter::call_function(const std::shared_ptr<FunctionObject>& function, Arguments arguments) {
  const auto active = std::count_if(frames_.begin(), frames_.end(), [&](const Frame& f) {
    return f.function && f.function->parameters == function->parameters;
  });
  if (active >= kMostActive || frames_.size() >= kDeepestCall) {
    return refuse("recursion is not read: " + function->name + "() calls itself",
                  "write it as a loop with a known count");
  }
  Frame next;
  next.file = function->file;
  next.function = function.get();
  next.scope = std::make_shared<Scope>();
  next.scope->outer = function->closure;
  next.scope->module = function->module;
  next.result = none();
  if (!arguments.positional.empty()) next.self = arguments.positional[0];
  KW_CHECK(bind_arguments(*function, std::move(arguments), *next.scope));

  const SourceFile* const saved_file = std::exchange(file_, function->file);
  const Span saved_span = std::exchange(span_, function->span);
  frames_.push_back(std::move(next));
  no_gradient_ += function->stops_gradient ? 1 : 0;
  Result<Value> result = none();
  if (function->expression) {
    result = evaluate(*function->expression);
  } else {
    auto flow = execute(*function->body);
    if (!flow) {
      result = tl::make_unexpected(std::move(flow).error());
    } else if (*flow == Flow::Return) {
      result = std::move(frame().result);
    }
  }
  no_gradient_ -= function->stops_gradient ? 1 : 0;
  frames_.pop_back();
  file_ = saved_file;
  span_ = saved_span;
  return result;
}

Result<Value> Interpreter::call(const Value& function, Arguments arguments) {
  const auto* object = function.get<std::shared_ptr<Object>>();
  if (!object) return refuse(type_name(function) + " cannot be called");
  if (const auto plain_function = as<FunctionObject>(function))
    return call_function(plain_function, std::move(arguments));
  if (const auto method = as<BoundMethod>(function)) {
    arguments.positional.insert(arguments.positional.begin(), method->self);
    return call_function(method->function, std::move(arguments));
  }
  if (const auto method = as<BoundBuiltin>(function)) return call_bound_builtin(*method, std::move(arguments));
  if (const auto library = as<ExternalObject>(function)) return call_external(library->path, std::move(arguments));
  if (const auto type = as<ClassObject>(function)) return call_class(type, std::move(arguments));
  if (const auto instance = as<InstanceObject>(function)) return call_instance(instance, std::move(arguments));
  if (const auto layer = as<Layer>(function)) return call_layer_object(*layer, std::move(arguments));
  if (const auto container = as<ContainerObject>(function)) return call_container(*container, std::move(arguments));
  if (const auto partial = as<PartialObject>(function)) {
    Arguments all = partial->arguments;
    all.positional.insert(all.positional.end(), arguments.positional.begin(), arguments.positional.end());
    for (auto& [name, value] : arguments.keyword) {
      std::erase_if(all.keyword, [&, &wanted = name](const auto& item) { return item.first == wanted; });
      all.keyword.emplace_back(name, std::move(value));
    }
    return call(partial->function, std::move(all));
  }
  return refuse((*object)->describe() + " cannot be called");
}

Result<Value> Interpreter::call_instance(const std::shared_ptr<InstanceObject>& object, Arguments arguments) {
  const Value self = object_value(object);
  const bool is_module = is_module_class(*object->type);
  KW_TRY(const auto forward, find_attribute(self, is_module ? "forward" : "__call__"));
  if (is_module) {
    Value overridden;
    if (find_in_class(*object->type, "__call__", nullptr, overridden))
      return refuse("a module with its own __call__ is not read");
  }
  if (forward) return call(*forward, std::move(arguments));
  return refuse(object->describe() + " cannot be called");
}

Result<Value> Interpreter::call_layer_object(Layer& layer, Arguments arguments) {
  KW_CHECK(plain(arguments));
  std::vector<TensorValue> sources;
  for (const Value& value : arguments.positional) {
    if (value.is_tensor()) sources.push_back(*value.get<TensorValue>());
  }
  builder_.set_origin(origin());
  KW_TRY(Value result, call_layer(torch_, layer, std::move(arguments)));
  for (const auto& [name, value] : layer.attributes) {
    const auto* flag = value.get<bool>();
    if (name == "inplace" && flag && *flag && !sources.empty() && result.is_tensor()) {
      KW_CHECK(write_in_place(sources[0], *result.get<TensorValue>()));
    }
  }
  give_identities(result, sources, Sharing::IfEqual);
  return stop_gradients(std::move(result));
}

Result<Value> Interpreter::call_container(const ContainerObject& container, Arguments arguments) {
  if (container.kind != "Sequential") return refuse("nn." + container.kind + " cannot be called");
  if (arguments.positional.size() != 1 || !arguments.keyword.empty()) {
    return refuse("nn.Sequential is called with one argument");
  }
  Value value = arguments.positional[0];
  for (const auto& item : container.items) {
    KW_TRY(value, call(item.second, {{value}, {}}));
  }
  return value;
}

Failure Interpreter::unknown_call(const std::string& path) const {
  std::vector<std::string> known;
  for (const std::string_view name : torch_names()) known.emplace_back(name);
  return refuse("unknown call " + path, did_you_mean(path, known));
}

Result<Value> Interpreter::call_external(const std::string& path, Arguments arguments) {
  // nn.LayerNorm.__init__(self, …), nn.LayerNorm.forward(self, x): a method of a base class by its full name.
  if (path.starts_with("torch.nn.") && (path.ends_with(".__init__") || path.ends_with(".forward")) &&
      !arguments.positional.empty() && as<InstanceObject>(arguments.positional[0])) {
    const size_t dot = path.rfind('.');
    SuperObject base;
    base.self = arguments.positional[0];
    base.start = as<InstanceObject>(base.self)->type;
    arguments.positional.erase(arguments.positional.begin());
    return call_super_of_external(path.substr(0, dot), base, path.substr(dot + 1), std::move(arguments));
  }
  KW_TRY(auto known, call_known_external(path, arguments));
  if (known) return *std::move(known);
  if (path.starts_with("builtins.")) {
    KW_TRY(auto result, call_builtin(path.substr(9), arguments));
    if (result) return *std::move(result);
    return refuse("the built-in function " + path.substr(9) + " is not read");
  }
  KW_TRY(auto result, call_library(path, arguments));
  if (result) return *std::move(result);
  if (const NameRule* rule = published_rules().environment_of(path)) {
    assume(path + "()", rule->value, "docs/assumptions.md: questions about the environment");
    if (rule->value == "True" || rule->value == "False") return Value{rule->value == "True"};
    return none();
  }
  if (path.starts_with("torch.nn.") && path.find('.', 9) == std::string::npos && knows_layer(path.substr(9))) {
    KW_CHECK(plain(arguments));
    builder_.set_origin(origin());
    KW_TRY(auto layer, construct_layer(torch_, path.substr(9), std::move(arguments)));
    return object_value(std::move(layer));
  }
  if (path.starts_with("torch.Tensor.")) return torch_call(path.substr(6), std::move(arguments));
  if (knows_torch(path)) return torch_call(path, std::move(arguments));
  return unknown_call(path);
}

}  // namespace kw::understand::python
