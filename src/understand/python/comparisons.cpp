// Comparison, identity, containment and truth. What depends on a tensor's elements cannot be decided while reading;
// what depends on a size, a scalar or a type that the interface leaves open is decided by the user's own and fixes it.
#include <cmath>

#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

const char* torch_name(Comparison op) {
  switch (op) {
    case Comparison::Equal:
      return "operator.eq";
    case Comparison::NotEqual:
      return "operator.ne";
    case Comparison::Less:
      return "operator.lt";
    case Comparison::LessEqual:
      return "operator.le";
    case Comparison::Greater:
      return "operator.gt";
    case Comparison::GreaterEqual:
      return "operator.ge";
    default:
      return "";
  }
}

bool holds(Comparison op, double a, double b) {
  switch (op) {
    case Comparison::Equal:
      return a == b;
    case Comparison::NotEqual:
      return a != b;
    case Comparison::Less:
      return a < b;
    case Comparison::LessEqual:
      return a <= b;
    case Comparison::Greater:
      return a > b;
    case Comparison::GreaterEqual:
      return a >= b;
    default:
      return false;
  }
}

Comparison mirrored(Comparison op) {
  switch (op) {
    case Comparison::Less:
      return Comparison::Greater;
    case Comparison::LessEqual:
      return Comparison::GreaterEqual;
    case Comparison::Greater:
      return Comparison::Less;
    case Comparison::GreaterEqual:
      return Comparison::LessEqual;
    default:
      return op;
  }
}

// A lone size against a number below 1: it is above it, whatever it is, as no dimension read as a symbol is empty.
std::optional<bool> compare_with_bound(Comparison op, const ir::Size& a, const ir::Size& b) {
  if (a.constant() && b.as_symbol()) return compare_with_bound(mirrored(op), b, a);
  if (!a.as_symbol() || !b.constant() || *b.constant() >= 1) return std::nullopt;
  return op == Comparison::Greater || op == Comparison::GreaterEqual || op == Comparison::NotEqual;
}

bool is_number(const Value& value) {
  return value.get<bool>() || value.get<ir::Size>() || value.get<double>() || value.get<ScalarValue>();
}

}  // namespace

Result<Value> Interpreter::number_compare(Comparison op, const Value& left, const Value& right) {
  const auto x = as_known_number(left), y = as_known_number(right);
  if (x && y) return Value{holds(op, *x, *y)};
  if (const auto a = as_size(left), b = as_size(right); a && b) {
    if (const auto difference = (*a - *b).constant()) return Value{holds(op, static_cast<double>(*difference), 0)};
    if (const auto decided = compare_with_bound(op, *a, *b)) return Value{*decided};
    const bool equality = op == Comparison::Equal || op == Comparison::NotEqual;
    // A program that asks whether two sizes are equal is read with them equal if the rules supplied one of them.
    if (equality && !a->constant() && !b->constant() && facts_.unify_assumed(*a, *b)) {
      return refuse("sizes " + builder_.graph().size_text(*a) + " and " + builder_.graph().size_text(*b) +
                    " are compared");
    }
    const auto hint_a = builder_.graph().hinted(*a), hint_b = builder_.graph().hinted(*b);
    const auto constant = a->constant() ? a->constant() : b->constant();
    if (equality && constant && *constant <= 1 && hint_a && hint_b && *hint_a != *hint_b) {
      assume(builder_.graph().size_text(*a) + " == " + builder_.graph().size_text(*b), "False",
             "the branch taken at the user's own shape; empty and single dimensions would take the other");
      return Value{op == Comparison::NotEqual};
    }
    KW_TRY(const int64_t m, facts_.fix(builder_.graph(), *a));
    KW_TRY(const int64_t n, facts_.fix(builder_.graph(), *b));
    return Value{holds(op, static_cast<double>(m), static_cast<double>(n))};
  }
  const auto m = known_number(left), n = known_number(right);
  if (!m || !n) {
    return refuse("this comparison depends on a number that is not known while reading",
                  "give the number: --init NAME=VALUE");
  }
  for (const Value* side : {&left, &right}) {
    if (const auto* size = side->get<ir::Size>()) {
      KW_TRY([[maybe_unused]] const int64_t fixed, facts_.fix(builder_.graph(), *size));
    }
    if (const auto* scalar = side->get<ScalarValue>()) KW_CHECK(fix_scalar(*scalar));
  }
  return Value{holds(op, *m, *n)};
}

Status Interpreter::fix_scalar(const ScalarValue& scalar) {
  std::vector<ir::NodeId> pending{scalar.node};
  while (!pending.empty()) {
    const ir::Node& node = builder_[pending.back()];
    pending.pop_back();
    pending.insert(pending.end(), node.args.begin(), node.args.end());
    if (node.op == ir::Op::Input)
      facts_.fix_scalar(builder_.graph().inputs[static_cast<size_t>(node.as<ir::InputRef>().index)].name);
    if (node.op == ir::Op::SizeOf) {
      KW_TRY([[maybe_unused]] const int64_t fixed, facts_.fix(builder_.graph(), node.as<ir::SizeAttr>().size));
    }
  }
  if (facts_.changed()) return refuse("a run-time scalar must be a number here");
  return {};
}

Result<bool> Interpreter::same_dtype(ir::Type left, ir::Type right) {
  if (left == right) return true;
  if (left.concrete() && right.concrete()) return false;
  if (facts_.types_are_fixed()) return false;
  facts_.fix_types();
  return refuse("the program asks for the element type of a tensor");
}

Result<bool> Interpreter::identical(const Value& left, const Value& right) {
  if (left.is_none() || right.is_none()) return left.is_none() && right.is_none();
  if (left.get<bool>() && right.get<bool>()) return *left.get<bool>() == *right.get<bool>();
  if (left.get<DTypeValue>() && right.get<DTypeValue>()) {
    return same_dtype(left.get<DTypeValue>()->type, right.get<DTypeValue>()->type);
  }
  if (left.get<EllipsisValue>() || right.get<EllipsisValue>()) {
    return left.get<EllipsisValue>() && right.get<EllipsisValue>();
  }
  const auto* a = left.get<std::shared_ptr<Object>>();
  const auto* b = right.get<std::shared_ptr<Object>>();
  if (a && b) {
    const auto* x = dynamic_cast<const ExternalObject*>(a->get());
    const auto* y = dynamic_cast<const ExternalObject*>(b->get());
    return x && y ? x->path == y->path : *a == *b;
  }
  if (left.data.index() != right.data.index()) return false;
  if (const auto* x = left.get<TensorValue>(); x && x->identity != 0) {
    return x->identity == right.get<TensorValue>()->identity;
  }
  return refuse("`is` is not read on " + type_name(left));
}

Result<bool> Interpreter::equal(const Value& left, const Value& right) {
  if (is_number(left) && is_number(right)) {
    KW_TRY(const Value result, number_compare(Comparison::Equal, left, right));
    return *result.get<bool>();
  }
  if (left.get<std::string>() && right.get<std::string>()) return *left.get<std::string>() == *right.get<std::string>();
  if (as<OpaqueString>(left) || as<OpaqueString>(right)) {
    return refuse("this string is not known while reading");
  }
  const auto* a = sequence_items(left);
  const auto* b = sequence_items(right);
  if (a && b) {
    if (a->size() != b->size() || (left.get<SequenceValue>() == nullptr) != (right.get<SequenceValue>() == nullptr)) {
      return false;
    }
    for (size_t i = 0; i < a->size(); ++i) {
      KW_TRY(const bool same, equal((*a)[i], (*b)[i]));
      if (!same) return false;
    }
    return true;
  }
  if (left.is_tensor() || right.is_tensor()) {
    return refuse("this depends on the elements of a tensor, which are not known while reading");
  }
  if (left.get<DeviceValue>() && right.get<DeviceValue>()) return true;
  if (as<DictObject>(left) && as<DictObject>(right)) return refuse("dicts are not compared while reading");
  return identical(left, right);
}

Result<bool> Interpreter::contains(const Value& container, const Value& item) {
  if (const auto* text = container.get<std::string>()) {
    const auto* part = item.get<std::string>();
    if (!part) return refuse("`in` on a string needs a string");
    return text->find(*part) != std::string::npos;
  }
  if (const auto dict = as<DictObject>(container)) {
    KW_TRY(const Value* slot, dict_find(*dict, item));
    return slot != nullptr;
  }
  if (const auto modules = as<ContainerObject>(container); modules && item.get<std::string>()) {
    for (const auto& [name, value] : modules->items) {
      if (name == *item.get<std::string>()) return true;
    }
    return false;
  }
  if (const auto instance = as<InstanceObject>(container)) {
    KW_TRY(const auto method, find_attribute(container, "__contains__"));
    if (method) {
      KW_TRY(const Value result, call(*method, {{item}, {}}));
      return truth(result);
    }
    if (const Value* items = instance->attributes.find("#items")) return contains(*items, item);
  }
  KW_TRY(const std::vector<Value> items, iterate(container));
  for (const Value& candidate : items) {
    KW_TRY(const bool same, equal(candidate, item));
    if (same) return true;
  }
  return false;
}

Result<Value> Interpreter::compare(Comparison op, const Value& left, const Value& right) {
  if (op == Comparison::Is || op == Comparison::IsNot) {
    KW_TRY(const bool same, identical(left, right));
    return Value{same == (op == Comparison::Is)};
  }
  if (op == Comparison::In || op == Comparison::NotIn) {
    KW_TRY(const bool found, contains(right, left));
    return Value{found == (op == Comparison::In)};
  }
  const bool tensors = left.is_tensor() || right.is_tensor();
  if (tensors && (left.is_none() || right.is_none() || left.get<std::string>() || right.get<std::string>())) {
    if (op == Comparison::Equal || op == Comparison::NotEqual) return Value{op == Comparison::NotEqual};
  }
  if (tensors) return torch_call(torch_name(op), {{left, right}, {}});
  if (is_number(left) && is_number(right)) return number_compare(op, left, right);
  if (op == Comparison::Equal || op == Comparison::NotEqual) {
    KW_TRY(const bool same, equal(left, right));
    return Value{same == (op == Comparison::Equal)};
  }
  if (left.get<std::string>() && right.get<std::string>()) {
    const int order = left.get<std::string>()->compare(*right.get<std::string>());
    return Value{holds(op, order, 0)};
  }
  const auto* a = sequence_items(left);
  const auto* b = sequence_items(right);
  if (a && b) {
    for (size_t i = 0; i < std::min(a->size(), b->size()); ++i) {
      KW_TRY(const bool same, equal((*a)[i], (*b)[i]));
      if (!same) return compare(op, (*a)[i], (*b)[i]);
    }
    return Value{holds(op, static_cast<double>(a->size()), static_cast<double>(b->size()))};
  }
  return refuse("this comparison is not read on " + type_name(left) + " and " + type_name(right));
}

Result<bool> Interpreter::truth(const Value& value) {
  if (value.is_none()) return false;
  if (const auto* flag = value.get<bool>()) return *flag;
  if (const auto* real = value.get<double>()) return *real != 0;
  if (value.get<ir::Size>() || value.get<ScalarValue>()) {
    KW_TRY(const Value result, number_compare(Comparison::NotEqual, value, int_value(0)));
    return *result.get<bool>();
  }
  if (const auto* text = value.get<std::string>()) return !text->empty();
  if (const auto* items = sequence_items(value)) return !items->empty();
  if (value.is_tensor()) {
    return refuse("this branch depends on the elements of a tensor, which are not known while reading",
                  "write it without a branch, for example with torch.where");
  }
  if (const auto dict = as<DictObject>(value)) return !dict->items.empty();
  if (const auto set = as<SetObject>(value)) return !set->items.empty();
  if (const auto container = as<ContainerObject>(value)) return !container->items.empty();
  if (as<OpaqueString>(value)) return refuse("this string is not known while reading");
  if (as<InstanceObject>(value)) {
    for (const char* name : {"__bool__", "__len__"}) {
      KW_TRY(const auto method, find_attribute(value, name));
      if (!method) continue;
      KW_TRY(const Value result, call(*method, {}));
      return truth(result);
    }
    return true;
  }
  if (const auto object = as<ExternalObject>(value)) {
    if (const NameRule* rule = published_rules().environment_of(object->path)) {
      assume(object->path, rule->value, "docs/assumptions.md: questions about the environment");
      return rule->value == "True";
    }
    return refuse("whether " + object->path + " is true is not known while reading");
  }
  return true;
}

}  // namespace kw::understand::python
