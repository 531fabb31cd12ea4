// Statements.
#include <algorithm>

#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

constexpr size_t kMostRounds = 20'000;  // of one loop

// Exceptions that a handler of the named class catches, nearest first.
bool exception_is(std::string_view exception, std::string_view base) {
  struct Row {
    std::string_view name, parent;
  };
  static constexpr Row kParents[] = {
      {"ImportError", "Exception"},
      {"ModuleNotFoundError", "ImportError"},
      {"KeyError", "LookupError"},
      {"IndexError", "LookupError"},
      {"LookupError", "Exception"},
      {"AttributeError", "Exception"},
      {"ValueError", "Exception"},
      {"TypeError", "Exception"},
      {"ZeroDivisionError", "ArithmeticError"},
      {"ArithmeticError", "Exception"},
      {"NotImplementedError", "RuntimeError"},
      {"RuntimeError", "Exception"},
      {"AssertionError", "Exception"},
      {"StopIteration", "Exception"},
      {"NameError", "Exception"},
      {"OSError", "Exception"},
      {"Exception", "BaseException"},
  };
  for (int hops = 0; hops < 8; ++hops) {
    if (exception == base) return true;
    std::string_view parent;
    for (const Row& row : kParents) {
      if (row.name == exception) parent = row.parent;
    }
    if (parent.empty()) return base == "Exception" || base == "BaseException";
    exception = parent;
  }
  return false;
}

}  // namespace

Failure Interpreter::raise(std::string exception, std::string message) {
  auto failure = refuse("the program raises " + exception + (message.empty() ? "" : ": " + message));
  raised_ = std::move(exception);
  return failure;
}

Result<Flow> Interpreter::execute(const Block& block) {
  for (const Stmt& statement : block) {
    KW_TRY(const Flow flow, execute(statement));
    if (flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

Result<Flow> Interpreter::execute(const Stmt& statement) {
  const Span saved = std::exchange(span_, statement.span);
  struct Runner {
    Interpreter& self;
    const Stmt& statement;
    Result<Flow> done(Status status) const {
      KW_CHECK(std::move(status));
      return Flow::Next;
    }
    Result<Flow> operator()(const Unsupported& node) const {
      return self.refuse("this statement is not read: " + node.what);
    }
    Result<Flow> operator()(const FunctionDef& node) const {
      KW_TRY(Value value, self.define_function(node, statement.span));
      self.store_name(node.name, std::move(value));
      return Flow::Next;
    }
    Result<Flow> operator()(const ClassDef& node) const {
      KW_TRY(Value value, self.define_class(node, statement.span));
      self.store_name(node.name, std::move(value));
      return Flow::Next;
    }
    Result<Flow> operator()(const Stub& node) const {
      KW_TRY(const Stmt* whole, self.sources_.definition(*self.file_, node));
      return self.execute(*whole);
    }
    Result<Flow> operator()(const Return& node) const {
      self.frame().result = none();
      if (node.value) {
        KW_TRY(self.frame().result, self.evaluate(*node.value));
      }
      return Flow::Return;
    }
    Result<Flow> operator()(const Delete& node) const {
      for (const ExprPtr& target : node.targets) KW_CHECK(self.remove(*target));
      return Flow::Next;
    }
    Result<Flow> operator()(const Assign& node) const {
      KW_TRY(const Value value, self.evaluate(*node.value));
      for (const ExprPtr& target : node.targets) KW_CHECK(self.assign(*target, value));
      return Flow::Next;
    }
    Result<Flow> operator()(const AugmentedAssign& node) const { return done(self.augmented_assign(node)); }
    Result<Flow> operator()(const AnnotatedAssign& node) const {
      if (!node.value) return Flow::Next;
      KW_TRY(const Value value, self.evaluate(*node.value));
      return done(self.assign(*node.target, value));
    }
    Result<Flow> operator()(const For& node) const { return self.execute_loop(node); }
    Result<Flow> operator()(const While& node) const { return self.execute_loop(node); }
    Result<Flow> operator()(const If& node) const {
      KW_TRY(const Value test, self.evaluate(*node.test));
      self.span_ = node.test->span;
      KW_TRY(const bool is_true, self.truth(test));
      return self.execute(is_true ? node.body : node.otherwise);
    }
    Result<Flow> operator()(const With& node) const { return self.execute_with(node); }
    Result<Flow> operator()(const Raise& node) const { return self.execute_raise(node); }
    Result<Flow> operator()(const Try& node) const { return self.execute_try(node); }
    Result<Flow> operator()(const Assert& node) const {
      KW_TRY(const Value test, self.evaluate(*node.test));
      self.span_ = node.test->span;
      KW_TRY(const bool is_true, self.truth(test));
      if (!is_true) return self.raise("AssertionError", "this assertion does not hold");
      return Flow::Next;
    }
    Result<Flow> operator()(const Import& node) const { return done(self.execute_import(node)); }
    Result<Flow> operator()(const ImportFrom& node) const { return done(self.execute_import(node)); }
    Result<Flow> operator()(const Outer& node) const {
      auto& names = node.global ? self.frame().scope->global_names : self.frame().scope->outer_names;
      names.insert(node.names.begin(), node.names.end());
      return Flow::Next;
    }
    Result<Flow> operator()(const ExpressionStatement& node) const {
      if (node.value->get<Constant>() || self.is_message_call(*node.value)) return Flow::Next;
      KW_TRY([[maybe_unused]] const Value unused, self.evaluate(*node.value));
      return Flow::Next;
    }
    Result<Flow> operator()(const Pass&) const { return Flow::Next; }
    Result<Flow> operator()(const Break&) const { return Flow::Break; }
    Result<Flow> operator()(const Continue&) const { return Flow::Continue; }
  };
  auto result = std::visit(Runner{*this, statement}, statement.node);
  if (!result) locate(result.error());
  span_ = saved;
  return result;
}

// print(…), warnings.warn(…), logger.warning(…): they change nothing, and their arguments are not looked at.
bool Interpreter::is_message_call(const Expr& expression) {
  const auto* call = expression.get<Call>();
  if (!call) return false;
  if (const auto* name = call->function->get<Name>()) return name->id == "print";
  const auto* method = call->function->get<Attribute>();
  const auto* object = method ? method->value->get<Name>() : nullptr;
  if (!object) return false;
  if (object->id == "warnings") return method->name == "warn";
  if (object->id != "logger" && object->id != "logging" && object->id != "log") return false;
  for (const char* level : {"debug", "info", "warning", "warning_once", "warn", "error", "critical", "exception"}) {
    if (method->name == level) return true;
  }
  return false;
}

Result<Flow> Interpreter::execute_loop(const For& node) {
  KW_TRY(const Value iterable, evaluate(*node.iter));
  span_ = node.iter->span;
  KW_TRY(const std::vector<Value> items, iterate(iterable));
  for (const Value& item : items) {
    KW_CHECK(assign(*node.target, item));
    KW_TRY(const Flow flow, execute(node.body));
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
  }
  return execute(node.otherwise);
}

Result<Flow> Interpreter::execute_loop(const While& node) {
  for (size_t round = 0; round < kMostRounds; ++round) {
    KW_TRY(const Value test, evaluate(*node.test));
    span_ = node.test->span;
    KW_TRY(const bool is_true, truth(test));
    if (!is_true) return execute(node.otherwise);
    KW_TRY(const Flow flow, execute(node.body));
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) return Flow::Next;
  }
  return refuse("this loop runs too long to be read");
}

Result<Flow> Interpreter::execute_with(const With& node) {
  int stopped = 0;
  for (const WithItem& item : node.items) {
    // The context is known by its function; its arguments are read for what matters alone.
    const auto* call = item.context->get<Call>();
    KW_TRY(const Value context, evaluate(call ? *call->function : *item.context));
    span_ = item.context->span;
    const auto object = as<ExternalObject>(context);
    const auto function = as<FunctionObject>(context);
    const std::string path = object ? object->path : function ? function->module->name + "." + function->name : "";
    const std::string last = path.substr(path.rfind('.') + 1);
    if (item.target) return refuse("`with … as` is not read");
    const bool is_torch = path.starts_with("torch.");
    if (is_torch && (last == "no_grad" || last == "inference_mode")) {
      ++stopped;
      continue;
    }
    if (last == "autocast" || last == "maybe_autocast") {
      bool disabled = false;
      for (size_t i = 0; call && i < call->keywords.size(); ++i) {
        if (call->keywords[i].name != "enabled") continue;
        KW_TRY(const Value enabled, evaluate(*call->keywords[i].value));
        KW_TRY(const bool is_on, truth(enabled));
        disabled = !is_on;
      }
      if (!disabled) {
        return refuse("automatic mixed precision changes types by rules of its own and is not read",
                      "write the casts out, or pass enabled=False");
      }
      continue;
    }
    if (is_torch && (last == "enable_grad" || last == "record_function" || last == "nvtx.range")) continue;
    return refuse("this context manager is not read: " + (path.empty() ? type_name(context) : path));
  }
  no_gradient_ += stopped;
  auto flow = execute(node.body);
  no_gradient_ -= stopped;
  return flow;
}

Result<bool> Interpreter::catches(const Handler& handler, const std::string& exception) {
  if (!handler.type) return true;
  std::vector<const Expr*> types{handler.type.get()};
  if (const auto* tuple = handler.type->get<Display>()) {
    types.clear();
    for (const ExprPtr& item : tuple->items) types.push_back(item.get());
  }
  for (const Expr* type : types) {
    std::string name;
    if (const auto* simple = type->get<Name>()) name = simple->id;
    if (const auto* attribute = type->get<Attribute>()) name = attribute->name;
    if (name.empty()) return refuse("this except clause is not read");
    if (exception_is(exception, name)) return true;
  }
  return false;
}

Result<Flow> Interpreter::execute_try(const Try& node) {
  bool optional_import = false;
  for (const Handler& handler : node.handlers) {
    KW_TRY(const bool caught, catches(handler, "ImportError"));
    optional_import = optional_import || caught;
  }
  optional_imports_ += optional_import ? 1 : 0;
  auto flow = execute(node.body);
  optional_imports_ -= optional_import ? 1 : 0;
  if (flow) {
    if (*flow == Flow::Next) flow = execute(node.otherwise);
  } else if (raised_) {
    const std::string exception = *raised_;
    for (const Handler& handler : node.handlers) {
      KW_TRY(const bool caught, catches(handler, exception));
      if (!caught) continue;
      raised_.reset();
      if (handler.name) {
        auto object = std::make_shared<ExceptionObject>();
        object->name = exception;
        store_name(*handler.name, object_value(std::move(object)));
      }
      flow = execute(handler.body);
      break;
    }
  }
  if (!flow && !raised_) return flow;
  const auto pending = raised_;
  KW_TRY(const Flow last, execute(node.finally));
  if (last != Flow::Next) return last;
  raised_ = pending;
  return flow;
}

Result<Flow> Interpreter::execute_raise(const Raise& node) {
  if (!node.exception) return raise("Exception", "");
  const auto* call = node.exception->get<Call>();
  const Expr& type = call ? *call->function : *node.exception;
  std::string name = "Exception";
  if (const auto* simple = type.get<Name>()) name = simple->id;
  if (const auto* attribute = type.get<Attribute>()) name = attribute->name;
  std::string message;
  if (call && !call->arguments.empty()) {
    const auto text = evaluate(*call->arguments[0]);
    if (text && text->get<std::string>()) message = *text->get<std::string>();
    raised_.reset();
  }
  return raise(std::move(name), std::move(message));
}

// A package that this machine may or may not have, imported inside try/except ImportError: taken as absent.
Status Interpreter::check_optional_import(const std::string& dotted) {
  static constexpr const char* kPresent[] = {
      "torch",      "math",    "functools", "typing",  "dataclasses", "collections", "copy",
      "os",         "sys",     "warnings",  "logging", "itertools",   "operator",    "abc",
      "enum",       "numbers", "types",     "re",      "json",        "random",      "time",
      "contextlib", "inspect", "pathlib",   "numpy",   "string",      "struct",      "typing_extensions"};
  if (optional_imports_ == 0) return {};
  const std::string top = dotted.substr(0, dotted.find('.'));
  if (std::find(std::begin(kPresent), std::end(kPresent), top) != std::end(kPresent)) return {};
  assume("package " + top, "absent", "docs/assumptions.md: a package that is imported inside try/except ImportError");
  return raise("ImportError", "there is no package " + top);
}

Status Interpreter::execute_import(const Import& node) {
  PythonModule& here = *frame().scope->module;
  for (const Alias& alias : node.names) {
    const std::string dotted = alias.as ? alias.name : alias.name.substr(0, alias.name.find('.'));
    KW_TRY(PythonModule * module, packages_.find(here, dotted, 0));
    if (!module) KW_CHECK(check_optional_import(dotted));
    store_name(alias.as.value_or(dotted), module ? module_object(module) : external(dotted));
  }
  return {};
}

Status Interpreter::execute_import(const ImportFrom& node) {
  PythonModule& here = *frame().scope->module;
  for (const Alias& alias : node.names) {
    if (alias.name == "*") return refuse("`from … import *` is read at the top level of a file alone");
    KW_TRY(Value value, here.import_name(*this, node, alias));
    if (as<ExternalObject>(value) && node.level == 0) KW_CHECK(check_optional_import(node.module));
    store_name(alias.as.value_or(alias.name), std::move(value));
  }
  return {};
}

Status Interpreter::remove(const Expr& target) {
  if (const auto* name = target.get<Name>()) {
    if (frame().scope->names.erase(name->id) == 0) return refuse(name->id + " is not a local name here");
    return {};
  }
  if (const auto* attribute = target.get<Attribute>()) {
    KW_TRY(const Value object, evaluate(*attribute->value));
    const auto instance = as<InstanceObject>(object);
    if (!instance || !instance->attributes.erase(attribute->name))
      return refuse("there is no attribute " + attribute->name);
    return {};
  }
  if (const auto* item = target.get<Subscript>()) {
    KW_TRY(const Value object, evaluate(*item->value));
    KW_TRY(const Value index, evaluate(*item->index));
    if (const auto dict = as<DictObject>(object)) {
      for (size_t i = 0; i < dict->items.size(); ++i) {
        KW_TRY(const bool same, equal(dict->items[i].first, index));
        if (!same) continue;
        dict->items.erase(dict->items.begin() + static_cast<ptrdiff_t>(i));
        return {};
      }
      return raise("KeyError", "");
    }
    if (const auto list = as<ListObject>(object)) {
      KW_TRY(const size_t position, item_position(index, list->items.size()));
      list->items.erase(list->items.begin() + static_cast<ptrdiff_t>(position));
      return {};
    }
  }
  return refuse("this del is not read");
}

}  // namespace kw::understand::python
