// Python's objects while a program is read: what `understand/torch/value.h` leaves opaque. They are shared and mutable,
// as Python's are; tensors and numbers are plain values.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "understand/python/ast.h"
#include "understand/python/source.h"
#include "understand/torch/ops.h"

namespace kw::understand::python {

// Names with values, in the order in which they were first set.
class Namespace {
 public:
  const Value* find(std::string_view name) const;
  Value* find(std::string_view name);
  void set(std::string_view name, Value value);
  bool erase(std::string_view name);
  const std::vector<std::pair<std::string, Value>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, Value>> items_;
};

class PythonModule;

// The local names of a running function, or of a class body; `outer` is where a closure looks next.
struct Scope {
  std::map<std::string, Value, std::less<>> names;
  std::set<std::string, std::less<>> outer_names;   // declared nonlocal
  std::set<std::string, std::less<>> global_names;  // declared global
  std::shared_ptr<Scope> outer;
  PythonModule* module = nullptr;
};

struct ListObject : Object {
  std::vector<Value> items;
  std::string describe() const override { return "a list"; }
};
struct DictObject : Object {
  std::vector<std::pair<Value, Value>> items;
  std::string describe() const override { return "a dict"; }
};
struct SetObject : Object {
  std::vector<Value> items;
  std::string describe() const override { return "a set"; }
};
// A string whose text depends on what is not known while reading (an f-string of a size): good for messages alone.
struct OpaqueString : Object {
  std::string describe() const override { return "a string that is not known while reading"; }
};

// A name of a library (torch, math, typing, …) or of a package that cannot be read: its full dotted path. What it means
// is decided where it is used.
struct ExternalObject : Object {
  explicit ExternalObject(std::string p) : path(std::move(p)) {}
  std::string path;
  std::string describe() const override { return path; }
};

struct ClassObject;
struct FunctionObject : Object {
  std::string name;
  const Parameters* parameters = nullptr;
  const Block* body = nullptr;       // of a def
  const Expr* expression = nullptr;  // of a lambda
  const SourceFile* file = nullptr;
  Span span;
  std::shared_ptr<Scope> closure;
  PythonModule* module = nullptr;
  std::vector<Value> defaults;
  std::vector<std::optional<Value>> keyword_defaults;
  ClassObject* owner = nullptr;  // the class whose body defined it: where a bare super() starts
  enum class Binding { Plain, Static, Class, Property } binding = Binding::Plain;
  bool stops_gradient = false;  // decorated with torch.no_grad()
  std::string describe() const override { return "function " + name; }
};
struct BoundMethod : Object {
  Value self;
  std::shared_ptr<FunctionObject> function;
  std::string describe() const override { return "method " + function->name; }
};
// A method of a built-in type or of a tensor, bound to its object: `x.mean`, `"a".lower`, `items.append`.
struct BoundBuiltin : Object {
  Value self;
  std::string name;
  std::string describe() const override { return "method " + name; }
};
struct PartialObject : Object {
  Value function;
  Arguments arguments;
  std::string describe() const override { return "a partial function"; }
};

struct ClassObject : Object, std::enable_shared_from_this<ClassObject> {
  std::string name;
  PythonModule* module = nullptr;
  const ClassDef* definition = nullptr;
  const SourceFile* file = nullptr;
  Span span;
  std::vector<Value> bases;                  // ClassObject or ExternalObject
  std::vector<std::shared_ptr<Object>> mro;  // this class first
  Namespace attributes;
  bool is_dataclass = false;
  std::vector<std::pair<std::string, const Expr*>>
      fields;  // annotated names of the body, in order, with their annotations
  std::string describe() const override { return "class " + name; }
};
struct InstanceObject : Object {
  std::shared_ptr<ClassObject> type;
  Namespace attributes;
  std::shared_ptr<Layer> layer;  // the torch.nn layer that a user's class inherits from, once it is constructed
  std::string describe() const override { return "an object of class " + type->name; }
};
struct SuperObject : Object {
  std::shared_ptr<ClassObject> start;  // look after this class
  Value self;
  std::string describe() const override { return "super()"; }
};

// nn.ModuleList, nn.Sequential, nn.ModuleDict, nn.ParameterList, nn.ParameterDict.
struct ContainerObject : Object {
  std::string kind;  // "ModuleList"
  std::vector<std::pair<std::string, Value>> items;
  std::string describe() const override { return "nn." + kind; }
};
// torch.finfo(dtype), torch.iinfo(dtype)
struct TypeInfoObject : Object {
  ir::DType dtype = ir::DType::None;
  std::string describe() const override { return "torch.finfo"; }
};
struct ExceptionObject : Object {
  std::string name;  // "ValueError"
  std::string message;
  std::string describe() const override { return name; }
};

template <class T>
std::shared_ptr<T> as(const Value& value) {
  const auto* object = value.get<std::shared_ptr<Object>>();
  return object ? std::dynamic_pointer_cast<T>(*object) : nullptr;
}
template <class T>
Value object_value(std::shared_ptr<T> object) {
  return Value{std::static_pointer_cast<Object>(std::move(object))};
}
Value none();
Value list_value(std::vector<Value> items);
Value tuple_value(std::vector<Value> items);
Value external(std::string path);
Value text_value(std::string text);
inline Value int_value(int64_t value) { return Value{ir::Size(value)}; }

// The items of a tuple or list of any spelling; null for anything else.
const std::vector<Value>* sequence_items(const Value& value);

// bool and int literals count as ints, as in Python.
std::optional<ir::Size> as_size(const Value& value);
std::optional<double> as_known_number(const Value& value);  // constants only: no run-time scalar, no symbolic size

}  // namespace kw::understand::python
