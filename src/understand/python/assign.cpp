// Names, assignment and definitions.
#include <algorithm>

#include "base/text.h"
#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

constexpr const char* kBuiltins[] = {
    "abs",
    "all",
    "any",
    "bool",
    "callable",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "frozenset",
    "getattr",
    "hasattr",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "object",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "classmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "zip",
    "Exception",
    "ValueError",
    "TypeError",
    "KeyError",
    "IndexError",
    "RuntimeError",
    "AssertionError",
    "NotImplementedError",
    "AttributeError",
    "ImportError",
    "ModuleNotFoundError",
    "StopIteration",
    "NotImplemented",
    "ZeroDivisionError",
    "ArithmeticError",
    "LookupError",
    "OSError",
    "Warning",
    "UserWarning",
    "DeprecationWarning",
    "FutureWarning",
    "BaseException",
    "bytes",
    "complex",
    "vars",
    "locals",
    "globals",
};

bool is_builtin(std::string_view name) {
  return std::find(std::begin(kBuiltins), std::end(kBuiltins), name) != std::end(kBuiltins);
}

}  // namespace

Result<Value> Interpreter::lookup(const std::string& name) {
  const Scope* scope = frame().scope.get();
  PythonModule* module = scope->module;
  const bool is_global = scope->global_names.contains(name);
  for (; scope && !is_global; scope = scope->outer.get()) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) return found->second;
  }
  KW_TRY(auto found, module->find(*this, name));
  if (found) return *std::move(found);
  if (is_builtin(name)) return external("builtins." + name);
  if (name == "__name__") return Value{module->name};
  std::vector<std::string> known;
  for (const Scope* s = frame().scope.get(); s; s = s->outer.get()) {
    for (const auto& entry : s->names) known.push_back(entry.first);
  }
  for (const Stub* stub : module->definitions()) known.push_back(stub->name);
  auto failure = refuse("the name " + name + " is not defined", did_you_mean(name, known));
  raised_ = "NameError";
  return failure;
}

void Interpreter::store_name(const std::string& name, Value value) {
  if (const auto* tensor = value.get<TensorValue>(); tensor && builder_[tensor->node].op != ir::Op::Input) {
    builder_.set_name(tensor->node, name);
  }
  if (PythonModule* top = frame().top_level) {
    // In a problem file the ints of the top level are its sizes.
    if (const auto* size = value.get<ir::Size>();
        size && top->is_problem() && size->constant() && *size->constant() > 1) {
      value = Value{size_named(name, *size->constant(), SizeOrigin::Given)};
    }
    top->store(name, std::move(value));
    return;
  }
  Scope* scope = frame().scope.get();
  if (scope->global_names.contains(name)) {
    scope->module->store(name, std::move(value));
    return;
  }
  if (scope->outer_names.contains(name)) {
    for (Scope* outer = scope->outer.get(); outer; outer = outer->outer.get()) {
      if (const auto found = outer->names.find(name); found != outer->names.end()) {
        found->second = std::move(value);
        return;
      }
    }
  }
  scope->names.insert_or_assign(name, std::move(value));
}

Status Interpreter::assign_items(const std::vector<ExprPtr>& targets, const Value& value) {
  KW_TRY(const std::vector<Value> items, iterate(value));
  const auto star = std::find_if(targets.begin(), targets.end(), [](const ExprPtr& t) { return t->get<Starred>(); });
  const size_t fixed = targets.size() - (star == targets.end() ? 0 : 1);
  if (items.size() < fixed || (star == targets.end() && items.size() != fixed)) {
    return raise("ValueError",
                 "there are " + std::to_string(items.size()) + " values for " + std::to_string(fixed) + " names");
  }
  size_t next = 0;
  for (const ExprPtr& target : targets) {
    if (const auto* starred = target->get<Starred>()) {
      const size_t count = items.size() - fixed;
      const auto begin = items.begin() + static_cast<ptrdiff_t>(next);
      KW_CHECK(assign(*starred->value, list_value({begin, begin + static_cast<ptrdiff_t>(count)})));
      next += count;
    } else {
      KW_CHECK(assign(*target, items[next++]));
    }
  }
  return {};
}

Status Interpreter::assign(const Expr& target, Value value) {
  if (const auto* name = target.get<Name>()) {
    store_name(name->id, std::move(value));
    return {};
  }
  if (const auto* display = target.get<Display>()) return assign_items(display->items, value);
  if (const auto* attribute = target.get<Attribute>()) {
    KW_TRY(const Value object, evaluate(*attribute->value));
    return assign_attribute(object, attribute->name, std::move(value));
  }
  if (const auto* item = target.get<Subscript>()) {
    KW_TRY(const Value object, evaluate(*item->value));
    KW_TRY(const Value index, evaluate(*item->index));
    return assign_item(*item->value, object, index, std::move(value));
  }
  return refuse("this assignment is not read");
}

Status Interpreter::assign_attribute(const Value& object, const std::string& name, Value value) {
  if (const auto instance = as<InstanceObject>(object)) {
    Value found;
    if (find_in_class(*instance->type, name, nullptr, found)) {
      if (const auto function = as<FunctionObject>(found);
          function && function->binding == FunctionObject::Binding::Property) {
        return refuse("assigning to the property " + name + " is not read");
      }
    }
    if (instance->type && !building_ && is_module_class(*instance->type)) {
      const Value* old = instance->attributes.find(name);
      const auto* tensor = old ? old->get<TensorValue>() : nullptr;
      if (tensor && builder_[tensor->node].op == ir::Op::Input && value.is_tensor()) {
        return write_in_place(*tensor, *value.get<TensorValue>());  // self.running_mean = …: the buffer's new value
      }
    }
    instance->attributes.set(name, std::move(value));
    return {};
  }
  if (const auto layer = as<Layer>(object)) {
    for (auto& [key, old] : layer->attributes) {
      if (key != name) continue;
      old = std::move(value);
      return {};
    }
    layer->attributes.emplace_back(name, std::move(value));
    return {};
  }
  if (const auto type = as<ClassObject>(object)) {
    type->attributes.set(name, std::move(value));
    return {};
  }
  if (object.is_tensor()) {
    if (name == "requires_grad" || name == "grad") return {};
    if (name == "data" && value.is_tensor()) {
      if (building_) return {};
      return write_in_place(*object.get<TensorValue>(), *value.get<TensorValue>());
    }
    if (building_) return {};  // marks that a library puts on a parameter
  }
  return refuse("assigning the attribute " + name + " of " + type_name(object) + " is not read");
}

Status Interpreter::assign_item(const Expr& container, const Value& object, const Value& index, Value value) {
  if (const auto dict = as<DictObject>(object)) {
    KW_TRY(Value * slot, dict_find(*dict, index));
    if (slot) {
      *slot = std::move(value);
    } else {
      dict->items.emplace_back(index, std::move(value));
    }
    return {};
  }
  if (const auto list = as<ListObject>(object)) {
    if (index.get<SliceValue>()) return refuse("assigning to a slice of a list is not read");
    KW_TRY(const size_t position, item_position(index, list->items.size()));
    list->items[position] = std::move(value);
    return {};
  }
  if (const auto modules = as<ContainerObject>(object)) {
    if (modules->kind == "ModuleDict" || modules->kind == "ParameterDict") {
      const auto* key = index.get<std::string>();
      if (!key) return refuse("the key of a " + modules->kind + " is a string");
      for (auto& [name, old] : modules->items) {
        if (name != *key) continue;
        old = std::move(value);
        return {};
      }
      modules->items.emplace_back(*key, std::move(value));
      return {};
    }
    KW_TRY(const size_t position, item_position(index, modules->items.size()));
    modules->items[position].second = std::move(value);
    return {};
  }
  if (const auto* tensor = object.get<TensorValue>()) {
    if (building_ && builder_[tensor->node].op == ir::Op::Input) return {};
    Arguments arguments{{object, index, std::move(value)}, {}};
    KW_CHECK(plain(arguments));
    builder_.set_origin(origin());
    KW_TRY(const Value updated, call_torch(torch_, "operator.setitem", std::move(arguments)));
    if (!updated.is_tensor()) return refuse("this assignment to a part of a tensor is not read");
    return write_in_place(*tensor, *updated.get<TensorValue>());
  }
  (void)container;
  return refuse("assigning to an item of " + type_name(object) + " is not read");
}

Status Interpreter::augmented_assign(const AugmentedAssign& node) {
  const auto combine = [&](const Value& old) -> Result<Value> {
    KW_TRY(const Value operand, evaluate(*node.value));
    return binary(node.op, old, operand);
  };
  // On a tensor this changes the tensor itself, so that every other name for it sees the change; its type stays.
  const auto in_place = [&](const Value& old, const Value& result) -> Result<Value> {
    const TensorValue& target = *old.get<TensorValue>();
    const auto* tensor = result.get<TensorValue>();
    if (!tensor) return refuse("this in-place operator does not give a tensor");
    Arguments arguments{{old, result}, {}};
    KW_CHECK(plain(arguments));
    builder_.set_origin(origin());
    // copy_ rounds to the target's type and insists on its shape.
    KW_TRY(Value fitted, call_torch(torch_, "Tensor.copy_", std::move(arguments)));
    KW_CHECK(write_in_place(target, *fitted.get<TensorValue>()));
    fitted.data = TensorValue{fitted.get<TensorValue>()->node, fitted.get<TensorValue>()->dims, target.identity};
    return fitted;
  };
  if (const auto* item = node.target->get<Subscript>()) {
    KW_TRY(const Value object, evaluate(*item->value));
    KW_TRY(const Value index, evaluate(*item->index));
    KW_TRY(const Value old, subscript(object, index));
    KW_TRY(Value result, combine(old));
    if (old.is_tensor() && !object.is_tensor()) {
      KW_TRY(result, in_place(old, result));
    }
    return assign_item(*item->value, object, index, std::move(result));
  }
  KW_TRY(const Value old, evaluate(*node.target));
  if (const auto list = as<ListObject>(old); list && node.op == BinaryOperator::Add) {
    KW_TRY(const Value more, evaluate(*node.value));
    KW_TRY(const std::vector<Value> items, iterate(more));
    if (list->items.size() > 100'000) return refuse("this list is too long to be read");
    list->items.insert(list->items.end(), items.begin(), items.end());
    return {};
  }
  KW_TRY(Value result, combine(old));
  if (old.is_tensor()) {
    KW_TRY(result, in_place(old, result));
    if (node.target->get<Attribute>()) return {};  // the tensor of the attribute has been changed
  }
  return assign(*node.target, std::move(result));
}

Status Interpreter::fill_defaults(FunctionObject& function) {
  for (const ExprPtr& value : function.parameters->defaults) {
    KW_TRY(Value evaluated, evaluate(*value));
    function.defaults.push_back(std::move(evaluated));
  }
  for (const ExprPtr& value : function.parameters->keyword_defaults) {
    if (!value) {
      function.keyword_defaults.emplace_back();
      continue;
    }
    KW_TRY(Value evaluated, evaluate(*value));
    function.keyword_defaults.emplace_back(std::move(evaluated));
  }
  return {};
}

Result<Value> Interpreter::define_function(const FunctionDef& node, const Span& span) {
  auto function = std::make_shared<FunctionObject>();
  function->name = node.name;
  function->parameters = &node.parameters;
  function->body = &node.body;
  function->file = file_;
  function->span = span;
  function->closure = frame().top_level ? nullptr : frame().scope;
  function->module = frame().scope->module;
  KW_CHECK(fill_defaults(*function));
  return decorate(node.decorators, object_value(std::move(function)));
}

Result<Value> Interpreter::decorate(const std::vector<ExprPtr>& decorators, Value value) {
  for (auto it = decorators.rbegin(); it != decorators.rend(); ++it) {
    const Expr& decorator = **it;
    span_ = decorator.span;
    const auto* called = decorator.get<Call>();
    const Expr& name = called ? *called->function : decorator;
    // Decorators are known by name alone, so that the library that defines them need not be read.
    std::string dotted;
    for (const Expr* part = &name;;) {
      if (const auto* attribute = part->get<Attribute>()) {
        dotted = "." + attribute->name + dotted;
        part = attribute->value.get();
      } else {
        if (const auto* simple = part->get<Name>()) dotted = simple->id + dotted;
        break;
      }
    }
    const auto function = as<FunctionObject>(value);
    const NameRule* rule = published_rules().decorator(dotted);
    const std::string meaning = rule ? rule->value : "";
    if (meaning == "harmless") continue;
    if (meaning == "setter" && function) {
      // The property of that name stays: assigning to it is refused where it happens.
      const auto getter = frame().scope->names.find(function->name);
      if (getter == frame().scope->names.end()) return refuse("there is no property " + function->name);
      value = getter->second;
      continue;
    }
    if (meaning == "static" && function) {
      function->binding = FunctionObject::Binding::Static;
    } else if (meaning == "class" && function) {
      function->binding = FunctionObject::Binding::Class;
    } else if (meaning == "property" && function) {
      function->binding = FunctionObject::Binding::Property;
    } else if (meaning == "no gradient" && function) {
      function->stops_gradient = true;
    } else if (meaning == "dataclass" && as<ClassObject>(value)) {
      as<ClassObject>(value)->is_dataclass = true;
    } else {
      KW_TRY(const Value callee, evaluate(decorator));
      if (as<ExternalObject>(callee) || as<Layer>(callee)) {
        return refuse("the decorator " + dotted + " is not known", "remove it, or apply what it does by hand");
      }
      KW_TRY(value, call(callee, {{value}, {}}));
    }
  }
  return value;
}

}  // namespace kw::understand::python
