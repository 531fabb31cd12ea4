// Python's built-in functions.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "understand/python/interpreter.h"
#include "understand/torch/broadcast.h"

namespace kw::understand::python {
namespace {

constexpr int64_t kLongestRange = 20'000;

const Value* keyword(const Arguments& arguments, std::string_view name) {
  for (const auto& [key, value] : arguments.keyword) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace

std::string Interpreter::type_name(const Value& value) const {
  if (value.is_none()) return "None";
  if (value.get<bool>()) return "a bool";
  if (value.get<ir::Size>()) return "an int";
  if (value.get<double>() || value.get<ScalarValue>()) return "a float";
  if (value.get<std::string>()) return "a string";
  if (value.get<DTypeValue>()) return "a dtype";
  if (value.get<DeviceValue>()) return "a device";
  if (value.is_tensor()) return "a tensor";
  if (value.get<SequenceValue>()) return "a tuple";
  if (value.get<SliceValue>()) return "a slice";
  if (value.get<EllipsisValue>()) return "...";
  if (const auto* object = value.get<std::shared_ptr<Object>>()) return (*object)->describe();
  return "a value";
}

Result<int64_t> Interpreter::require_int(const Value& value, const std::string& what) {
  const auto size = as_size(value);
  if (!size) return refuse(what + " must be an int, not " + type_name(value));
  return facts_.fix(builder_.graph(), *size);
}

Result<std::vector<Value>> Interpreter::iterate(const Value& value) {
  if (const auto* items = sequence_items(value)) return *items;
  if (const auto* text = value.get<std::string>()) {
    std::vector<Value> result;
    for (const std::string_view character : code_points(*text)) result.push_back(text_value(std::string(character)));
    return result;
  }
  if (const auto dict = as<DictObject>(value)) {
    std::vector<Value> keys;
    for (const auto& item : dict->items) keys.push_back(item.first);
    return keys;
  }
  if (const auto* dict = value.get<DictValue>()) {
    std::vector<Value> keys;
    for (const auto& item : dict->items) keys.push_back(text_value(item.first));
    return keys;
  }
  if (const auto set = as<SetObject>(value)) return set->items;
  if (const auto container = as<ContainerObject>(value)) {
    std::vector<Value> result;
    const bool named = container->kind.ends_with("Dict");
    for (const auto& [name, item] : container->items) result.push_back(named ? text_value(name) : item);
    return result;
  }
  if (value.is_tensor()) {
    KW_TRY(const Value parts, torch_call("torch.unbind", {{value}, {}}));
    return *sequence_items(parts);
  }
  if (const auto instance = as<InstanceObject>(value)) {
    KW_TRY(const auto method, find_attribute(value, "__iter__"));
    if (method) {
      KW_TRY(const Value items, call(*method, {}));
      return iterate(items);
    }
    if (const Value* items = instance->attributes.find("#items")) return iterate(*items);
  }
  return refuse("a loop over " + type_name(value) + " is not read");
}

Result<Value> Interpreter::range(const Arguments& arguments) {
  int64_t bounds[3] = {0, 0, 1};
  const size_t count = arguments.positional.size();
  if (count < 1 || count > 3 || !arguments.keyword.empty()) return raise("TypeError", "range() takes 1 to 3 arguments");
  for (size_t i = 0; i < count; ++i) {
    KW_TRY(bounds[count == 1 ? 1 : i], require_int(arguments.positional[i], "a bound of range()"));
  }
  if (facts_.changed()) return refuse("a bound of range() must be a number");
  const auto [start, stop, step] = bounds;
  if (step == 0) return raise("ValueError", "range() arg 3 must not be zero");
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (static_cast<int64_t>(items.size()) >= kLongestRange) return refuse("this range is too long to be read");
    items.push_back(int_value(i));
  }
  return list_value(std::move(items));
}

Result<Value> Interpreter::length(const Value& value) {
  if (const auto* tensor = value.get<TensorValue>()) {
    if (tensor->dims.empty()) return raise("TypeError", "len() of a tensor without dimensions");
    return Value{size_of_dim(builder_.graph(), tensor->dims[0])};
  }
  if (as<InstanceObject>(value)) {
    KW_TRY(const auto method, find_attribute(value, "__len__"));
    if (method) return call(*method, {});
  }
  KW_TRY(const std::vector<Value> items, iterate(value));
  return int_value(static_cast<int64_t>(items.size()));
}

Result<Value> Interpreter::to_int(const Value& value) {
  if (const auto size = as_size(value)) return Value{*size};
  if (const auto* real = value.get<double>()) {
    if (!std::isfinite(*real) || std::fabs(*real) > 9e18) return raise("ValueError", "cannot convert float to integer");
    return int_value(static_cast<int64_t>(*real));
  }
  if (const auto* scalar = value.get<ScalarValue>()) {
    if (!scalar->known) return refuse("int() of a number that is not known while reading");
    KW_CHECK(fix_scalar(*scalar));
    return to_int(Value{*scalar->known});
  }
  if (const auto* text = value.get<std::string>()) {
    if (const auto number = parse_integer(trim(*text))) return int_value(*number);
    return raise("ValueError", "invalid literal for int(): " + *text);
  }
  if (value.is_tensor()) return refuse("int() of a tensor depends on its elements, which are not known while reading");
  return refuse("int() of " + type_name(value) + " is not read");
}

Result<Value> Interpreter::to_float(const Value& value) {
  if (value.get<double>() || value.get<ScalarValue>()) return value;
  if (const auto number = as_known_number(value)) return Value{*number};
  if (value.get<ir::Size>()) {
    KW_TRY(const ScalarValue scalar, as_scalar(value));
    KW_TRY(const ir::NodeId real,
           builder_.try_make(ir::Op::Cast, {scalar.node}, ir::CastAttr{ir::Type(ir::DType::Real)}));
    return Value{ScalarValue{real, scalar.known}};
  }
  if (const auto* text = value.get<std::string>()) {
    std::string lower(trim(*text));
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower == "inf" || lower == "+inf" || lower == "infinity") return Value{HUGE_VAL};
    if (lower == "-inf" || lower == "-infinity") return Value{-HUGE_VAL};
    if (lower == "nan") return Value{std::nan("")};
    if (const auto number = parse_number(lower)) return Value{*number};
    return raise("ValueError", "could not convert string to float: " + *text);
  }
  if (value.is_tensor())
    return refuse("float() of a tensor depends on its elements, which are not known while reading");
  return refuse("float() of " + type_name(value) + " is not read");
}

Result<Value> Interpreter::extremum(bool largest, const Arguments& arguments) {
  if (keyword(arguments, "key")) return refuse("max() and min() with a key are not read");
  std::vector<Value> items = arguments.positional;
  if (items.size() == 1) {
    KW_TRY(items, iterate(items[0]));
  }
  if (items.empty()) {
    if (const Value* standard = keyword(arguments, "default")) return *standard;
    return raise("ValueError", "max() or min() of nothing");
  }
  Value best = items[0];
  for (size_t i = 1; i < items.size(); ++i) {
    if (best.is_tensor() || items[i].is_tensor()) {
      return refuse("max() and min() of tensors depend on their elements", "use torch.maximum or torch.minimum");
    }
    KW_TRY(const Value better, compare(largest ? Comparison::Greater : Comparison::Less, items[i], best));
    KW_TRY(const bool is_better, truth(better));
    if (is_better) best = items[i];
  }
  return best;
}

Result<Value> Interpreter::sum(const Arguments& arguments) {
  if (arguments.positional.empty()) return raise("TypeError", "sum() needs something to add");
  KW_TRY(const std::vector<Value> items, iterate(arguments.positional[0]));
  Value total = int_value(0);
  if (arguments.positional.size() > 1) total = arguments.positional[1];
  if (const Value* start = keyword(arguments, "start")) total = *start;
  for (const Value& item : items) {
    KW_TRY(total, binary(BinaryOperator::Add, total, item));
  }
  return total;
}

Result<std::optional<Value>> Interpreter::call_builtin(const std::string& name, Arguments& arguments) {
  const auto& given = arguments.positional;
  const auto need = [&](size_t fewest, size_t most) -> Status {
    if (given.size() < fewest || given.size() > most)
      return raise("TypeError", name + "() has the wrong number of arguments");
    return {};
  };
  if (name == "len") {
    KW_CHECK(need(1, 1));
    KW_TRY(Value result, length(given[0]));
    return result;
  }
  if (name == "range") {
    KW_TRY(Value result, range(arguments));
    return result;
  }
  if (name == "int" || name == "float" || name == "bool") {
    KW_CHECK(need(0, 1));
    if (given.empty()) return name == "int" ? int_value(0) : name == "float" ? Value{0.0} : Value{false};
    if (name == "bool") {
      KW_TRY(const bool result, truth(given[0]));
      return Value{result};
    }
    KW_TRY(Value result, name == "int" ? to_int(given[0]) : to_float(given[0]));
    return result;
  }
  if (name == "str" || name == "repr") {
    if (given.size() == 1 && name == "str") {
      bool opaque = false;
      KW_TRY(std::string text, format(given[0], "", opaque));
      if (!opaque) return Value{std::move(text)};
    }
    return object_value(std::make_shared<OpaqueString>());
  }
  if (name == "list" || name == "tuple" || name == "sorted" || name == "reversed" || name == "set" ||
      name == "frozenset" || name == "iter") {
    KW_CHECK(need(0, 1));
    std::vector<Value> items;
    if (!given.empty()) {
      KW_TRY(items, iterate(given[0]));
    }
    if (name == "tuple") return tuple_value(std::move(items));
    if (name == "reversed") std::reverse(items.begin(), items.end());
    if (name == "sorted") {
      if (keyword(arguments, "key")) return refuse("sorted() with a key is not read");
      for (size_t i = 1; i < items.size(); ++i) {
        for (size_t k = i; k > 0; --k) {
          KW_TRY(const Value less, compare(Comparison::Less, items[k], items[k - 1]));
          KW_TRY(const bool swap, truth(less));
          if (!swap) break;
          std::swap(items[k], items[k - 1]);
        }
      }
      if (const Value* reverse = keyword(arguments, "reverse")) {
        KW_TRY(const bool yes, truth(*reverse));
        if (yes) std::reverse(items.begin(), items.end());
      }
    }
    if (name == "set" || name == "frozenset") {
      auto set = std::make_shared<SetObject>();
      for (Value& item : items) {
        KW_TRY(const bool known, contains(object_value(set), item));
        if (!known) set->items.push_back(std::move(item));
      }
      return object_value(std::move(set));
    }
    return list_value(std::move(items));
  }
  if (name == "dict") {
    auto dict = std::make_shared<DictObject>();
    if (!given.empty()) {
      if (const auto other = as<DictObject>(given[0])) {
        dict->items = other->items;
      } else {
        KW_TRY(const std::vector<Value> pairs, iterate(given[0]));
        for (const Value& pair : pairs) {
          const auto* items = sequence_items(pair);
          if (!items || items->size() != 2) return refuse("dict() needs pairs");
          dict->items.emplace_back((*items)[0], (*items)[1]);
        }
      }
    }
    for (const auto& [key, value] : arguments.keyword) dict->items.emplace_back(text_value(key), value);
    return object_value(std::move(dict));
  }
  if (name == "zip" || name == "enumerate") {
    std::vector<std::vector<Value>> columns;
    for (const Value& column : given) {
      if (name == "enumerate" && !columns.empty()) break;
      KW_TRY(std::vector<Value> items, iterate(column));
      columns.push_back(std::move(items));
    }
    if (columns.empty()) return list_value({});
    int64_t start = 0;
    if (name == "enumerate") {
      const Value* first = given.size() > 1 ? &given[1] : keyword(arguments, "start");
      if (first) {
        KW_TRY(start, require_int(*first, "the start of enumerate()"));
      }
    }
    size_t rows = columns[0].size();
    for (const auto& column : columns) rows = std::min(rows, column.size());
    if (const Value* strict = keyword(arguments, "strict")) {
      KW_TRY(const bool yes, truth(*strict));
      for (const auto& column : columns) {
        if (yes && column.size() != rows) return raise("ValueError", "zip() arguments have different lengths");
      }
    }
    std::vector<Value> result;
    for (size_t i = 0; i < rows; ++i) {
      std::vector<Value> row;
      if (name == "enumerate") row.push_back(int_value(start + static_cast<int64_t>(i)));
      for (const auto& column : columns) row.push_back(column[i]);
      result.push_back(tuple_value(std::move(row)));
    }
    return list_value(std::move(result));
  }
  if (name == "map" || name == "filter") {
    KW_CHECK(need(2, 2));
    KW_TRY(const std::vector<Value> items, iterate(given[1]));
    std::vector<Value> result;
    for (const Value& item : items) {
      KW_TRY(Value value, call(given[0], {{item}, {}}));
      if (name == "map") {
        result.push_back(std::move(value));
        continue;
      }
      KW_TRY(const bool wanted, truth(value));
      if (wanted) result.push_back(item);
    }
    return list_value(std::move(result));
  }
  if (name == "all" || name == "any") {
    KW_CHECK(need(1, 1));
    KW_TRY(const std::vector<Value> items, iterate(given[0]));
    for (const Value& item : items) {
      KW_TRY(const bool yes, truth(item));
      if (yes != (name == "all")) return Value{name == "any"};
    }
    return Value{name == "all"};
  }
  if (name == "max" || name == "min") {
    KW_TRY(Value result, extremum(name == "max", arguments));
    return result;
  }
  if (name == "sum") {
    KW_TRY(Value result, sum(arguments));
    return result;
  }
  if (name == "abs") {
    KW_CHECK(need(1, 1));
    if (given[0].is_tensor()) {
      KW_TRY(Value result, torch_call("torch.abs", arguments));
      return result;
    }
    if (const auto* real = given[0].get<double>()) return Value{std::fabs(*real)};
    if (const auto number = as_known_number(given[0])) return int_value(static_cast<int64_t>(std::fabs(*number)));
    KW_TRY(Value result, scalar_unary(ir::Op::Abs, given[0], [](double x) { return std::fabs(x); }));
    return result;
  }
  if (name == "round" || name == "divmod" || name == "pow") {
    if (name == "pow" && given.size() == 2) {
      KW_TRY(Value result, binary(BinaryOperator::Pow, given[0], given[1]));
      return result;
    }
    if (name == "divmod" && given.size() == 2) {
      KW_TRY(Value quotient, binary(BinaryOperator::FloorDiv, given[0], given[1]));
      KW_TRY(Value rest, binary(BinaryOperator::Mod, given[0], given[1]));
      return tuple_value({std::move(quotient), std::move(rest)});
    }
    if (name == "round" && given.size() == 1) {
      if (as_size(given[0])) return Value{*as_size(given[0])};
      if (const auto* scalar = given[0].get<ScalarValue>()) KW_CHECK(fix_scalar(*scalar));
      if (const auto* real = given[0].get<double>(); real && std::fabs(*real) < 9e18) {
        return int_value(static_cast<int64_t>(std::nearbyint(*real)));
      }
    }
    return std::optional<Value>();
  }
  if (name == "isinstance") {
    KW_CHECK(need(2, 2));
    KW_TRY(const bool result, is_instance(given[0], given[1]));
    return Value{result};
  }
  if (name == "issubclass") {
    KW_CHECK(need(2, 2));
    const auto type = as<ClassObject>(given[0]);
    const auto base = as<ClassObject>(given[1]);
    if (!type || !base) return refuse("issubclass() is not read here");
    return Value{std::find(type->mro.begin(), type->mro.end(), std::static_pointer_cast<Object>(base)) !=
                 type->mro.end()};
  }
  if (name == "callable") {
    KW_CHECK(need(1, 1));
    const Value& v = given[0];
    return Value{as<FunctionObject>(v) || as<BoundMethod>(v) || as<PartialObject>(v) || as<Layer>(v) ||
                 as<ClassObject>(v) || as<ExternalObject>(v) || as<InstanceObject>(v)};
  }
  if (name == "hasattr" || name == "getattr") {
    KW_CHECK(need(2, name == "hasattr" ? 2 : 3));
    const auto* key = given[1].get<std::string>();
    if (!key) return refuse(name + "() needs a name that is known while reading");
    if (given[0].is_tensor() && name == "hasattr") {
      return refuse("hasattr() of a tensor is not read");
    }
    if (const auto library = as<ExternalObject>(given[0])) {
      // getattr(F, name) of an operation or layer that is known; whether a library has another name depends on its
      // version.
      const std::string path = library->path + "." + *key;
      const bool known = knows_torch(path) || (library->path == "torch.nn" && knows_layer(*key)) ||
                         (library->path == "torch" && ir::dtype_from_torch_name(*key));
      if (!known) return refuse("what " + library->path + " has is not known while reading");
    }
    KW_TRY(auto found, find_attribute(given[0], *key));
    if (name == "hasattr") return Value{found.has_value()};
    if (found) return found;
    if (given.size() == 3) return given[2];
    return raise("AttributeError", *key);
  }
  if (name == "setattr") {
    KW_CHECK(need(3, 3));
    if (!given[1].get<std::string>()) return refuse("setattr() needs a name that is known while reading");
    KW_CHECK(assign_attribute(given[0], *given[1].get<std::string>(), given[2]));
    return none();
  }
  if (name == "super") {
    auto start = std::make_shared<SuperObject>();
    if (given.size() == 2) {
      start->start = as<ClassObject>(given[0]);
      start->self = given[1];
    } else {
      // A comprehension or lambda inside a method has no super() of its own.
      if (!frame().function || !frame().function->owner || !frame().self) return refuse("super() is not read here");
      start->start = frame().function->owner->shared_from_this();
      start->self = *frame().self;
    }
    if (!start->start) return refuse("super() is not read here");
    return object_value(std::move(start));
  }
  if (name == "type") {
    KW_CHECK(need(1, 1));
    if (const auto instance = as<InstanceObject>(given[0])) return object_value(instance->type);
    if (given[0].is_none()) return external("types.NoneType");
    static const std::map<size_t, const char*> kNames{{Value{true}.data.index(), "bool"},
                                                      {Value{ir::Size()}.data.index(), "int"},
                                                      {Value{0.0}.data.index(), "float"},
                                                      {Value{std::string()}.data.index(), "str"}};
    if (const auto found = kNames.find(given[0].data.index()); found != kNames.end()) {
      return external(std::string("builtins.") + found->second);
    }
    if (given[0].is_tensor()) return external("torch.Tensor");
    return refuse("type() is not read here");
  }
  if (name == "slice") {
    KW_CHECK(need(1, 3));
    SliceValue slice;
    const auto part = [&](size_t i) { return given[i].is_none() ? nullptr : std::make_shared<Value>(given[i]); };
    if (given.size() == 1) {
      slice.stop = part(0);
    } else {
      slice.start = part(0);
      slice.stop = part(1);
      if (given.size() == 3) slice.step = part(2);
    }
    return Value{std::move(slice)};
  }
  if (name == "next") {
    KW_CHECK(need(1, 2));
    KW_TRY(const std::vector<Value> items, iterate(given[0]));
    if (!items.empty()) return items[0];
    if (given.size() == 2) return given[1];
    return raise("StopIteration", "");
  }
  if (name == "print") return none();
  if (name == "object") return object_value(std::make_shared<OpaqueString>());
  if (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Warning")) {
    auto exception = std::make_shared<ExceptionObject>();
    exception->name = name;
    return object_value(std::move(exception));
  }
  return std::optional<Value>();
}

}  // namespace kw::understand::python
