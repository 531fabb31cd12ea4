// What a PyTorch program's expressions evaluate to while it is read: tensors of the graph being built, numbers, dtypes,
// containers, and opaque Python objects (classes, module instances) that only the reader understands.
//
// A tensor value is positional, as PyTorch is: `dims` lists its axes in order, kUnit for a dimension of size one. The
// positional layer (broadcast.h) pairs dimensions of two tensors, unifies their sizes and renames axes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/layout.h"

namespace kw::understand {

// How a tensor lies in memory (memory_order.h).
struct MemoryOrder {
  enum class Is : uint8_t { AsMade, Known, Unknown };
  Is is = Is::AsMade;  // an input is itself; of anything else nothing is known
  ir::LayoutOperand operand{};
};

struct TensorValue {
  ir::NodeId node = ir::kNoNode;
  std::vector<ir::AxisId> dims;  // as a set exactly the node's axes, plus kUnit entries
  // Which tensor object of the program this is (0: a new one). The static reader keeps it to follow in-place changes;
  // operations leave it 0 in what they make, and pass it on when PyTorch would return the very same tensor.
  int32_t identity = 0;
  MemoryOrder order{};
};

// A Python float or int that is not known while reading, or that the profile names (eps): a weakly typed rank-0 node.
// `known` is its value at the user's own configuration, for conditions that are decided while reading.
struct ScalarValue {
  ir::NodeId node = ir::kNoNode;
  std::optional<double> known;
};

struct NoneValue {};
struct EllipsisValue {};
struct DTypeValue {
  ir::Type type;  // torch.float32, or x.dtype as the type expression of x
};
struct DeviceValue {};

struct Value;
struct SliceValue {
  std::shared_ptr<Value> start, stop, step;  // null where absent
};
struct SequenceValue {
  std::vector<Value> items;
  bool is_tuple = true;            // else a list; torch.Size is a tuple
  std::vector<std::string> names;  // of a named tuple's items (max, sort): {"values", "indices"}; else empty
};
struct DictValue {
  std::vector<std::pair<std::string, Value>> items;  // string keys, in order
};

// Anything the Python reader defines for itself: functions, classes, module instances, configuration objects. Opaque
// here.
struct Object {
  virtual ~Object() = default;
  virtual std::string describe() const = 0;  // "function f", "module Linear": for messages
};

struct Value {
  // ir::Size is a Python int, constant or symbolic; double is a Python float known while reading.
  std::variant<NoneValue, bool, ir::Size, double, ScalarValue, std::string, DTypeValue, DeviceValue, EllipsisValue,
               TensorValue, SliceValue, SequenceValue, DictValue, std::shared_ptr<Object>>
      data;

  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  bool is_none() const { return std::holds_alternative<NoneValue>(data); }
  bool is_tensor() const { return std::holds_alternative<TensorValue>(data); }
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keyword;
};

std::string describe(const Value& value, const ir::Graph& graph);  // "tensor bf16[rows, cols]", "int 3": for messages

}  // namespace kw::understand
