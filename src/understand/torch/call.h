// One call of a PyTorch operation while it is read: its arguments bound to the parameters of its signature, with the
// checks that every operation needs. A signature is written as PyTorch documents it:
//
//   "input, dim=None, keepdim=False, *, dtype=None"       "input, *shape"
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "understand/torch/ops.h"

namespace kw::understand {

struct Signature {
  struct Parameter {
    std::string name;
    std::optional<Value> default_value;
    bool rest = false;          // "*shape": takes all further positional arguments, or one sequence
    bool keyword_only = false;  // stands after a lone "*"
  };
  std::vector<Parameter> parameters;
  static Signature parse(std::string_view text);  // asserts that the text is well formed: signatures are ours
};

class Call {
 public:
  // Binds the arguments; an argument too many, missing or unknown is the user's error.
  static Result<Call> bind(TorchContext& context, std::string_view name, const Signature& signature,
                           Arguments arguments);

  TorchContext& context;
  ir::GraphBuilder& builder;
  std::string_view name;  // as it was called, for messages

  const Value& operator[](std::string_view parameter) const;
  bool has(std::string_view parameter) const;  // does the signature have it?
  bool given(std::string_view parameter) const { return !(*this)[parameter].is_none(); }

  // Arguments of one kind. A value of another kind is the user's error, which names the parameter.
  Result<TensorValue> tensor(std::string_view parameter) const;
  Result<std::optional<TensorValue>> optional_tensor(std::string_view parameter) const;
  Result<std::vector<TensorValue>> tensors(std::string_view parameter) const;  // of a sequence
  Result<int64_t> integer(std::string_view parameter) const;                   // known while reading
  Result<ir::Size> size(std::string_view parameter) const;
  Result<std::vector<ir::Size>> sizes(std::string_view parameter) const;  // one int counts as a sequence of one
  Result<bool> boolean(std::string_view parameter) const;
  Result<double> number(std::string_view parameter) const;       // known while reading
  Result<TensorValue> scalar(std::string_view parameter) const;  // any number, as a weak rank-0 node
  Result<std::string> text(std::string_view parameter) const;
  Result<size_t> choice(std::string_view parameter, std::initializer_list<std::string_view> options) const;  // which
  Result<std::optional<ir::Type>> type(std::string_view parameter) const;  // none if None
  // dim=…: positions in a tensor of that rank; negative ones count from the end. None gives all dimensions.
  Result<size_t> dim(std::string_view parameter, size_t rank) const;
  Result<size_t> dim_of(std::string_view parameter, const TensorValue& x) const;  // x has dimensions
  Result<std::vector<size_t>> dims(std::string_view parameter, size_t rank) const;
  // n numbers known while reading: an int stands for n equal ones (kernel_size=3).
  Result<std::vector<int64_t>> per_dimension(std::string_view parameter, size_t count) const;

  // As the builder's, but an element type that the op is not defined on is the user's error (expression.h).
  ir::NodeId make(ir::Op op, std::vector<ir::NodeId> args, ir::Attr attr = {}) const;
  ir::NodeId reduce(ir::Op op, ir::NodeId x, std::vector<ir::AxisId> axes) const;

  Failure refuse(std::string message, std::string hint = {}) const;  // the message after the operation's name
  Failure wrong(std::string_view parameter, std::string_view expected) const;

 private:
  Call(TorchContext& c, std::string_view n, const Signature& s)
      : context(c), builder(c.builder), name(n), signature_(&s) {}
  Result<size_t> position(const Value& value, std::string_view parameter, size_t rank) const;
  const Signature* signature_;
  std::vector<Value> values_;
};

// A value as an operand: a tensor as it is, a number as a weak rank-0 node; nothing for anything else.
std::optional<TensorValue> as_operand(ir::GraphBuilder& builder, const Value& value);
bool is_number(const Value& value);  // bool, int, float, or a scalar of the interface
// The number's value, if it is known while reading (or, for a run-time scalar, at the user's own configuration).
std::optional<double> known_number(const ir::Graph& graph, const Value& value);

inline Value to_value(TensorValue tensor) { return Value{std::move(tensor)}; }
Value to_tuple(std::vector<TensorValue> tensors);

}  // namespace kw::understand
