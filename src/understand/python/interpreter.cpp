#include "understand/python/interpreter.h"

#include <algorithm>

#include "understand/torch/broadcast.h"

namespace kw::understand::python {

Interpreter::Interpreter(SourceReader& sources, Facts& facts, Packages& packages, bool training)
    : sources_(sources), facts_(facts), packages_(packages), torch_{builder_} {
  facts_.begin_reading(builder_);
  torch_.training = training;
  torch_.same_size = [this](const ir::Size& a, const ir::Size& b) -> Status {
    KW_TRY(const bool agree, facts_.unify(builder_, a, b));
    if (!agree) return refuse("two sizes turn out to be one");  // the next reading starts with that
    return {};
  };
  torch_.fixed_size = [this](const ir::Size& size) -> Result<int64_t> {
    KW_TRY(const int64_t value, facts_.fix(builder_.graph(), size));
    if (facts_.changed()) return refuse("a size must be a number here");
    return value;
  };
  torch_.fixed_scalar = [this](const ScalarValue& scalar) -> Result<double> {
    KW_CHECK(fix_scalar(scalar));
    if (!scalar.known) return refuse("this number must be known while reading");
    return *scalar.known;
  };
  torch_.make_parameter = [this](std::string name, ir::InputKind kind, std::vector<ir::Size> sizes,
                                 ir::Type type) -> Result<TensorValue> {
    if (running_) return refuse("a layer that every call makes anew is not read", "make it in the constructor");
    ir::Input input;
    input.name = "#" + std::to_string(builder_.graph().inputs.size());
    input.kind = kind;
    KW_TRY(input.type, parameter_type(type.known() ? type : ir::Type(ir::DType::F32)));
    input.dims = axes_for(sizes, name);
    input.differentiable = kind == ir::InputKind::Parameter && input.type.floating();
    const Value value = make_tensor_input(std::move(input));
    parameter_sources_.push_back({value.get<TensorValue>()->node, file_ ? std::string(file_->excerpt(span_)) : name,
                                  file_ ? file_->place(span_) : Place{}});
    return *value.get<TensorValue>();
  };
  torch_.update_buffer = [this](const TensorValue& buffer, const TensorValue& value) {
    return write_in_place(buffer, value);
  };
}

// Every dimension of the interface is an axis of its own, also where sizes are equal: which of them are one is found
// out by the operations that pair them, as in an exported graph, and simplification merges them.
std::vector<ir::AxisId> Interpreter::axes_for(const std::vector<ir::Size>& sizes, const std::string& tensor) {
  std::vector<ir::AxisId> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto constant = sizes[i].constant();
    if (constant && *constant == 1) {
      dims.push_back(ir::kUnit);
      continue;
    }
    const std::string place = tensor + "_" + std::to_string(i);
    if (constant) {
      dims.push_back(builder_.axis(place, sizes[i]));
      continue;
    }
    const auto symbol = sizes[i].as_symbol();
    std::string axis_name = symbol ? builder_.graph().symbols[static_cast<size_t>(*symbol)].name : place;
    const int uses = ++axes_of_size_[sizes[i]];
    if (uses > 1 && symbol) axis_name += std::to_string(uses);
    dims.push_back(builder_.axis(std::move(axis_name), sizes[i]));
  }
  return dims;
}

void Interpreter::at(const SourceFile* file, const Span& span) {
  file_ = file;
  span_ = span;
}

void Interpreter::assume(std::string what, std::string value, std::string because) {
  for (const Assumption& known : assumptions_) {
    if (known.what == what && known.value == value) return;
  }
  assumptions_.push_back(
      {std::move(what), std::move(value), std::move(because), file_ ? file_->place(span_) : Place{}});
}

ir::Size Interpreter::size_named(const std::string& name, std::optional<int64_t> hint, SizeOrigin origin) {
  return facts_.size(builder_, name, hint, origin);
}

Value Interpreter::make_scalar_input(const std::string& name, double value) {
  if (facts_.scalar_is_fixed(name)) return Value{value};
  std::string unique = name;
  while (scalars_.contains(unique)) {
    if (scalars_.at(unique).known == value) return Value{scalars_.at(unique)};
    unique += "_";
    if (facts_.scalar_is_fixed(unique)) return Value{value};
  }
  ir::Input input;
  input.name = unique;
  input.kind = ir::InputKind::Scalar;
  input.type = ir::Type(ir::DType::Real);
  input.default_value = ir::Literal{value};
  input.differentiable = false;
  builder_.set_origin(origin());
  const ScalarValue scalar{builder_.input(std::move(input)), value};
  scalars_.emplace(unique, scalar);
  return Value{scalar};
}

Result<ir::Type> Interpreter::interface_type(ir::Type given, bool is_weight) {
  if (!given.concrete() || !given.floating()) return given;
  const ir::DType dtype = given.floor() == ir::DType::Real ? ir::DType::F32 : given.floor();
  if (dtype == ir::DType::F8E4M3 || dtype == ir::DType::F8E5M2) return ir::Type(dtype);
  const auto known = type_parameters_.find({is_weight, dtype});
  if (known != type_parameters_.end()) return known->second;
  std::string name = is_weight ? "W" : "T";
  const auto count = std::count_if(type_parameters_.begin(), type_parameters_.end(),
                                   [&](const auto& entry) { return entry.first.first == is_weight; });
  if (count > 0) name += std::to_string(count + 1);
  const auto wanted = default_types_.find(name);
  const ir::DType chosen = wanted == default_types_.end() ? dtype : wanted->second;
  const ir::Type type = facts_.types_are_fixed() ? ir::Type(chosen) : builder_.type_parameter(name, chosen);
  type_parameters_.emplace(std::make_pair(is_weight, dtype), type);
  return type;
}

Result<ir::Type> Interpreter::parameter_type(ir::Type given) {
  if (const auto wanted = facts_.parameter_type(parameter_sources_.size())) return ir::Type(*wanted);
  return interface_type(given, true);
}

Result<Value> Interpreter::lookup_in(PythonModule& module, std::string_view name) {
  KW_TRY(auto found, module.find(*this, name));
  if (found) return *std::move(found);
  return refuse("the name " + std::string(name) + " is not defined in " + module.file.path);
}

Result<Value> Interpreter::evaluate_in(PythonModule& module, const Expr& expression) {
  Frame frame;
  frame.file = &module.file;
  frame.scope = std::make_shared<Scope>();
  frame.scope->module = &module;
  frame.result = none();
  const SourceFile* const saved_file = std::exchange(file_, &module.file);
  const Span saved_span = std::exchange(span_, expression.span);
  frames_.push_back(std::move(frame));
  auto result = evaluate(expression);
  frames_.pop_back();
  file_ = saved_file;
  span_ = saved_span;
  return result;
}

}  // namespace kw::understand::python
