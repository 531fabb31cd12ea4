// The meaning of PyTorch's operations as graphs of primitives: one entry per function, method, operator and layer,
// shared by the static reader and the reader of exported graphs. Each says in which type it rounds, exactly as PyTorch
// eager does.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "understand/torch/value.h"

namespace kw::understand {

// What an operation may use while it is read.
struct TorchContext {
  ir::GraphBuilder& builder;
  bool training = true;                    // modules are read in training mode unless asked otherwise
  std::string path{};                      // of the module being read ("norm1"), prefix for parameter names
  std::vector<std::string> assumptions{};  // what had to be assumed, each for a decision in the profile
  int random_calls = 0;                    // counter-based random numbers: one offset per call
  // Makes a parameter or buffer of the module being built: a new graph input with the given sizes. An unknown type
  // (`ir::Type{}`, no dtype= was given) becomes the type parameter that the module's parameters share.
  std::function<Result<TensorValue>(std::string name, ir::InputKind kind, std::vector<ir::Size> sizes, ir::Type type)>
      make_parameter{};
  // Called where two sizes must be equal and are not the same expression. Unset: equal hints become a constraint,
  // others are an error. The static reader sets it to learn which of the sizes it assumed are one; its error must be
  // passed on.
  std::function<Status(const ir::Size& a, const ir::Size& b)> same_size{};
  // Called where a number must be known while reading (a stride, a dim, how many chunks). Unset: a symbolic size is an
  // error. The static reader sets it to fix the size's symbols to their hints and read again; its error must be passed
  // on.
  std::function<Result<int64_t>(const ir::Size& size)> fixed_size{};
  // The same for a run-time scalar that decides the shape of the graph (an exponent, a threshold). Unset: an error.
  std::function<Result<double>(const ScalarValue& scalar)> fixed_scalar{};
  // Called for a buffer that the operation changes (batch norm's running statistics): the buffer, as it was given, and
  // its new value. Unset: the change is dropped.
  std::function<Status(const TensorValue& buffer, const TensorValue& value)> update_buffer{};

  // The first rule that a formula of the call being read has broken (expression.h); call_torch answers with it.
  std::optional<Error> broken_formula{};
  // Which axes were merged to one and split into two, kept by the views: a view and its inverse give the axis itself.
  std::map<std::pair<ir::AxisId, ir::AxisId>, ir::AxisId> merged_axes{};  // (outer, inner) to the whole
  std::map<std::pair<ir::AxisId, ir::Size>, std::pair<ir::AxisId, ir::AxisId>> split_axes{};  // (whole, inner's size)
};

// The two above with their defaults: what operations call.
Status require_same_size(TorchContext& context, const ir::Size& a, const ir::Size& b);
Result<int64_t> require_fixed(TorchContext& context, const ir::Size& size);

// Calls by canonical name: "torch.rsqrt", "torch.nn.functional.silu", "Tensor.mean", "operator.add" (Python's operators
// on tensors and scalars), "aten.add.Tensor". Methods take the tensor as first positional argument.
Result<Value> call_torch(TorchContext& context, std::string_view name, Arguments arguments);
bool knows_torch(std::string_view name);
std::vector<std::string_view> torch_names();  // for suggestions

// An instance of a torch.nn layer: its constructor makes parameters and buffers, its call reads its forward.
struct Layer : Object {
  std::string class_name;  // "LayerNorm"
  std::string path;        // where it lives in the module tree
  std::vector<std::pair<std::string, Value>>
      attributes;  // weight, bias, eps, …: readable and, for user code, assignable
  std::string describe() const override { return "layer nn." + class_name; }
};
Result<std::shared_ptr<Layer>> construct_layer(TorchContext& context, std::string_view class_name, Arguments arguments);
Result<Value> call_layer(TorchContext& context, Layer& layer, Arguments arguments);
bool knows_layer(std::string_view class_name);

}  // namespace kw::understand
