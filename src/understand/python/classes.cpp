// Classes, instances and attributes.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

// The merge of Python's method resolution order (C3).
bool merge(std::vector<std::vector<std::shared_ptr<Object>>> lists, std::vector<std::shared_ptr<Object>>& out) {
  const auto same = [](const std::shared_ptr<Object>& a, const std::shared_ptr<Object>& b) {
    const auto* x = dynamic_cast<const ExternalObject*>(a.get());
    const auto* y = dynamic_cast<const ExternalObject*>(b.get());
    return x && y ? x->path == y->path : a == b;
  };
  while (true) {
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
    if (lists.empty()) return true;
    std::shared_ptr<Object> next;
    for (const auto& list : lists) {
      const bool free = std::none_of(lists.begin(), lists.end(), [&](const auto& other) {
        return std::any_of(other.begin() + 1, other.end(), [&](const auto& item) { return same(item, list[0]); });
      });
      if (free) {
        next = list[0];
        break;
      }
    }
    if (!next) return false;
    out.push_back(next);
    for (auto& list : lists) {
      if (same(list[0], next)) list.erase(list.begin());
    }
  }
}

}  // namespace

Status Interpreter::linearize(ClassObject& type) {
  std::vector<std::vector<std::shared_ptr<Object>>> lists;
  std::vector<std::shared_ptr<Object>> direct;
  for (const Value& base : type.bases) {
    const auto object = *base.get<std::shared_ptr<Object>>();
    const auto base_class = std::dynamic_pointer_cast<ClassObject>(object);
    lists.push_back(base_class ? base_class->mro : std::vector<std::shared_ptr<Object>>{object});
    direct.push_back(object);
  }
  lists.push_back(direct);
  type.mro = {type.shared_from_this()};
  if (!merge(std::move(lists), type.mro))
    return refuse("the bases of class " + type.name + " have no consistent order");
  return {};
}

Result<Value> Interpreter::define_class(const ClassDef& node, const Span& span) {
  auto type = std::make_shared<ClassObject>();
  type->name = node.name;
  type->module = frame().scope->module;
  type->definition = &node;
  type->file = file_;
  type->span = span;
  for (const ExprPtr& base : node.bases) {
    KW_TRY(const Value value, evaluate(*base));
    if (!as<ClassObject>(value) && !as<ExternalObject>(value)) {
      return refuse("a base class of " + node.name + " is " + type_name(value) + ", which is no class");
    }
    if (const auto object = as<ExternalObject>(value)) {
      if (object->path == "builtins.object" || object->path == "abc.ABC" || object->path == "typing.Generic") continue;
    }
    if (const auto base_class = as<ClassObject>(value))
      type->is_dataclass = type->is_dataclass || base_class->is_dataclass;
    type->bases.push_back(value);
  }
  KW_CHECK(linearize(*type));

  // The body runs in a scope of its own, whose names become the class's attributes; its functions do not see that
  // scope.
  Frame body;
  body.file = file_;
  body.scope = std::make_shared<Scope>();
  body.scope->outer = frame().top_level ? nullptr : frame().scope;
  body.scope->module = frame().scope->module;
  body.result = none();
  const std::shared_ptr<Scope> scope = body.scope;
  frames_.push_back(std::move(body));
  Status status;
  for (const Stmt& statement : node.body) {
    if (const auto* annotated = statement.get<AnnotatedAssign>()) {
      if (const auto* name = annotated->target->get<Name>())
        type->fields.emplace_back(name->id, annotated->annotation.get());
    }
    auto flow = execute(statement);
    if (!flow) {
      status = tl::make_unexpected(std::move(flow).error());
      break;
    }
    // In the order of the body: the order of a module's parameters follows it.
    for (auto& [name, value] : scope->names) {
      if (const auto function = as<FunctionObject>(value); function && !function->owner) {
        function->owner = type.get();
        if (function->closure == scope) function->closure = scope->outer;
      }
      type->attributes.set(name, value);
    }
  }
  frames_.pop_back();
  KW_CHECK(std::move(status));
  return decorate(node.decorators, object_value(std::move(type)));
}

bool Interpreter::is_module_class(const ClassObject& type) const {
  return std::any_of(type.mro.begin(), type.mro.end(), [](const std::shared_ptr<Object>& base) {
    const auto* object = dynamic_cast<const ExternalObject*>(base.get());
    return object && object->path.starts_with("torch.nn.");
  });
}

std::optional<std::string> Interpreter::external_base(const ClassObject& type) const {
  for (const auto& base : type.mro) {
    if (const auto* object = dynamic_cast<const ExternalObject*>(base.get())) return object->path;
  }
  return std::nullopt;
}

std::shared_ptr<Object> Interpreter::find_in_class(const ClassObject& type, const std::string& name,
                                                   const Object* after, Value& found) {
  bool looking = after == nullptr;
  for (const auto& base : type.mro) {
    if (!looking) {
      looking = base.get() == after;
      continue;
    }
    const auto* user_class = dynamic_cast<const ClassObject*>(base.get());
    if (!user_class) continue;
    if (const Value* value = user_class->attributes.find(name)) {
      found = *value;
      return base;
    }
  }
  return nullptr;
}

Result<Value> Interpreter::bind_attribute(const Value& self, const std::shared_ptr<ClassObject>& type,
                                          const Value& found) {
  const auto function = as<FunctionObject>(found);
  if (!function) return found;
  using Binding = FunctionObject::Binding;
  if (function->binding == Binding::Static) return found;
  if (function->binding == Binding::Property) return call_function(function, {{self}, {}});
  auto bound = std::make_shared<BoundMethod>();
  bound->self = function->binding == Binding::Class ? object_value(type) : self;
  bound->function = function;
  return object_value(std::move(bound));
}

Result<std::optional<Value>> Interpreter::instance_attribute(const std::shared_ptr<InstanceObject>& object,
                                                             const std::string& name) {
  const Value self = object_value(object);
  Value found;
  const bool in_class = find_in_class(*object->type, name, nullptr, found) != nullptr;
  if (const Value* own = object->attributes.find(name)) return *own;
  if (in_class) {
    KW_TRY(Value bound, bind_attribute(self, object->type, found));
    return bound;
  }
  if (name == "__class__") return object_value(object->type);
  if (name == "__dict__") return refuse("__dict__ is not read");
  if (object->layer) {
    KW_TRY(auto value, find_attribute(object_value(object->layer), name));
    if (value) return value;
    if (name == "forward") return object_value(object->layer);
  }
  if (is_module_class(*object->type)) {
    if (name == "training") return Value{torch_.training};
    if (is_module_method(name)) {
      auto method = std::make_shared<BoundBuiltin>();
      method->self = self;
      method->name = name;
      return object_value(std::move(method));
    }
  }
  if (const Value* items = object->attributes.find("#items"); items && !name.starts_with("__")) {
    return find_attribute(*items, name);
  }
  Value getter;
  if (find_in_class(*object->type, "__getattr__", nullptr, getter)) {
    return refuse("a class with its own __getattr__ is not read");
  }
  return std::optional<Value>();
}

Result<std::optional<Value>> Interpreter::super_attribute(const SuperObject& object, const std::string& name) {
  const auto instance = as<InstanceObject>(object.self);
  const auto type = instance ? instance->type : as<ClassObject>(object.self);
  if (!type) return refuse("super() is not read here");
  Value found;
  if (find_in_class(*type, name, object.start.get(), found)) {
    KW_TRY(Value bound, bind_attribute(object.self, type, found));
    return bound;
  }
  // What is left are library classes: their methods are known by name.
  auto method = std::make_shared<BoundBuiltin>();
  method->self = object_value(std::make_shared<SuperObject>(object));
  method->name = name;
  return object_value(std::move(method));
}

Result<std::optional<Value>> Interpreter::external_attribute(const ExternalObject& object, const std::string& name) {
  const std::string path = object.path + "." + name;
  if (object.path == "torch") {
    if (const auto dtype = ir::dtype_from_torch_name(name)) return Value{DTypeValue{ir::Type(*dtype)}};
  }
  if (object.path == "math" || object.path == "torch") {
    if (name == "pi") return Value{M_PI};
    if (name == "e") return Value{M_E};
    if (name == "inf") return Value{HUGE_VAL};
    if (name == "nan") return Value{std::nan("")};
    if (name == "tau") return Value{2 * M_PI};
  }
  if (path == "sys.maxsize") return int_value(INT64_MAX);
  if (path == "sys.version_info") {
    assume("Python", "3.12", "docs/assumptions.md: questions about the environment");
    return tuple_value({int_value(3), int_value(12), int_value(0)});
  }
  if (path == "typing.TYPE_CHECKING") return Value{false};
  if (path == "torch.__version__") return object_value(std::make_shared<OpaqueString>());
  return external(path);
}

Result<std::optional<Value>> Interpreter::find_attribute(const Value& object, const std::string& name) {
  if (const auto* tensor = object.get<TensorValue>()) return tensor_attribute(*tensor, name);
  if (object.get<DeviceValue>()) {
    if (name == "type") {
      assume("device type", "cuda", "docs/assumptions.md: questions about the environment");
      return text_value("cuda");
    }
    if (name == "index") return int_value(0);
    return std::optional<Value>();
  }
  if (const auto* dtype = object.get<DTypeValue>()) {
    if (name == "is_floating_point") return Value{dtype->type.floating()};
    if (name == "itemsize") {
      if (!dtype->type.concrete()) {
        facts_.fix_types();
        return refuse("the program asks for the element type of a tensor");
      }
      return int_value(ir::info(dtype->type.floor()).bytes);
    }
    return std::optional<Value>();
  }
  if (const auto instance = as<InstanceObject>(object)) return instance_attribute(instance, name);
  if (const auto layer = as<Layer>(object)) {
    for (const auto& [key, value] : layer->attributes) {
      if (key == name) return value;
    }
    if (name == "training") return Value{torch_.training};
    if (name == "forward") return object;
    if (is_module_method(name)) {
      auto method = std::make_shared<BoundBuiltin>();
      method->self = object;
      method->name = name;
      return object_value(std::move(method));
    }
    return std::optional<Value>();
  }
  if (const auto library = as<ExternalObject>(object)) return external_attribute(*library, name);
  if (const auto module = as<PythonModule>(object)) {
    KW_TRY(auto found, module->find(*this, name));
    if (found) return found;
    KW_TRY(PythonModule * inner, packages_.find(*module, module->name + "." + name, 0));
    if (inner) return module_object(inner);
    return std::optional<Value>();
  }
  if (const auto type = as<ClassObject>(object)) {
    Value found;
    if (find_in_class(*type, name, nullptr, found)) {
      const auto function = as<FunctionObject>(found);
      if (function && function->binding == FunctionObject::Binding::Class) {
        KW_TRY(Value bound, bind_attribute(object, type, found));
        return bound;
      }
      return found;
    }
    if (name == "__name__" || name == "__qualname__") return text_value(type->name);
    if (const auto base = external_base(*type)) {
      if (base == "torch.autograd.Function" && name == "apply") {
        return refuse("a custom autograd function is not read", "write the forward with plain operations");
      }
      if (base == "enum.Enum") return refuse("enumerations are not read");
    }
    return std::optional<Value>();
  }
  if (const auto start = as<SuperObject>(object)) return super_attribute(*start, name);
  if (const auto config = as<ConfigObject>(object)) return configuration_attribute(*this, *config, name);
  if (const auto info = as<TypeInfoObject>(object)) {
    const ir::DTypeInfo& row = ir::info(info->dtype);
    const bool floating = ir::is_floating(info->dtype);
    if (name == "max")
      return floating ? Value{row.max_finite}
                      : int_value(info->dtype == ir::DType::I64 ? INT64_MAX : static_cast<int64_t>(row.max_finite));
    if (name == "min" && floating) return Value{-row.max_finite};
    if (name == "min") {
      if (info->dtype == ir::DType::I64) return int_value(INT64_MIN);
      return int_value(info->dtype == ir::DType::U8 ? 0 : -static_cast<int64_t>(row.max_finite) - 1);
    }
    if (name == "eps" && floating) return Value{std::ldexp(1.0, 1 - row.mantissa_bits)};
    if ((name == "tiny" || name == "smallest_normal") && floating) return Value{std::ldexp(1.0, row.min_exponent)};
    if (name == "bits") return int_value(8 * row.bytes);
    return std::optional<Value>();
  }
  if (const auto function = as<FunctionObject>(object)) {
    if (name == "__name__") return text_value(function->name);
    return std::optional<Value>();
  }
  // torch.max(x, dim), torch.topk, torch.sort, …: pairs with names.
  if (const auto* pair = object.get<SequenceValue>(); pair && pair->items.size() == 2 && pair->items[0].is_tensor()) {
    if (name == "values") return pair->items[0];
    if (name == "indices") return pair->items[1];
  }
  // Methods of strings, lists, dicts, tuples and containers of modules are looked up when they are called.
  const bool has_methods = object.get<std::string>() || object.get<SequenceValue>() || as<ListObject>(object) ||
                           as<DictObject>(object) || as<SetObject>(object) || as<ContainerObject>(object);
  if (has_methods) {
    if (const auto container = as<ContainerObject>(object)) {
      for (const auto& [key, value] : container->items) {
        if (key == name) return value;
      }
    }
    auto method = std::make_shared<BoundBuiltin>();
    method->self = object;
    method->name = name;
    return object_value(std::move(method));
  }
  if (object.get<double>() || object.get<ir::Size>() || object.get<ScalarValue>()) {
    if (name == "real") return object;
    auto method = std::make_shared<BoundBuiltin>();
    method->self = object;
    method->name = name;
    return object_value(std::move(method));
  }
  return std::optional<Value>();
}

Result<Value> Interpreter::attribute(const Value& object, const std::string& name) {
  KW_TRY(auto found, find_attribute(object, name));
  if (found) return *std::move(found);
  std::vector<std::string> known;
  if (const auto instance = as<InstanceObject>(object)) {
    for (const auto& item : instance->attributes.items()) known.push_back(item.first);
  }
  if (object.is_tensor()) {
    for (const std::string_view full : torch_names()) {
      if (full.starts_with("Tensor.")) known.emplace_back(full.substr(7));
    }
  }
  auto failure = refuse(type_name(object) + " has no attribute " + name + (object.is_tensor() ? " that is read" : ""),
                        did_you_mean(name, known));
  if (!object.is_tensor()) raised_ = "AttributeError";
  return failure;
}

Result<Value> Interpreter::call_class(const std::shared_ptr<ClassObject>& type, Arguments arguments) {
  return instantiate(type, std::move(arguments));
}

Result<Value> Interpreter::instantiate(const std::shared_ptr<ClassObject>& type, Arguments arguments) {
  Value maker;
  if (find_in_class(*type, "__new__", nullptr, maker)) return refuse("a class with its own __new__ is not read");
  const auto base = external_base(*type);
  if (base == "enum.Enum" || base == "enum.IntEnum") return refuse("enumerations are not read");
  auto object = std::make_shared<InstanceObject>();
  object->type = type;
  const Value self = object_value(object);
  const bool saved = std::exchange(building_, building_ || is_module_class(*type));
  Value init;
  Status status;
  if (find_in_class(*type, "__init__", nullptr, init)) {
    KW_TRY(const Value bound, bind_attribute(self, type, init));
    auto result = call(bound, std::move(arguments));
    if (!result) status = tl::make_unexpected(std::move(result).error());
  } else if (type->is_dataclass) {
    auto result = dataclass_init(object, std::move(arguments));
    if (!result) status = tl::make_unexpected(std::move(result).error());
  } else if (base) {
    SuperObject start;
    start.start = type;
    start.self = self;
    auto result = call_super_of_external(*base, start, "__init__", std::move(arguments));
    if (!result) status = tl::make_unexpected(std::move(result).error());
  } else if (!arguments.positional.empty() || !arguments.keyword.empty()) {
    status = raise("TypeError", type->name + "() takes no arguments");
  }
  building_ = saved;
  KW_CHECK(std::move(status));
  return self;
}

Result<Value> Interpreter::dataclass_init(const std::shared_ptr<InstanceObject>& object, Arguments arguments) {
  std::vector<std::string> names;
  for (auto it = object->type->mro.rbegin(); it != object->type->mro.rend(); ++it) {
    const auto* type = dynamic_cast<const ClassObject*>(it->get());
    if (!type) continue;
    for (const auto& field : type->fields) {
      if (std::find(names.begin(), names.end(), field.first) == names.end()) names.push_back(field.first);
    }
  }
  if (arguments.positional.size() > names.size())
    return raise("TypeError", object->type->name + "() has too many arguments");
  for (size_t i = 0; i < arguments.positional.size(); ++i) object->attributes.set(names[i], arguments.positional[i]);
  for (const auto& [name, value] : arguments.keyword) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return raise("TypeError", object->type->name + "() has no field " + name);
    }
    object->attributes.set(name, value);
  }
  for (const std::string& name : names) {
    if (object->attributes.find(name)) continue;
    Value standard;
    if (!find_in_class(*object->type, name, nullptr, standard)) {
      return raise("TypeError", object->type->name + "() lacks the field " + name);
    }
    object->attributes.set(name, standard);
  }
  Value after;
  if (find_in_class(*object->type, "__post_init__", nullptr, after)) {
    KW_TRY(const Value bound, bind_attribute(object_value(object), object->type, after));
    KW_TRY([[maybe_unused]] const Value unused, call(bound, {}));
  }
  return none();
}

Result<bool> Interpreter::is_instance(const Value& value, const Value& type) {
  if (const auto* several = sequence_items(type)) {
    for (const Value& one : *several) {
      KW_TRY(const bool yes, is_instance(value, one));
      if (yes) return true;
    }
    return false;
  }
  const auto instance = as<InstanceObject>(value);
  if (const auto user_class = as<ClassObject>(type)) {
    if (!instance) return false;
    const auto& mro = instance->type->mro;
    return std::find(mro.begin(), mro.end(), std::static_pointer_cast<Object>(user_class)) != mro.end();
  }
  const auto library = as<ExternalObject>(type);
  if (!library) return refuse("isinstance() is not read with " + type_name(type));
  const std::string& path = library->path;
  const auto layer = as<Layer>(value);
  const bool is_layer = layer != nullptr;
  if (path == "torch.nn.Module") {
    return is_layer || as<ContainerObject>(value) || (instance && is_module_class(*instance->type));
  }
  if (path.starts_with("torch.nn.") && path != "torch.nn.Parameter") {
    const std::string name = path.substr(9);
    if (layer) return layer->class_name == name;
    if (const auto container = as<ContainerObject>(value)) return container->kind == name;
    return instance && external_base(*instance->type) == path;
  }
  if (path == "torch.Tensor") return value.is_tensor();
  if (path == "torch.nn.Parameter") {
    const auto* tensor = value.get<TensorValue>();
    if (!tensor || builder_[tensor->node].op != ir::Op::Input) return false;
    const auto index = static_cast<size_t>(builder_[tensor->node].as<ir::InputRef>().index);
    return builder_.graph().inputs[index].kind == ir::InputKind::Parameter;
  }
  if (path == "torch.dtype") return value.get<DTypeValue>() != nullptr;
  if (path == "torch.device") return value.get<DeviceValue>() != nullptr;
  if (path == "torch.Size") return refuse("isinstance() is not read with torch.Size");
  const auto* scalar = value.get<ScalarValue>();
  if (path == "builtins.bool") return value.get<bool>() != nullptr;
  if (path == "builtins.int") return value.get<bool>() || value.get<ir::Size>();
  if (path == "builtins.float") return value.get<double>() || scalar;
  if (path == "numbers.Number") return value.get<bool>() || value.get<ir::Size>() || value.get<double>() || scalar;
  if (path == "numbers.Integral") return value.get<bool>() || value.get<ir::Size>();
  if (path == "builtins.str") return value.get<std::string>() || as<OpaqueString>(value);
  if (path == "builtins.tuple") return value.get<SequenceValue>() && value.get<SequenceValue>()->is_tuple;
  if (path == "builtins.list") {
    return as<ListObject>(value) || (value.get<SequenceValue>() && !value.get<SequenceValue>()->is_tuple);
  }
  if (path == "builtins.dict") return as<DictObject>(value) != nullptr;
  if (path == "builtins.set") return as<SetObject>(value) != nullptr;
  if (path == "types.NoneType") return value.is_none();
  if (path == "collections.abc.Sequence" || path == "typing.Sequence" || path == "collections.abc.Iterable" ||
      path == "typing.Iterable") {
    return sequence_items(value) || value.get<std::string>();
  }
  if (path == "collections.abc.Callable" || path == "typing.Callable") {
    return as<FunctionObject>(value) || as<BoundMethod>(value) || as<PartialObject>(value) || is_layer || instance;
  }
  if (value.is_tensor() || !value.get<std::shared_ptr<Object>>()) return false;
  return refuse("isinstance() is not read with " + path);
}

}  // namespace kw::understand::python
