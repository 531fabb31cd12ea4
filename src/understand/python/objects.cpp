#include "understand/python/objects.h"

#include <algorithm>

namespace kw::understand::python {

const Value* Namespace::find(std::string_view name) const {
  const auto found = std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item.first == name; });
  return found == items_.end() ? nullptr : &found->second;
}

Value* Namespace::find(std::string_view name) { return const_cast<Value*>(std::as_const(*this).find(name)); }

void Namespace::set(std::string_view name, Value value) {
  if (Value* found = find(name)) {
    *found = std::move(value);
  } else {
    items_.emplace_back(name, std::move(value));
  }
}

bool Namespace::erase(std::string_view name) {
  return std::erase_if(items_, [&](const auto& item) { return item.first == name; }) > 0;
}

Value none() { return Value{NoneValue{}}; }

Value list_value(std::vector<Value> items) {
  auto list = std::make_shared<ListObject>();
  list->items = std::move(items);
  return object_value(std::move(list));
}

Value tuple_value(std::vector<Value> items) { return Value{SequenceValue{std::move(items), true}}; }

Value external(std::string path) { return object_value(std::make_shared<ExternalObject>(std::move(path))); }

Value text_value(std::string text) { return Value{std::move(text)}; }

const std::vector<Value>* sequence_items(const Value& value) {
  if (const auto* sequence = value.get<SequenceValue>()) return &sequence->items;
  if (const auto* object = value.get<std::shared_ptr<Object>>()) {
    if (const auto* list = dynamic_cast<const ListObject*>(object->get())) return &list->items;
  }
  return nullptr;
}

std::optional<ir::Size> as_size(const Value& value) {
  if (const auto* size = value.get<ir::Size>()) return *size;
  if (const auto* flag = value.get<bool>()) return ir::Size(*flag ? 1 : 0);
  return std::nullopt;
}

std::optional<double> as_known_number(const Value& value) {
  if (const auto* number = value.get<double>()) return *number;
  if (const auto size = as_size(value)) {
    if (const auto constant = size->constant()) return static_cast<double>(*constant);
  }
  return std::nullopt;
}

}  // namespace kw::understand::python
