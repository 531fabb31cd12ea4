// Tensors whose elements do not matter: what get_inputs() draws at random, and what a constructor fills a parameter
// with. They have a shape and a type; a graph that would need their elements is refused (finish.cpp).
#include <algorithm>
#include <array>

#include "understand/python/interpreter.h"
#include "understand/torch/broadcast.h"

namespace kw::understand::python {
namespace {

constexpr std::array kBySizes{"torch.rand", "torch.randn", "torch.empty"};
constexpr std::array kLike{"torch.rand_like", "torch.randn_like", "torch.empty_like", "torch.randint_like",
                           "torch.bernoulli"};
constexpr std::array kFills{"normal_",    "uniform_",      "random_",    "exponential_",
                            "bernoulli_", "trunc_normal_", "log_normal_"};

template <size_t N>
bool among(const std::array<const char*, N>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&](const char* candidate) { return name == candidate; });
}

std::optional<Value> keyword(const Arguments& arguments, std::string_view name) {
  for (const auto& [key, value] : arguments.keyword) {
    if (key == name) return value;
  }
  return std::nullopt;
}

}  // namespace

bool Interpreter::is_random_fill(const std::string& method) { return among(kFills, method); }

Value Interpreter::make_sample(const std::vector<ir::Size>& sizes, ir::Type type) {
  ir::Input input;
  input.name = "%" + std::to_string(builder_.graph().inputs.size());
  input.type = type;
  for (const ir::Size& size : sizes) {
    const auto constant = size.constant();
    input.dims.push_back(constant && *constant == 1 ? ir::kUnit : builder_.axis("sample", size));
  }
  input.differentiable = false;
  return make_tensor_input(std::move(input));
}

bool Interpreter::is_sample(const TensorValue& tensor) const {
  const ir::Node& node = builder_[tensor.node];
  if (node.op != ir::Op::Input) return false;
  return builder_.graph().inputs[static_cast<size_t>(node.as<ir::InputRef>().index)].name.starts_with("%");
}

Result<std::optional<Value>> Interpreter::call_sampler(const std::string& path, const Arguments& arguments) {
  if (!building_ && !sampling_) return std::optional<Value>();
  const auto& given = arguments.positional;
  std::vector<Value> shape;
  ir::Type type(ir::DType::F32);
  if (among(kBySizes, path)) {
    shape = given;
    if (const auto size = keyword(arguments, "size")) shape = {*size};
    if (shape.size() == 1 && sequence_items(shape[0])) shape = *sequence_items(shape[0]);
  } else if (path == "torch.randint") {
    type = ir::Type(ir::DType::I64);
    auto size = keyword(arguments, "size");
    if (!size && given.size() >= 2) size = given.back();
    if (!size || !sequence_items(*size)) return refuse("torch.randint needs a size");
    shape = *sequence_items(*size);
  } else if (path == "torch.randperm" && given.size() == 1) {
    type = ir::Type(ir::DType::I64);
    shape = given;
  } else if (path == "torch.normal" && keyword(arguments, "size")) {
    shape = *sequence_items(*keyword(arguments, "size"));
  } else if (among(kLike, path) && !given.empty() && given[0].is_tensor()) {
    const TensorValue& model = *given[0].get<TensorValue>();
    for (const ir::Size& size : shape_of(builder_.graph(), model)) shape.push_back(Value{size});
    type = builder_[model.node].type;
  } else {
    return std::optional<Value>();
  }
  if (const auto dtype = keyword(arguments, "dtype"); dtype && dtype->get<DTypeValue>())
    type = dtype->get<DTypeValue>()->type;
  std::vector<ir::Size> sizes;
  for (const Value& value : shape) {
    const auto size = as_size(value);
    if (!size) return refuse("a size must be an int, not " + type_name(value));
    sizes.push_back(*size);
  }
  return make_sample(sizes, type);
}

}  // namespace kw::understand::python
