#include "understand/python/interface.h"

#include <algorithm>

#include "base/text.h"
#include "understand/python/finish.h"
#include "understand/torch/broadcast.h"

namespace kw::understand::python {
namespace {

const Rules& rules() { return published_rules(); }

std::string joined(const std::vector<std::string>& names) {
  return "[" + replace_all(join(names, ", "), "~", "") + "]";
}

bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

}  // namespace

bool is_type_parameter(std::string_view name) {
  return (name.starts_with('T') || name.starts_with('W')) &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

const std::string* Interface::find(const std::vector<std::pair<std::string, std::string>>& options,
                                   const std::string& name) {
  for (const auto& [key, text] : options) {
    if (key != name) continue;
    used_.insert(&key);
    return &text;
  }
  return nullptr;
}

Status Interface::check_all_used() const {
  const auto check = [&](const char* option, const auto& options) -> Status {
    for (const auto& [key, text] : options) {
      const bool is_type = std::string_view(option) == "--dtype" && is_type_parameter(key);
      if (used_.contains(&key) || is_type) continue;
      std::vector<std::string> known;
      for (const auto* arguments : {&constructor_, &call_}) {
        for (const auto& [name, value] : *arguments) known.push_back(name);
      }
      std::string hint = did_you_mean(key, known);
      if (hint.empty() && !known.empty()) hint = "its arguments are " + join(known, ", ");
      return bad_input(std::string(option) + " " + key + "=" + text + " names nothing that is read", {}, hint);
    }
    return {};
  };
  KW_CHECK(check("--shape", request_.shapes));
  KW_CHECK(check("--dtype", request_.dtypes));
  return check("--init", request_.init);
}

// The first of a tensor's dimensions counts examples: an output has it once, and no parameter has it; nor does a
// parameter's own dimension, or one of size one, stand in front of what the tensors have.
bool Interface::is_implausible(const ir::Graph& graph) const {
  const auto size = [&](ir::AxisId axis) { return size_of_dim(graph, axis); };
  std::vector<ir::Size> of_parameters, leading;
  for (const ir::Input& input : graph.inputs) {
    if (input.kind != ir::InputKind::Parameter && input.kind != ir::InputKind::Buffer) continue;
    for (const ir::AxisId axis : input.dims) of_parameters.push_back(size(axis));
  }
  size_t rank = 0;
  for (const Supplied& supplied : supplied_) {
    const ir::Input* tensor = graph.find_input(supplied.name);
    if (!tensor || tensor->dims.empty()) continue;
    if (supplied.is_weight) {
      for (const ir::AxisId axis : tensor->dims) of_parameters.push_back(size(axis));
      continue;
    }
    rank = std::max(rank, tensor->dims.size());
    if (tensor->dims.size() > 1 && tensor->dims[0] != ir::kUnit) leading.push_back(size(tensor->dims[0]));
  }
  const auto is_of_parameter = [&](const ir::Size& s) {
    return std::find(of_parameters.begin(), of_parameters.end(), s) != of_parameters.end();
  };
  if (std::any_of(leading.begin(), leading.end(), is_of_parameter)) return true;
  for (const ir::Output& output : graph.outputs) {
    for (const ir::Size& examples : leading) {
      const auto is_examples = [&](ir::AxisId axis) { return size(axis) == examples; };
      if (std::count_if(output.dims.begin(), output.dims.end(), is_examples) > 1) return true;
    }
    if (rank == 0 || output.dims.size() <= rank) continue;
    if (output.dims[0] == ir::kUnit || is_of_parameter(size(output.dims[0]))) return true;
  }
  return false;
}

std::vector<size_t> Interface::rows_of_groups() const {
  std::vector<size_t> counts;
  for (const auto& group : groups_) counts.push_back(group.size());
  return counts;
}

std::string Interface::assumed_shapes() const {
  std::vector<std::string> texts;
  for (const Supplied& supplied : supplied_) texts.push_back(supplied.name + " " + joined(supplied.shape));
  return join(texts, ", ");
}

std::vector<Interface::Slot> Interface::slots(const FunctionObject& function, bool bound) const {
  std::vector<Slot> result;
  const Parameters& parameters = *function.parameters;
  const size_t plain = parameters.positional.size() - function.defaults.size();
  for (size_t i = bound ? 1 : 0; i < parameters.positional.size(); ++i) {
    std::optional<Value> standard;
    if (i >= plain) standard = function.defaults[i - plain];
    result.push_back({&parameters.positional[i], std::move(standard), false});
  }
  for (size_t i = 0; i < parameters.keyword_only.size(); ++i) {
    result.push_back({&parameters.keyword_only[i], function.keyword_defaults[i], true});
  }
  return result;
}

// The text of an option is Python, read in the file's own names: 1e-6, (3, 3), torch.bfloat16, None, ReLU.
Result<Value> Interface::parse_value(const std::string& name, const std::string& text) {
  if (const auto dtype = ir::dtype_from_name(text)) return Value{DTypeValue{ir::Type(*dtype)}};
  auto file = packages_.sources().open_text("--init " + name, text + "\n");
  if (!file) return tl::make_unexpected(std::move(file).error());
  (*file)->is_option = true;
  const Block& body = (*file)->body;
  const auto* expression = body.size() == 1 ? body[0].get<ExpressionStatement>() : nullptr;
  if (!expression) return bad_input("--init " + name + "=" + text + " is not a value");
  // A bare word that names nothing is a string: --init hidden_act=silu.
  if (const auto* word = expression->value->get<Name>(); word && !module_.binds(word->id)) return text_value(word->id);
  return interpreter_.evaluate_in(module_, *expression->value);
}

Result<std::optional<Value>> Interface::option_value(const std::string& name) {
  const std::string* text = find(request_.init, name);
  if (!text) return std::optional<Value>();
  KW_TRY(Value value, parse_value(name, *text));
  return value;
}

Result<Value> Interface::named(const std::string& name, Value value) {
  if (const auto* size = value.get<ir::Size>(); size && size->constant() && *size->constant() > 1) {
    return Value{interpreter_.size_named(name, *size->constant(), SizeOrigin::Given)};
  }
  if (const auto* real = value.get<double>()) return interpreter_.make_scalar_input(name, *real);
  return value;
}

Result<std::shared_ptr<ConfigObject>> Interface::configuration(const std::string& parameter,
                                                               const Annotation& annotation,
                                                               const FunctionObject& init) {
  std::shared_ptr<ConfigObject> config;
  std::string because = "the annotation of " + parameter;
  if (annotation.kind == Annotation::Kind::Other) {
    KW_TRY(const Definition definition, packages_.definition(*init.module, annotation.class_name));
    if (definition.stub && definition.stub->is_class) {
      KW_TRY(config, make_configuration(packages_, definition));
    }
  }
  if (!config && parameter == "config") {
    // Without an annotation: the first configuration class of the file that has every field that the constructor asks
    // for.
    because = "docs/assumptions.md: an argument called config without an annotation";
    KW_TRY(const std::vector<Definition> candidates, configuration_classes(packages_, *init.module));
    std::vector<std::string> wanted;
    const std::string text(init.file->excerpt(init.span));
    for (size_t at = text.find("config."); at != std::string::npos; at = text.find("config.", at + 1)) {
      size_t end = at + 7;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
      wanted.push_back(text.substr(at + 7, end - at - 7));
    }
    for (const Definition& candidate : candidates) {
      KW_TRY(auto made, make_configuration(packages_, candidate));
      const bool has_all = std::all_of(wanted.begin(), wanted.end(), [&](const std::string& field) {
        return configuration_has(*made, field) || find(request_.init, parameter + "." + field) != nullptr;
      });
      if (!has_all) continue;
      config = std::move(made);
      break;
    }
  }
  if (!config) return config;
  interpreter_.assume(parameter, config->name + "()", because);
  for (const auto& [key, text] : request_.init) {
    const bool is_path = key.starts_with(parameter + ".");  // config.eps, or eps alone
    if (!is_path && !configuration_has(*config, key)) continue;
    used_.insert(&key);
    const std::string field = is_path ? key.substr(parameter.size() + 1) : key;
    KW_TRY(Value value, parse_value(key, text));
    KW_TRY(value, named(field, std::move(value)));
    config->fields.set(field, std::move(value));
  }
  return config;
}

Result<Value> Interface::constructor_value(const Slot& slot, const FunctionObject& init, const ClassObject& type) {
  const std::string& name = slot.parameter->name;
  KW_TRY(auto given, option_value(name));
  if (given) return named(name, *std::move(given));
  const Annotation annotation = read_annotation(slot.parameter->annotation.get());
  interpreter_.at(init.file, slot.parameter->span);
  KW_TRY(const auto config, configuration(name, annotation, init));
  if (config) return object_value(config);
  if (slot.standard && !slot.standard->is_none()) return named(name, *slot.standard);
  const ValueRule* rule = rules().value_of(name, type.name);
  has_fillers_ = has_fillers_ || (slot.standard && rule);
  if (slot.standard && !(rule && trial_.fill_none)) return *slot.standard;
  if (!rule) {
    return interpreter_.refuse("nothing gives a value to the argument " + name + " of " + type.name,
                               "give it: --init " + name + "=VALUE");
  }
  const std::string because = "docs/assumptions.md: an argument called " + name;
  if (rule->value.starts_with("size")) {
    const int64_t hint = rules().hint_of(name);
    interpreter_.assume("argument " + name + " of " + type.name, "a size, " + std::to_string(hint) + " here", because);
    return Value{interpreter_.size_named(name, hint, SizeOrigin::Given)};
  }
  interpreter_.assume("argument " + name + " of " + type.name, rule->value, because);
  KW_TRY(Value value, parse_value(name, rule->value));
  return named(name, std::move(value));
}

Result<Arguments> Interface::constructor_arguments(const FunctionObject& init, const ClassObject& type,
                                                   std::vector<Value> given) {
  Arguments arguments;
  size_t position = 0;
  for (const Slot& slot : slots(init, true)) {
    const std::string& name = slot.parameter->name;
    Value value;
    KW_TRY(auto option, option_value(name));
    if (option) {
      KW_TRY(value, named(name, *std::move(option)));
    } else if (position < given.size() && !slot.keyword_only) {
      KW_TRY(value, named(name, given[position]));
    } else {
      KW_TRY(value, constructor_value(slot, init, type));
    }
    constructor_.emplace_back(name, value);
    if (slot.keyword_only) {
      arguments.keyword.emplace_back(name, std::move(value));
    } else {
      arguments.positional.push_back(std::move(value));
      ++position;
    }
  }
  if (init.parameters->star) {
    for (; position < given.size(); ++position) arguments.positional.push_back(given[position]);
  } else if (given.size() > position) {
    return interpreter_.refuse("get_init_inputs() gives " + std::to_string(given.size()) +
                               " values, the constructor of " + type.name + " takes " + std::to_string(position));
  }
  return arguments;
}

Result<std::optional<ir::DType>> Interface::dtype_option(const std::string& name) {
  const std::string* text = find(request_.dtypes, name);
  if (!text) return std::optional<ir::DType>();
  auto dtype = ir::dtype_from_name(*text);
  if (!dtype) dtype = ir::dtype_from_torch_name(text->starts_with("torch.") ? text->substr(6) : *text);
  if (!dtype || ir::is_weak(*dtype)) {
    return bad_input("--dtype " + name + "=" + *text + ": there is no such type", {},
                     "for example bf16, f16, f32, i64");
  }
  return dtype;
}

Status Interface::set_parameter_types(const Value& module) {
  const ir::Graph& graph = interpreter_.builder().graph();
  const auto& made = interpreter_.parameter_sources();
  for (const StateName& state : state_names(interpreter_, module)) {
    KW_TRY(const auto wanted, dtype_option(state.name));
    const ir::Input& input = graph.inputs[static_cast<size_t>(state.input)];
    if (!wanted || input.type == ir::Type(*wanted)) continue;
    const auto source = std::find_if(made.begin(), made.end(), [&](const auto& s) { return s.node == input.node; });
    if (source == made.end()) continue;
    interpreter_.facts().set_parameter_type(static_cast<size_t>(source - made.begin()), *wanted);
  }
  if (interpreter_.facts().changed()) return interpreter_.refuse("a parameter has another type");
  return {};
}

Result<Value> Interface::make_tensor(const std::string& name, const std::vector<ir::Size>& sizes, ir::Type type) {
  ir::Input input;
  input.name = name;
  input.kind = ir::InputKind::Tensor;
  input.type = type;
  input.dims = interpreter_.axes_for(sizes, name);
  input.differentiable = type.floating();
  return interpreter_.make_tensor_input(std::move(input));
}

Result<Value> Interface::tensor_from_names(const std::string& name, const std::vector<std::string>& shape,
                                           SizeOrigin origin, ir::Type type, bool is_weight) {
  std::vector<ir::Size> sizes;
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::string& word = shape[i];
    if (const auto number = parse_integer(word)) {
      if (*number < 0) return bad_input("a size cannot be negative: " + word);
      sizes.push_back(interpreter_.size_named(name + "_" + std::to_string(i), *number, SizeOrigin::Literal));
      continue;
    }
    const size_t colon = word.find(':');
    const bool flexible = origin == SizeOrigin::Assumed && word.starts_with("~");
    const std::string symbol(trim(word.substr(flexible ? 1 : 0, colon)));
    if (!is_identifier(symbol))
      return bad_input("a size is a name or a number, not " + word, {}, "for example --shape x=rows,cols");
    std::optional<int64_t> hint = rules().hint_of(symbol);
    if (colon != std::string::npos) {
      hint = parse_integer(trim(word.substr(colon + 1)));
      if (!hint || *hint < 1) return bad_input("the number of a size is a positive int: " + word);
    } else if (module_.is_problem() && module_.binds(symbol)) {
      KW_TRY(const Value known, interpreter_.lookup_in(module_, symbol));
      if (const auto size = as_size(known)) {
        sizes.push_back(*size);
        continue;
      }
    }
    sizes.push_back(interpreter_.size_named(symbol, hint, flexible ? SizeOrigin::Flexible : origin));
  }
  KW_TRY(const ir::Type interface, interpreter_.interface_type(type, is_weight));
  return make_tensor(name, sizes, interface);
}

Result<std::optional<Value>> Interface::tensor_from_options(const std::string& name, const Annotation& annotation) {
  const std::string* shape = find(request_.shapes, name);
  if (!shape) return std::optional<Value>();
  KW_TRY(const auto dtype, dtype_option(name));
  std::vector<std::string> words;
  for (const std::string& word : split(*shape, ',')) {
    if (!trim(word).empty()) words.emplace_back(trim(word));
  }
  ir::DType type = annotation.dtype == ir::DType::None ? ir::DType::F32 : annotation.dtype;
  const auto candidates = rules().shapes_of(name, "");
  if (!candidates.empty() && annotation.dtype == ir::DType::None) {
    if (const auto concrete = ir::dtype_from_name(candidates[0]->type)) type = *concrete;
  }
  const bool is_weight = !candidates.empty() && candidates[0]->type == "W";
  KW_TRY(Value value, tensor_from_names(name, words, SizeOrigin::Given, ir::Type(dtype.value_or(type)), is_weight));
  return value;
}

Result<Value> Interface::tensor_from_example(const std::string& name, const TensorValue& example) {
  std::vector<ir::Size> sizes;
  const ir::Graph& graph = interpreter_.builder().graph();
  size_t position = 0;
  for (const ir::Size& size : shape_of(graph, example)) {
    const auto constant = size.constant();
    const bool literal = constant && *constant > 1;
    sizes.push_back(literal
                        ? interpreter_.size_named(name + "_" + std::to_string(position), *constant, SizeOrigin::Literal)
                        : size);
    ++position;
  }
  KW_TRY(const auto dtype, dtype_option(name));
  const ir::Type type = dtype ? ir::Type(*dtype) : interpreter_.builder()[example.node].type;
  const auto candidates = rules().shapes_of(name, "");
  const bool is_weight = !candidates.empty() && candidates[0]->type == "W";
  KW_TRY(const ir::Type interface, interpreter_.interface_type(type, is_weight));
  return make_tensor(name, sizes, interface);
}

Result<Value> Interface::tensor_from_rules(const std::string& name, const std::string& inside,
                                           const Annotation& annotation) {
  KW_TRY(const auto dtype, dtype_option(name));
  ir::DType type = annotation.dtype;
  if (!annotation.shape.empty()) {
    if (type == ir::DType::None) type = ir::DType::F32;
    return tensor_from_names(name, annotation.shape, SizeOrigin::Given, ir::Type(dtype.value_or(type)), false);
  }
  const auto own = rules().shapes_of(name, inside);
  const auto candidates = trial_.rows_of_any_name ? rules().shapes_of_any_name() : own;
  if (candidates.empty()) {
    return interpreter_.refuse("nothing gives a shape to the tensor " + name,
                               "give it: --shape " + name + "=rows,cols");
  }
  has_rows_by_name_ = has_rows_by_name_ || !own[0]->is_for_any_name();
  const auto group = std::find(groups_.begin(), groups_.end(), candidates);
  const auto number = static_cast<size_t>(group - groups_.begin());
  if (group == groups_.end()) groups_.push_back(candidates);
  const size_t row = number < trial_.rows.size() ? trial_.rows[number] : 0;
  const ShapeRule& rule = *candidates[std::min(row, candidates.size() - 1)];
  if (type == ir::DType::None) type = ir::dtype_from_name(rule.type).value_or(ir::DType::F32);
  std::vector<std::string> shape = rule.shape;
  if (shape.size() == 1 && shape[0] == "scalar") shape.clear();
  supplied_.push_back({name, shape, rule.type == "W"});
  interpreter_.assume("shape of " + name, joined(shape), "docs/assumptions.md: a tensor called " + name);
  if (!dtype) {
    const bool generic = rule.type == "T" || rule.type == "W";
    const std::string because =
        "docs/assumptions.md: " + std::string(generic ? "a floating tensor" : "a tensor called " + name);
    interpreter_.assume("type of " + name, std::string(ir::info(type).name), because);
  }
  return tensor_from_names(name, shape, SizeOrigin::Assumed, ir::Type(dtype.value_or(type)), rule.type == "W");
}

Result<Value> Interface::as_input(const std::string& name, const Value& example) {
  if (const auto* tensor = example.get<TensorValue>()) return tensor_from_example(name, *tensor);
  if (const auto* items = sequence_items(example)) {
    std::vector<Value> result;
    for (size_t i = 0; i < items->size(); ++i) {
      KW_TRY(Value item, as_input(name + "_" + std::to_string(i), (*items)[i]));
      result.push_back(std::move(item));
    }
    return example.get<SequenceValue>() ? tuple_value(std::move(result)) : list_value(std::move(result));
  }
  return named(name, example);
}

// Whether an argument that defaults to None is passed after all, because the program does not run without it.
bool Interface::fills_absent_tensor(const Slot& slot, const std::string& inside, const Annotation& annotation) {
  if (!slot.standard->is_none()) return false;
  const auto candidates = rules().shapes_of(slot.parameter->name, inside);
  const bool known = !candidates.empty() && !candidates[0]->is_for_any_name();
  const bool may_be_tensor =
      annotation.kind == Annotation::Kind::Tensor || (annotation.kind == Annotation::Kind::None && known);
  has_fillers_ = has_fillers_ || may_be_tensor;
  return may_be_tensor && trial_.fill_none;
}

Result<Arguments> Interface::call_arguments(const FunctionObject& function, const std::string& inside, bool bound,
                                            std::optional<std::vector<Value>> given) {
  Arguments arguments;
  size_t position = 0;
  for (const Slot& slot : slots(function, bound)) {
    const std::string& name = slot.parameter->name;
    const Annotation annotation = read_annotation(slot.parameter->annotation.get());
    interpreter_.at(function.file, slot.parameter->span);
    Value value;
    KW_TRY(auto from_options, tensor_from_options(name, annotation));
    KW_TRY(auto option, option_value(name));
    const bool is_present = std::find(request_.present.begin(), request_.present.end(), name) != request_.present.end();
    const ValueRule* rule = rules().value_of(name, inside);
    if (rule && rule->value == "size of a constructor") rule = nullptr;
    const bool is_tensor =
        annotation.kind == Annotation::Kind::Tensor || (annotation.kind == Annotation::Kind::None && !rule);
    if (from_options) {
      value = *std::move(from_options);
    } else if (option) {
      KW_TRY(value, named(name, *std::move(option)));
    } else if (given && position < given->size() && !slot.keyword_only) {
      KW_TRY(value, as_input(name, (*given)[position]));
    } else if (slot.standard && !is_present && !fills_absent_tensor(slot, inside, annotation)) {
      KW_TRY(value, named(name, *slot.standard));
      if (slot.standard->is_none()) {
        interpreter_.assume("argument " + name, "None", "its default; --shape " + name + "=… passes a tensor");
      }
    } else if (is_tensor || is_present || slot.standard) {
      KW_TRY(value, tensor_from_rules(name, inside, annotation));
    } else if (rule) {
      interpreter_.assume("argument " + name, rule->value, "docs/assumptions.md: an argument called " + name);
      if (rule->value == "size") {
        value = Value{interpreter_.size_named(name, rules().hint_of(name), SizeOrigin::Given)};
      } else {
        KW_TRY(value, parse_value(name, rule->value));
        KW_TRY(value, named(name, std::move(value)));
      }
    } else {
      return interpreter_.refuse("nothing gives a value to the argument " + name, "give it: --init " + name + "=VALUE");
    }
    call_.emplace_back(name, value);
    if (slot.keyword_only) {
      arguments.keyword.emplace_back(name, std::move(value));
    } else {
      arguments.positional.push_back(std::move(value));
      ++position;
    }
  }
  if (given && given->size() > position) {
    return interpreter_.refuse("get_inputs() gives " + std::to_string(given->size()) + " values, " + function.name +
                               " takes " + std::to_string(position));
  }
  return arguments;
}

std::vector<ReadArgument> Interface::described(const std::vector<std::pair<std::string, Value>>& arguments) const {
  std::vector<ReadArgument> result;
  for (const auto& [name, value] : arguments) {
    result.push_back({name, interpreter_.expression_of(value)});
    const auto config = as<ConfigObject>(value);
    if (!config) continue;
    for (const auto& [field, item] : config->fields.items()) {
      result.push_back({name + "." + field, interpreter_.expression_of(item)});
    }
  }
  return result;
}

}  // namespace kw::understand::python
