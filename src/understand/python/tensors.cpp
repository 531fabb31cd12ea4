// Tensors: operations on them, their attributes, and in-place changes made functional.
#include <algorithm>
#include <array>

#include "understand/python/interpreter.h"
#include "understand/torch/broadcast.h"

namespace kw::understand::python {
namespace {

// Operations whose result shares the memory of their first tensor, always or sometimes.
constexpr std::array kViews{
    "view",       "reshape",    "transpose",    "t",
    "permute",    "swapaxes",   "swapdims",     "movedim",
    "moveaxis",   "squeeze",    "unsqueeze",    "expand",
    "expand_as",  "chunk",      "split",        "unbind",
    "narrow",     "select",     "tensor_split", "flatten",
    "unflatten",  "diagonal",   "detach",       "contiguous",
    "to",         "type",       "type_as",      "float",
    "half",       "bfloat16",   "double",       "cpu",
    "cuda",       "T",          "mT",           "mH",
    "H",          "data",       "view_as",      "reshape_as",
    "unfold",     "real",       "getitem",      "broadcast_to",
    "atleast_1d", "atleast_2d", "long",         "int",
    "bool",       "ravel",      "dropout",      "hsplit",
    "vsplit",     "as_tensor",
};

// Attributes that are read without being called.
constexpr std::array kProperties{"shape", "dtype", "device", "ndim", "T", "mT", "H", "mH", "data", "real", "imag"};

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

template <size_t N>
bool among(const std::array<const char*, N>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const char* candidate) { return name == candidate; });
}

void each_tensor(Value& value, const std::function<void(TensorValue&)>& visit) {
  if (auto* tensor = std::get_if<TensorValue>(&value.data)) visit(*tensor);
  if (auto* sequence = std::get_if<SequenceValue>(&value.data)) {
    for (Value& item : sequence->items) each_tensor(item, visit);
  }
}

}  // namespace

ir::Origin Interpreter::origin() const {
  if (!file_ || span_.line == 0) return {};
  return {file_->index, span_.line, file_->place(span_).column};
}

Result<TensorValue> Interpreter::current(const TensorValue& tensor) {
  if (tensor.identity == 0) return tensor;
  const TensorState& state = tensors_[static_cast<size_t>(tensor.identity) - 1];
  if (state.version != storages_[static_cast<size_t>(state.storage)].version) {
    return refuse("this tensor shares memory with one that was changed in place, and its value is not followed",
                  "use the changed tensor, or change a copy: x = x.clone()");
  }
  return state.value;
}

void Interpreter::give_identities(Value& result, const std::vector<TensorValue>& sources, Sharing sharing) {
  each_tensor(result, [&](TensorValue& tensor) {
    if (tensor.identity != 0) return;
    int storage = -1;
    for (const TensorValue& source : sources) {
      const bool shares = sharing == Sharing::Always || (sharing == Sharing::IfEqual && source.node == tensor.node);
      if (source.identity != 0 && shares) {
        storage = tensors_[static_cast<size_t>(source.identity) - 1].storage;
        break;
      }
    }
    if (storage < 0) {
      storages_.emplace_back();
      storage = static_cast<int>(storages_.size()) - 1;
    }
    tensor.identity = static_cast<int32_t>(tensors_.size()) + 1;
    tensors_.push_back({storage, storages_[static_cast<size_t>(storage)].version, tensor});
  });
}

Status Interpreter::write_in_place(const TensorValue& target, TensorValue value) {
  if (target.identity == 0) return refuse("this in-place change is not followed");
  TensorState& state = tensors_[static_cast<size_t>(target.identity) - 1];
  Storage& storage = storages_[static_cast<size_t>(state.storage)];
  if (storage.written == 0) storage.written = ++writes_;
  state.version = ++storage.version;
  value.identity = target.identity;
  state.value = std::move(value);
  return {};
}

std::vector<Interpreter::BufferUpdate> Interpreter::buffer_updates() const {
  std::vector<std::pair<int, BufferUpdate>> found;
  for (const TensorState& state : tensors_) {
    const Storage& storage = storages_[static_cast<size_t>(state.storage)];
    if (storage.written == 0 || storage.input == ir::kNoNode || state.version != storage.version) continue;
    found.push_back({storage.written, {storage.input, state.value}});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<BufferUpdate> result;
  for (auto& entry : found) result.push_back(std::move(entry.second));
  return result;
}

Result<Value> Interpreter::plain(const Value& value) {
  if (const auto* tensor = value.get<TensorValue>()) {
    KW_TRY(TensorValue now, current(*tensor));
    return Value{std::move(now)};
  }
  if (const auto* items = sequence_items(value)) {
    SequenceValue sequence;
    sequence.is_tuple = value.get<SequenceValue>() && value.get<SequenceValue>()->is_tuple;
    for (const Value& item : *items) {
      KW_TRY(Value converted, plain(item));
      sequence.items.push_back(std::move(converted));
    }
    return Value{std::move(sequence)};
  }
  if (const auto dict = as<DictObject>(value)) {
    DictValue result;
    for (const auto& [key, item] : dict->items) {
      if (!key.get<std::string>()) return refuse("a dict with other keys than strings is not read here");
      KW_TRY(Value converted, plain(item));
      result.items.emplace_back(*key.get<std::string>(), std::move(converted));
    }
    return Value{std::move(result)};
  }
  return value;
}

Status Interpreter::plain(Arguments& arguments) {
  for (Value& value : arguments.positional) {
    KW_TRY(value, plain(value));
  }
  for (auto& item : arguments.keyword) {
    KW_TRY(item.second, plain(item.second));
  }
  return {};
}

Result<Value> Interpreter::stop_gradients(Value value) {
  if (no_gradient_ == 0) return value;
  each_tensor(value, [&](TensorValue& tensor) {
    if (!builder_[tensor.node].type.floating()) return;
    tensor.node = builder_.make(ir::Op::StopGradient, {tensor.node});
    if (tensor.identity != 0) tensors_[static_cast<size_t>(tensor.identity) - 1].value = tensor;
  });
  return value;
}

Result<Value> Interpreter::torch_call(std::string_view name, Arguments arguments) {
  KW_CHECK(plain(arguments));
  std::vector<TensorValue> sources;
  const auto collect = [&](Value& value) { each_tensor(value, [&](TensorValue& t) { sources.push_back(t); }); };
  for (Value& value : arguments.positional) collect(value);
  for (auto& item : arguments.keyword) collect(item.second);
  // F.relu(x, inplace=True) and x.relu_() both change x.
  bool in_place = name.ends_with('_') && !name.ends_with("__") && !name.starts_with("operator.");
  for (size_t i = 0; i < arguments.keyword.size(); ++i) {
    if (arguments.keyword[i].first == "out") return refuse("out= is not read", "assign the result instead");
    if (arguments.keyword[i].first != "inplace") continue;
    KW_TRY(in_place, truth(arguments.keyword[i].second));
  }
  builder_.set_origin(origin());
  KW_TRY(Value result, call_torch(torch_, name, std::move(arguments)));
  if (in_place && !sources.empty() && result.is_tensor()) {
    const TensorValue target = sources[0];
    const bool initialises = building_ && builder_[target.node].op == ir::Op::Input;
    if (initialises) return Value{target};
    KW_CHECK(write_in_place(target, *result.get<TensorValue>()));
    KW_TRY(TensorValue now, current(target));
    return stop_gradients(Value{std::move(now)});
  }
  const bool is_view = among(kViews, last_part(name));
  const bool is_copy = last_part(name) == "clone";
  give_identities(result, sources, is_view ? Sharing::Always : is_copy ? Sharing::Never : Sharing::IfEqual);
  return stop_gradients(std::move(result));
}

Result<Value> Interpreter::tensor_method(const TensorValue& self, const std::string& name, Arguments arguments) {
  if (name == "requires_grad_" || name == "retain_grad" || name == "pin_memory") return Value{self};
  if (name == "new_tensor" || name == "tolist" || name == "numpy") {
    return refuse("Tensor." + name + " depends on the elements of a tensor, which are not known while reading");
  }
  if (name == "item") {
    return refuse("Tensor.item() gives an element of a tensor, which is not known while reading",
                  "keep it a tensor of no dimensions");
  }
  const bool initialises = (building_ && builder_[self.node].op == ir::Op::Input) || (sampling_ && is_sample(self));
  if (initialises && name.ends_with('_') && !name.ends_with("__")) return Value{self};
  if ((building_ || sampling_) && is_random_fill(name))
    return make_sample(shape_of(builder_.graph(), self), builder_[self.node].type);
  arguments.positional.insert(arguments.positional.begin(), Value{self});
  const std::string path = "Tensor." + name;
  if (!knows_torch(path)) return unknown_call(path);
  return torch_call(path, std::move(arguments));
}

Result<std::optional<Value>> Interpreter::tensor_attribute(const TensorValue& tensor, const std::string& name) {
  if (name == "requires_grad") return Value{true};
  if (name == "is_cuda" || name == "is_floating_point") {
    if (name == "is_cuda") {
      assume("device type", "cuda", "docs/assumptions.md: questions about the environment");
      return Value{true};
    }
  }
  if (name == "is_sparse" || name == "is_quantized" || name == "is_meta" || name == "is_mps") return Value{false};
  if (name == "grad") return refuse("Tensor.grad is not read");
  if (among(kProperties, name)) {
    if (name == "data" && building_ && builder_[tensor.node].op == ir::Op::Input) return Value{tensor};
    KW_TRY(Value result, torch_call("Tensor." + name, {{Value{tensor}}, {}}));
    return result;
  }
  const bool is_method = knows_torch("Tensor." + name) || name == "item" || name == "tolist" || name == "numpy" ||
                         name == "requires_grad_" || name == "retain_grad" || name == "new_tensor" ||
                         name.ends_with('_');
  if (!is_method) return std::optional<Value>();
  auto method = std::make_shared<BoundBuiltin>();
  method->self = Value{tensor};
  method->name = name;
  return object_value(std::move(method));
}

}  // namespace kw::understand::python
