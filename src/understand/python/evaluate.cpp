// Expressions.
#include "base/text.h"
#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

constexpr int kDeepestEvaluation = 2000;
constexpr long kMostSteps = 400'000;

}  // namespace

void Interpreter::locate(Error& error) const {
  if (error.place && error.place->line > 0) return;
  if (!file_ || (error.place && !error.place->file.empty())) return;
  error.place = file_->place(span_);
  error = with_source(std::move(error), file_->text);
}

Failure Interpreter::refuse(std::string message, std::string hint) const {
  Error error{ErrorKind::BadInput, std::move(message), {}, {}, std::move(hint)};
  locate(error);
  return Failure(std::move(error));
}

Result<Value> Interpreter::evaluate(const Expr& expression) {
  const Span saved = std::exchange(span_, expression.span);
  if (++steps_ > kMostSteps) return refuse("the program runs too long to be read", "read a smaller part of it");
  if (++depth_ > kDeepestEvaluation) return refuse("calls and expressions are nested too deeply");
  auto result = std::visit([&](const auto& node) { return evaluate_node(node); }, expression.node);
  if (result) {
    if (const auto* tensor = result->get<TensorValue>()) {
      auto now = current(*tensor);
      if (now) {
        result->data = *std::move(now);
      } else {
        result = tl::make_unexpected(std::move(now).error());
      }
    }
  }
  --depth_;
  if (!result) locate(result.error());
  span_ = saved;
  return result;
}

Result<Value> Interpreter::evaluate_node(const Unsupported& node) {
  return refuse("this construct is not read: " + node.what);
}

Result<Value> Interpreter::evaluate_node(const Constant& node) {
  struct Reader {
    Value operator()(std::nullptr_t) const { return none(); }
    Value operator()(bool value) const { return Value{value}; }
    Value operator()(int64_t value) const { return int_value(value); }
    Value operator()(double value) const { return Value{value}; }
    Value operator()(const std::string& value) const { return Value{value}; }
    Value operator()(const Ellipsis&) const { return Value{EllipsisValue{}}; }
  };
  return std::visit(Reader{}, node.value);
}

Result<Value> Interpreter::evaluate_node(const Name& node) { return lookup(node.id); }

Result<Value> Interpreter::evaluate_node(const Attribute& node) {
  KW_TRY(const Value object, evaluate(*node.value));
  return attribute(object, node.name);
}

Result<Value> Interpreter::evaluate_node(const Subscript& node) {
  KW_TRY(const Value object, evaluate(*node.value));
  KW_TRY(const Value index, evaluate(*node.index));
  return subscript(object, index);
}

Result<Value> Interpreter::evaluate_node(const Slice& node) {
  SliceValue slice;
  const auto part = [&](const ExprPtr& expression, std::shared_ptr<Value>& out) -> Status {
    if (!expression) return {};
    KW_TRY(Value value, evaluate(*expression));
    if (!value.is_none()) out = std::make_shared<Value>(std::move(value));
    return {};
  };
  KW_CHECK(part(node.lower, slice.start));
  KW_CHECK(part(node.upper, slice.stop));
  KW_CHECK(part(node.step, slice.step));
  return Value{std::move(slice)};
}

Result<Value> Interpreter::evaluate_node(const Starred&) { return refuse("a starred expression is not read here"); }

Result<std::vector<Value>> Interpreter::evaluate_items(const std::vector<ExprPtr>& items) {
  std::vector<Value> result;
  for (const ExprPtr& item : items) {
    if (const auto* starred = item->get<Starred>()) {
      KW_TRY(const Value value, evaluate(*starred->value));
      KW_TRY(std::vector<Value> all, iterate(value));
      std::move(all.begin(), all.end(), std::back_inserter(result));
    } else {
      KW_TRY(Value value, evaluate(*item));
      result.push_back(std::move(value));
    }
  }
  return result;
}

Result<Value> Interpreter::evaluate_node(const Call& node) {
  // x[index].add_(y) changes x: the part is computed, then put back.
  if (const auto* method = node.function->get<Attribute>();
      method && method->name.size() > 1 && method->name.ends_with('_') && !method->name.ends_with("__")) {
    if (const auto* part = method->value->get<Subscript>()) {
      KW_TRY(const Value whole, evaluate(*part->value));
      if (whole.is_tensor()) {
        KW_TRY(const Value index, evaluate(*part->index));
        KW_TRY(const Value old_part, subscript(whole, index));
        KW_TRY(Arguments arguments, evaluate_arguments(node));
        arguments.positional.insert(arguments.positional.begin(), old_part);
        KW_CHECK(plain(arguments));
        builder_.set_origin(origin());
        KW_TRY(Value new_part, call_torch(torch_, "Tensor." + method->name, std::move(arguments)));
        KW_CHECK(assign_item(*part->value, whole, index, new_part));
        return new_part;
      }
    }
  }
  KW_TRY(const Value function, evaluate(*node.function));
  KW_TRY(Arguments arguments, evaluate_arguments(node));
  return call(function, std::move(arguments));
}

Result<Value> Interpreter::evaluate_node(const Unary& node) {
  KW_TRY(const Value operand, evaluate(*node.operand));
  return unary(node.op, operand);
}

Result<Value> Interpreter::evaluate_node(const Binary& node) {
  KW_TRY(const Value left, evaluate(*node.left));
  KW_TRY(const Value right, evaluate(*node.right));
  return binary(node.op, left, right);
}

Result<Value> Interpreter::evaluate_node(const Logical& node) {
  Value last;
  for (size_t i = 0; i < node.values.size(); ++i) {
    KW_TRY(last, evaluate(*node.values[i]));
    if (i + 1 == node.values.size()) break;
    KW_TRY(const bool is_true, truth(last));
    if (is_true != node.is_and) break;
  }
  return last;
}

Result<Value> Interpreter::evaluate_node(const Compare& node) {
  KW_TRY(Value left, evaluate(*node.left));
  for (size_t i = 0; i < node.ops.size(); ++i) {
    KW_TRY(Value right, evaluate(*node.right[i]));
    KW_TRY(Value result, compare(node.ops[i], left, right));
    if (i + 1 == node.ops.size()) return result;
    KW_TRY(const bool is_true, truth(result));
    if (!is_true) return Value{false};
    left = std::move(right);
  }
  return Value{true};
}

Result<Value> Interpreter::evaluate_node(const Conditional& node) {
  KW_TRY(const Value test, evaluate(*node.test));
  const Span saved = std::exchange(span_, node.test->span);
  KW_TRY(const bool is_true, truth(test));
  span_ = saved;
  return evaluate(is_true ? *node.then : *node.otherwise);
}

Result<Value> Interpreter::evaluate_node(const Walrus& node) {
  KW_TRY(Value value, evaluate(*node.value));
  KW_CHECK(assign(*node.target, value));
  return value;
}

Result<Value> Interpreter::evaluate_node(const Lambda& node) {
  auto function = std::make_shared<FunctionObject>();
  function->name = "lambda";
  function->parameters = &node.parameters;
  function->expression = node.body.get();
  function->file = file_;
  function->span = span_;
  function->closure = frame().scope;
  function->module = frame().scope->module;
  KW_CHECK(fill_defaults(*function));
  return object_value(std::move(function));
}

Result<Value> Interpreter::evaluate_node(const Display& node) {
  KW_TRY(std::vector<Value> items, evaluate_items(node.items));
  switch (node.kind) {
    case Display::Kind::Tuple:
      return tuple_value(std::move(items));
    case Display::Kind::List:
      return list_value(std::move(items));
    case Display::Kind::Set:
      break;
  }
  auto set = std::make_shared<SetObject>();
  for (Value& item : items) {
    KW_TRY(const bool known, contains(object_value(set), item));
    if (!known) set->items.push_back(std::move(item));
  }
  return object_value(std::move(set));
}

Result<Value> Interpreter::evaluate_node(const DictDisplay& node) {
  auto dict = std::make_shared<DictObject>();
  const auto put = [&](const Value& key, Value value) -> Status {
    KW_TRY(Value * slot, dict_find(*dict, key));
    if (slot) {
      *slot = std::move(value);
    } else {
      dict->items.emplace_back(key, std::move(value));
    }
    return {};
  };
  for (size_t i = 0; i < node.keys.size(); ++i) {
    if (node.keys[i]) {
      KW_TRY(const Value key, evaluate(*node.keys[i]));
      KW_TRY(Value value, evaluate(*node.values[i]));
      KW_CHECK(put(key, std::move(value)));
      continue;
    }
    KW_TRY(const Value other, evaluate(*node.values[i]));
    const auto mapping = as<DictObject>(other);
    if (!mapping) return refuse("** needs a dict, not " + type_name(other));
    for (const auto& [key, value] : mapping->items) KW_CHECK(put(key, value));
  }
  return object_value(std::move(dict));
}

Status Interpreter::comprehend(const Comprehended& node, size_t depth, const std::function<Status()>& emit) {
  if (depth == node.generators.size()) return emit();
  const Comprehension& generator = node.generators[depth];
  KW_TRY(const Value iterable, evaluate(*generator.iter));
  KW_TRY(const std::vector<Value> items, iterate(iterable));
  for (const Value& item : items) {
    KW_CHECK(assign(*generator.target, item));
    bool wanted = true;
    for (const ExprPtr& condition : generator.conditions) {
      KW_TRY(const Value test, evaluate(*condition));
      KW_TRY(wanted, truth(test));
      if (!wanted) break;
    }
    if (wanted) KW_CHECK(comprehend(node, depth + 1, emit));
  }
  return {};
}

Result<Value> Interpreter::evaluate_node(const Comprehended& node) {
  auto scope = std::make_shared<Scope>();
  scope->outer = frame().scope;
  scope->module = frame().scope->module;
  const auto saved = std::exchange(frame().scope, scope);
  PythonModule* const saved_top = std::exchange(frame().top_level, nullptr);
  std::vector<Value> items;
  auto dict = std::make_shared<DictObject>();
  const auto emit = [&]() -> Status {
    if (node.kind == Comprehended::Kind::Dict) {
      KW_TRY(Value key, evaluate(*node.key));
      KW_TRY(Value value, evaluate(*node.element));
      KW_TRY(Value * slot, dict_find(*dict, key));
      if (slot) {
        *slot = std::move(value);
      } else {
        dict->items.emplace_back(std::move(key), std::move(value));
      }
      return {};
    }
    KW_TRY(Value value, evaluate(*node.element));
    items.push_back(std::move(value));
    return {};
  };
  auto status = comprehend(node, 0, emit);
  frame().scope = saved;
  frame().top_level = saved_top;
  KW_CHECK(std::move(status));
  if (node.kind == Comprehended::Kind::Dict) return object_value(std::move(dict));
  if (node.kind == Comprehended::Kind::Set) {
    auto set = std::make_shared<SetObject>();
    for (Value& item : items) {
      KW_TRY(const bool known, contains(object_value(set), item));
      if (!known) set->items.push_back(std::move(item));
    }
    return object_value(std::move(set));
  }
  return list_value(std::move(items));
}

Result<std::string> Interpreter::format(const Value& value, const std::string& spec, bool& opaque) {
  const bool known = value.is_none() || value.get<bool>() || value.get<double>() || value.get<std::string>() ||
                     (value.get<ir::Size>() && value.get<ir::Size>()->constant());
  if (!known || !spec.empty()) {
    opaque = true;
    return std::string("…");
  }
  return text_of(value);
}

Result<Value> Interpreter::evaluate_node(const FormattedString& node) {
  std::string text;
  bool opaque = false;
  for (const ExprPtr& part : node.parts) {
    if (const auto* constant = part->get<Constant>()) {
      if (const auto* literal = std::get_if<std::string>(&constant->value)) text += *literal;
      continue;
    }
    const auto* formatted = part->get<Formatted>();
    if (!formatted) return refuse("this f-string is not read");
    KW_TRY(const Value value, evaluate(*formatted->value));
    const std::string spec = formatted->format || formatted->conversion > 0 ? "given" : "";
    KW_TRY(const std::string piece, format(value, spec, opaque));
    text += piece;
  }
  if (opaque) return object_value(std::make_shared<OpaqueString>());
  return Value{std::move(text)};
}

Result<Value> Interpreter::evaluate_node(const Formatted& node) { return evaluate(*node.value); }

}  // namespace kw::understand::python
