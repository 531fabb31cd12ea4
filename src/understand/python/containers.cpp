// Methods of lists, dicts and tuples, and subscripts.
#include <algorithm>

#include "base/text.h"
#include "understand/python/interpreter.h"

namespace kw::understand::python {

Result<Value*> Interpreter::dict_find(DictObject& dict, const Value& key) {
  for (auto& [known, value] : dict.items) {
    // Keys of different kinds differ without being compared: a size is not asked for its number by a string.
    const bool number = as_size(known) && as_size(key);
    if (!number && known.data.index() != key.data.index()) continue;
    KW_TRY(const bool same, equal(known, key));
    if (same) return &value;
  }
  return nullptr;
}

Result<size_t> Interpreter::item_position(const Value& index, size_t length) {
  KW_TRY(int64_t position, require_int(index, "an index"));
  if (facts_.changed()) return refuse("an index must be a number");
  if (position < 0) position += static_cast<int64_t>(length);
  if (position < 0 || position >= static_cast<int64_t>(length)) {
    return raise("IndexError", "index out of range of " + std::to_string(length) + " items");
  }
  return static_cast<size_t>(position);
}

Result<std::vector<size_t>> Interpreter::slice_positions(const SliceValue& slice, size_t length) {
  const auto bound = [&](const std::shared_ptr<Value>& value, int64_t standard) -> Result<int64_t> {
    if (!value) return standard;
    return require_int(*value, "a bound of a slice");
  };
  const auto n = static_cast<int64_t>(length);
  KW_TRY(const int64_t step, bound(slice.step, 1));
  if (step == 0) return raise("ValueError", "slice step cannot be zero");
  KW_TRY(int64_t start, bound(slice.start, step > 0 ? 0 : n - 1));
  KW_TRY(int64_t stop, bound(slice.stop, step > 0 ? n : -n - 1));
  if (facts_.changed()) return refuse("a bound of a slice must be a number");
  if (start < 0) start = std::max<int64_t>(start + n, step > 0 ? 0 : -1);
  if (stop < 0) stop = std::max<int64_t>(stop + n, -1);
  std::vector<size_t> positions;
  for (int64_t i = start; step > 0 ? i < std::min(stop, n) : i > stop; i += step) {
    if (i >= 0 && i < n) positions.push_back(static_cast<size_t>(i));
  }
  return positions;
}

Result<Value> Interpreter::subscript(const Value& object, const Value& index) {
  if (object.is_tensor()) return torch_call("operator.getitem", {{object, index}, {}});
  if (const auto* items = sequence_items(object)) {
    if (const auto* slice = index.get<SliceValue>()) {
      KW_TRY(const std::vector<size_t> positions, slice_positions(*slice, items->size()));
      std::vector<Value> part;
      for (const size_t position : positions) part.push_back((*items)[position]);
      return object.get<SequenceValue>() ? tuple_value(std::move(part)) : list_value(std::move(part));
    }
    if (index.is_tensor()) return refuse("an index that is a tensor's element is not known while reading");
    KW_TRY(const size_t position, item_position(index, items->size()));
    return (*items)[position];
  }
  if (const auto dict = as<DictObject>(object)) {
    KW_TRY(const Value* slot, dict_find(*dict, index));
    if (slot) return *slot;
    std::vector<std::string> known;
    for (const auto& item : dict->items) {
      if (const auto* text = item.first.get<std::string>()) known.push_back(*text);
    }
    const auto* wanted = index.get<std::string>();
    auto failure =
        refuse("there is no key " + (wanted ? *wanted : type_name(index)), wanted ? did_you_mean(*wanted, known) : "");
    raised_ = "KeyError";
    return failure;
  }
  if (const auto* dict = object.get<DictValue>(); dict && index.get<std::string>()) {
    for (const auto& [key, value] : dict->items) {
      if (key == *index.get<std::string>()) return value;
    }
    return raise("KeyError", *index.get<std::string>());
  }
  if (const auto container = as<ContainerObject>(object)) {
    if (const auto* key = index.get<std::string>()) {
      for (const auto& [name, value] : container->items) {
        if (name == *key) return value;
      }
      return raise("KeyError", *key);
    }
    if (const auto* slice = index.get<SliceValue>()) {
      KW_TRY(const std::vector<size_t> positions, slice_positions(*slice, container->items.size()));
      auto part = std::make_shared<ContainerObject>();
      part->kind = container->kind;
      for (const size_t position : positions) part->items.push_back(container->items[position]);
      return object_value(std::move(part));
    }
    KW_TRY(const size_t position, item_position(index, container->items.size()));
    return container->items[position].second;
  }
  if (const auto* text = object.get<std::string>()) {
    const auto characters = code_points(*text);
    if (const auto* slice = index.get<SliceValue>()) {
      KW_TRY(const std::vector<size_t> positions, slice_positions(*slice, characters.size()));
      std::string part;
      for (const size_t position : positions) part += characters[position];
      return Value{std::move(part)};
    }
    KW_TRY(const size_t position, item_position(index, characters.size()));
    return Value{std::string(characters[position])};
  }
  if (const auto instance = as<InstanceObject>(object)) {
    KW_TRY(const auto method, find_attribute(object, "__getitem__"));
    if (method) return call(*method, {{index}, {}});
    if (const Value* items = instance->attributes.find("#items")) return subscript(*items, index);
  }
  if (as<ExternalObject>(object) || as<ClassObject>(object)) return object;  // list[int], Optional[Tensor]: a type
  return refuse("an item of " + type_name(object) + " is not read");
}

Result<Value> Interpreter::list_method(const std::shared_ptr<ListObject>& self, const std::string& name,
                                       const Arguments& arguments) {
  const auto& given = arguments.positional;
  if (name == "append" && given.size() == 1) {
    self->items.push_back(given[0]);
    return none();
  }
  if (name == "extend" && given.size() == 1) {
    KW_TRY(const std::vector<Value> items, iterate(given[0]));
    self->items.insert(self->items.end(), items.begin(), items.end());
    return none();
  }
  if (name == "insert" && given.size() == 2) {
    KW_TRY(int64_t position, require_int(given[0], "a position"));
    const auto count = static_cast<int64_t>(self->items.size());
    if (position < 0) position += count;
    self->items.insert(self->items.begin() + std::clamp<int64_t>(position, 0, count), given[1]);
    return none();
  }
  if (name == "pop" && given.size() <= 1) {
    KW_TRY(const size_t position, item_position(given.empty() ? int_value(-1) : given[0], self->items.size()));
    Value item = self->items[position];
    self->items.erase(self->items.begin() + static_cast<ptrdiff_t>(position));
    return item;
  }
  if (name == "reverse" && given.empty()) {
    std::reverse(self->items.begin(), self->items.end());
    return none();
  }
  if (name == "copy" && given.empty()) return list_value(self->items);
  if (name == "clear" && given.empty()) {
    self->items.clear();
    return none();
  }
  return tuple_method(self->items, name, arguments);
}

Result<Value> Interpreter::tuple_method(const std::vector<Value>& self, const std::string& name,
                                        const Arguments& arguments) {
  const auto& given = arguments.positional;
  if (name == "numel" && given.empty()) {
    Value total = int_value(1);
    for (const Value& item : self) {
      KW_TRY(total, binary(BinaryOperator::Mul, total, item));
    }
    return total;
  }
  if ((name == "index" || name == "count") && given.size() == 1) {
    int64_t count = 0;
    for (size_t i = 0; i < self.size(); ++i) {
      KW_TRY(const bool same, equal(self[i], given[0]));
      if (same && name == "index") return int_value(static_cast<int64_t>(i));
      count += same ? 1 : 0;
    }
    if (name == "index") return raise("ValueError", "the value is not in the list");
    return int_value(count);
  }
  return refuse("the method " + name + " of a list or tuple is not read");
}

Result<Value> Interpreter::dict_method(const std::shared_ptr<DictObject>& self, const std::string& name,
                                       const Arguments& arguments) {
  const auto& given = arguments.positional;
  if ((name == "keys" || name == "values" || name == "items") && given.empty()) {
    std::vector<Value> result;
    for (const auto& [key, value] : self->items) {
      result.push_back(name == "keys" ? key : name == "values" ? value : tuple_value({key, value}));
    }
    return list_value(std::move(result));
  }
  if ((name == "get" || name == "pop" || name == "setdefault") && (given.size() == 1 || given.size() == 2)) {
    KW_TRY(const Value* slot, dict_find(*self, given[0]));
    Value result = given.size() == 2 ? given[1] : none();
    if (slot) {
      result = *slot;
      if (name == "pop") {
        const auto position = std::find_if(self->items.begin(), self->items.end(),
                                           [&](const auto& item) { return &item.second == slot; });
        self->items.erase(position);
      }
    } else if (name == "setdefault") {
      self->items.emplace_back(given[0], result);
    } else if (name == "pop" && given.size() == 1) {
      return raise("KeyError", "");
    }
    return result;
  }
  if (name == "update") {
    std::vector<std::pair<Value, Value>> more;
    if (given.size() == 1) {
      const auto other = as<DictObject>(given[0]);
      if (!other) return refuse("dict.update needs a dict");
      more = other->items;
    }
    for (const auto& [key, value] : arguments.keyword) more.emplace_back(text_value(key), value);
    for (auto& [key, value] : more) {
      KW_TRY(Value * slot, dict_find(*self, key));
      if (slot) {
        *slot = std::move(value);
      } else {
        self->items.emplace_back(std::move(key), std::move(value));
      }
    }
    return none();
  }
  if (name == "copy" && given.empty()) return object_value(std::make_shared<DictObject>(*self));
  return refuse("dict." + name + " is not read");
}

Result<Value> Interpreter::call_bound_builtin(const BoundBuiltin& method, Arguments arguments) {
  const Value& self = method.self;
  if (const auto* tensor = self.get<TensorValue>()) return tensor_method(*tensor, method.name, std::move(arguments));
  if (const auto* text = self.get<std::string>()) return string_method(*text, method.name, arguments);
  if (const auto list = as<ListObject>(self)) return list_method(list, method.name, arguments);
  if (const auto dict = as<DictObject>(self)) return dict_method(dict, method.name, arguments);
  if (const auto* sequence = self.get<SequenceValue>()) return tuple_method(sequence->items, method.name, arguments);
  if (const auto set = as<SetObject>(self); set && method.name == "add" && arguments.positional.size() == 1) {
    KW_TRY(const bool known, contains(self, arguments.positional[0]));
    if (!known) set->items.push_back(arguments.positional[0]);
    return none();
  }
  if (const auto container = as<ContainerObject>(self))
    return container_method(*container, method.name, std::move(arguments));
  if (const auto start = as<SuperObject>(self)) {
    const auto instance = as<InstanceObject>(start->self);
    const auto base = instance ? external_base(*instance->type) : std::nullopt;
    if (base) return call_super_of_external(*base, *start, method.name, std::move(arguments));
    if (method.name == "__init__" || method.name == "__post_init__" || method.name == "__init_subclass__")
      return none();
    return refuse("super()." + method.name + " is not read");
  }
  if (as<InstanceObject>(self) || as<Layer>(self)) return module_method(self, method.name, std::move(arguments));
  if (method.name == "is_integer" && self.get<double>()) {
    const double x = *self.get<double>();
    return Value{x == static_cast<double>(static_cast<int64_t>(x))};
  }
  if (method.name == "item" && arguments.positional.empty()) return self;
  return refuse("the method " + method.name + " of " + type_name(self) + " is not read");
}

}  // namespace kw::understand::python
