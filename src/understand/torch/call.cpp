#include "understand/torch/call.h"

#include <algorithm>

#include "base/text.h"
#include "understand/torch/expression.h"

namespace kw::understand {
namespace {

using ir::Size;

Value parse_default(std::string_view text) {
  if (text == "None") return Value{NoneValue{}};
  if (text == "True" || text == "False") return Value{text == "True"};
  if (text.size() >= 2 && text.front() == '\'') return Value{std::string(text.substr(1, text.size() - 2))};
  if (auto integer = parse_integer(text)) return Value{Size(*integer)};
  auto number = parse_number(text);
  KW_ASSERT(number.has_value(), "a signature's default is a literal");
  return Value{*number};
}

std::string ordinal_list(const Signature& signature) {
  std::vector<std::string> names;
  for (const auto& p : signature.parameters) names.push_back((p.rest ? "*" : "") + p.name);
  return join(names, ", ");
}

// ATen calls its first tensor `self`, Python's functions `input`; both name the first parameter.
bool names_parameter(const Signature& signature, size_t i, std::string_view keyword) {
  const std::string& name = signature.parameters[i].name;
  // PyTorch takes NumPy's names too.
  if ((name == "dim" && keyword == "axis") || (name == "keepdim" && keyword == "keepdims")) return true;
  return name == keyword ||
         (i == 0 && (name == "input" || name == "self") && (keyword == "self" || keyword == "input" || keyword == "x"));
}

}  // namespace

Signature Signature::parse(std::string_view text) {
  Signature out;
  bool keyword_only = false;
  if (trim(text).empty()) return out;
  for (const std::string& piece : split(text, ',')) {
    std::string_view part = trim(piece);
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    Parameter parameter;
    parameter.keyword_only = keyword_only;
    if (part.front() == '*') {
      parameter.rest = keyword_only = true;
      part.remove_prefix(1);
    }
    size_t equals = part.find('=');
    parameter.name = std::string(part.substr(0, equals));
    if (equals != std::string_view::npos) parameter.default_value = parse_default(part.substr(equals + 1));
    out.parameters.push_back(std::move(parameter));
  }
  return out;
}

Result<Call> Call::bind(TorchContext& context, std::string_view name, const Signature& signature, Arguments arguments) {
  Call call(context, name, signature);
  const auto& parameters = signature.parameters;
  std::vector<std::optional<Value>> bound(parameters.size());
  size_t next = 0;
  for (size_t i = 0; i < parameters.size() && next < arguments.positional.size(); ++i) {
    if (parameters[i].rest) {
      SequenceValue rest;
      size_t left = arguments.positional.size() - next;
      const auto* only = left == 1 ? arguments.positional[next].get<SequenceValue>() : nullptr;
      if (only) {
        rest = *only;
      } else {
        rest.items.assign(std::make_move_iterator(arguments.positional.begin() + static_cast<std::ptrdiff_t>(next)),
                          std::make_move_iterator(arguments.positional.end()));
      }
      bound[i] = Value{std::move(rest)};
      next = arguments.positional.size();
    } else if (!parameters[i].keyword_only) {
      bound[i] = std::move(arguments.positional[next++]);
    }
  }
  if (next < arguments.positional.size())
    return call.refuse("takes at most " + std::to_string(next) + " positional arguments, " +
                       std::to_string(arguments.positional.size()) + " were given");
  for (auto& [keyword, value] : arguments.keyword) {
    size_t i = 0;
    while (i < parameters.size() && !names_parameter(signature, i, keyword)) ++i;
    if (i == parameters.size()) {
      std::vector<std::string> names;
      for (const auto& p : parameters) names.push_back(p.name);
      std::string hint = did_you_mean(keyword, names);
      return call.refuse("has no argument '" + keyword + "'",
                         hint.empty() ? "its arguments are " + ordinal_list(signature) : hint);
    }
    if (bound[i]) return call.refuse("got the argument '" + keyword + "' twice");
    if (parameters[i].rest && !value.get<SequenceValue>()) value = Value{SequenceValue{{std::move(value)}, true, {}}};
    bound[i] = std::move(value);
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!bound[i] && parameters[i].rest) bound[i] = Value{SequenceValue{}};
    if (!bound[i]) bound[i] = parameters[i].default_value;
    if (!bound[i]) return call.refuse("needs the argument '" + parameters[i].name + "'");
    call.values_.push_back(std::move(*bound[i]));
  }
  return call;
}

const Value& Call::operator[](std::string_view parameter) const {
  for (size_t i = 0; i < values_.size(); ++i)
    if (signature_->parameters[i].name == parameter) return values_[i];
  KW_ASSERT(false, "the operation asks for a parameter that its signature lacks: " + std::string(parameter));
  return values_.front();
}

bool Call::has(std::string_view parameter) const {
  return std::any_of(signature_->parameters.begin(), signature_->parameters.end(),
                     [&](const Signature::Parameter& p) { return p.name == parameter; });
}

ir::NodeId Call::make(ir::Op op, std::vector<ir::NodeId> args, ir::Attr attr) const {
  ir::NodeId fallback = args.empty() ? builder.integer(0) : args[0];
  return Expression(context, fallback).make(op, std::move(args), std::move(attr)).node();
}

ir::NodeId Call::reduce(ir::Op op, ir::NodeId x, std::vector<ir::AxisId> axes) const {
  return Expression(context, x).reduce(op, std::move(axes)).node();
}

Failure Call::refuse(std::string message, std::string hint) const {
  return bad_input(std::string(name) + " " + message, {}, std::move(hint));
}

Failure Call::wrong(std::string_view parameter, std::string_view expected) const {
  return refuse("needs " + std::string(expected) + " as '" + std::string(parameter) + "', got " +
                describe((*this)[parameter], builder.graph()));
}

Result<TensorValue> Call::tensor(std::string_view parameter) const {
  if (const auto* t = (*this)[parameter].get<TensorValue>()) return *t;
  return wrong(parameter, "a tensor");
}

Result<std::optional<TensorValue>> Call::optional_tensor(std::string_view parameter) const {
  if (!given(parameter)) return std::optional<TensorValue>{};
  KW_TRY(TensorValue t, tensor(parameter));
  return std::optional<TensorValue>(std::move(t));
}

Result<std::vector<TensorValue>> Call::tensors(std::string_view parameter) const {
  const Value& value = (*this)[parameter];
  if (const auto* t = value.get<TensorValue>()) return std::vector<TensorValue>{*t};
  const auto* sequence = value.get<SequenceValue>();
  if (!sequence || sequence->items.empty()) return wrong(parameter, "a sequence of tensors");
  std::vector<TensorValue> out;
  for (const Value& item : sequence->items) {
    const auto* t = item.get<TensorValue>();
    if (!t) return wrong(parameter, "a sequence of tensors");
    out.push_back(*t);
  }
  return out;
}

Result<int64_t> Call::integer(std::string_view parameter) const {
  KW_TRY(Size s, size(parameter));
  return require_fixed(context, s);
}

Result<Size> Call::size(std::string_view parameter) const {
  const Value& value = (*this)[parameter];
  if (const auto* s = value.get<Size>()) return *s;
  if (const auto* b = value.get<bool>()) return Size(*b ? 1 : 0);
  return wrong(parameter, "an int");
}

Result<std::vector<Size>> Call::sizes(std::string_view parameter) const {
  const Value& value = (*this)[parameter];
  if (value.get<Size>()) {
    KW_TRY(Size s, size(parameter));
    return std::vector<Size>{s};
  }
  const auto* sequence = value.get<SequenceValue>();
  if (!sequence) return wrong(parameter, "ints");
  std::vector<Size> out;
  for (const Value& item : sequence->items) {
    const auto* s = item.get<Size>();
    if (!s) return wrong(parameter, "ints");
    out.push_back(*s);
  }
  return out;
}

Result<bool> Call::boolean(std::string_view parameter) const {
  const Value& value = (*this)[parameter];
  if (const auto* b = value.get<bool>()) return *b;
  if (const auto* s = value.get<Size>())
    if (auto constant = s->constant()) return *constant != 0;
  return wrong(parameter, "True or False");
}

Result<double> Call::number(std::string_view parameter) const {
  const Value& value = (*this)[parameter];
  if (const auto* s = value.get<Size>()) {
    KW_TRY(int64_t fixed, require_fixed(context, *s));
    return static_cast<double>(fixed);
  }
  if (const auto* s = value.get<ScalarValue>()) {
    if (context.fixed_scalar) return context.fixed_scalar(*s);
    return wrong(parameter, "a number that is known while reading");
  }
  if (auto known = known_number(builder.graph(), value)) return *known;
  return wrong(parameter, "a number");
}

Result<TensorValue> Call::scalar(std::string_view parameter) const {
  const Value& value = (*this)[parameter];
  if (!is_number(value)) return wrong(parameter, "a number");
  return *as_operand(builder, value);
}

Result<std::string> Call::text(std::string_view parameter) const {
  if (const auto* s = (*this)[parameter].get<std::string>()) return *s;
  return wrong(parameter, "a string");
}

Result<size_t> Call::choice(std::string_view parameter, std::initializer_list<std::string_view> options) const {
  std::vector<std::string> names;
  for (std::string_view option : options) names.push_back("'" + std::string(option) + "'");
  const auto* given = (*this)[parameter].get<std::string>();
  if (!given) return wrong(parameter, "one of " + join(names, ", "));
  for (size_t i = 0; i < options.size(); ++i)
    if (*given == options.begin()[i]) return i;
  return wrong(parameter, "one of " + join(names, ", "));
}

Result<std::optional<ir::Type>> Call::type(std::string_view parameter) const {
  const Value& value = (*this)[parameter];
  if (value.is_none()) return std::optional<ir::Type>{};
  if (const auto* d = value.get<DTypeValue>()) return std::optional<ir::Type>(d->type);
  return wrong(parameter, "a dtype");
}

Result<size_t> Call::position(const Value& value, std::string_view parameter, size_t rank) const {
  const auto* s = value.get<Size>();
  if (!s) return wrong(parameter, "a dimension");
  KW_TRY(int64_t d, require_fixed(context, *s));
  int64_t n = static_cast<int64_t>(std::max<size_t>(rank, 1));
  if (d < -n || d >= n)
    return refuse("has no dimension " + std::to_string(d) + ": the tensor has " + std::to_string(rank) +
                  (rank == 1 ? " dimension" : " dimensions"));
  return static_cast<size_t>(d < 0 ? d + n : d);
}

Result<size_t> Call::dim(std::string_view parameter, size_t rank) const {
  return position((*this)[parameter], parameter, rank);
}

Result<size_t> Call::dim_of(std::string_view parameter, const TensorValue& x) const {
  if (x.dims.empty()) return refuse("needs a tensor with dimensions");
  return dim(parameter, x.dims.size());
}

Result<std::vector<size_t>> Call::dims(std::string_view parameter, size_t rank) const {
  const Value& value = (*this)[parameter];
  std::vector<size_t> out;
  const auto* sequence = value.get<SequenceValue>();
  if (value.is_none() || (sequence && sequence->items.empty())) {
    for (size_t i = 0; i < rank; ++i) out.push_back(i);
    return out;
  }
  if (!sequence) {
    KW_TRY(size_t p, position(value, parameter, rank));
    if (rank > 0) out.push_back(p);
    return out;
  }
  for (const Value& item : sequence->items) {
    KW_TRY(size_t p, position(item, parameter, rank));
    if (std::find(out.begin(), out.end(), p) != out.end())
      return refuse("names the dimension " + std::to_string(p) + " twice in '" + std::string(parameter) + "'");
    if (rank > 0) out.push_back(p);
  }
  return out;
}

Result<std::vector<int64_t>> Call::per_dimension(std::string_view parameter, size_t count) const {
  KW_TRY(std::vector<Size> values, sizes(parameter));
  std::vector<int64_t> out;
  for (const Size& s : values) {
    KW_TRY(int64_t v, require_fixed(context, s));
    out.push_back(v);
  }
  if (out.size() == 1) out.assign(count, out[0]);
  if (out.size() != count) return wrong(parameter, std::to_string(count) + " ints");
  return out;
}

std::optional<TensorValue> as_operand(ir::GraphBuilder& builder, const Value& value) {
  if (const auto* t = value.get<TensorValue>()) return *t;
  if (const auto* b = value.get<bool>()) return TensorValue{builder.boolean(*b), {}};
  if (const auto* d = value.get<double>()) return TensorValue{builder.constant(*d), {}};
  if (const auto* v = value.get<ScalarValue>()) return TensorValue{v->node, {}};
  if (const auto* s = value.get<Size>()) {
    auto constant = s->constant();
    return TensorValue{constant ? builder.integer(*constant) : builder.size_of(*s), {}};
  }
  return std::nullopt;
}

bool is_number(const Value& value) {
  return value.get<bool>() || value.get<Size>() || value.get<double>() || value.get<ScalarValue>();
}

std::optional<double> known_number(const ir::Graph& graph, const Value& value) {
  if (const auto* b = value.get<bool>()) return *b ? 1.0 : 0.0;
  if (const auto* d = value.get<double>()) return *d;
  if (const auto* v = value.get<ScalarValue>()) return v->known;
  if (const auto* s = value.get<Size>()) {
    if (auto hinted = graph.hinted(*s)) return static_cast<double>(*hinted);
  }
  return std::nullopt;
}

Value to_tuple(std::vector<TensorValue> tensors) {
  SequenceValue sequence;
  for (TensorValue& t : tensors) sequence.items.push_back(Value{std::move(t)});
  return Value{std::move(sequence)};
}

}  // namespace kw::understand
