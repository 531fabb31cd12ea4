#include "understand/python/configuration.h"

#include <algorithm>

#include "base/text.h"
#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

bool sets_self(const Block& block, const std::string& field);

bool is_self_field(const Expr& target, const std::string& field) {
  if (const auto* display = target.get<Display>()) {
    for (const ExprPtr& item : display->items) {
      if (is_self_field(*item, field)) return true;
    }
  }
  const auto* attribute = target.get<Attribute>();
  const auto* object = attribute ? attribute->value->get<Name>() : nullptr;
  return object && object->id == "self" && attribute->name == field;
}

bool sets_self(const Stmt& statement, const std::string& field) {
  if (const auto* assign = statement.get<Assign>()) {
    for (const ExprPtr& target : assign->targets) {
      if (is_self_field(*target, field)) return true;
    }
  }
  if (const auto* assign = statement.get<AugmentedAssign>()) return is_self_field(*assign->target, field);
  if (const auto* assign = statement.get<AnnotatedAssign>()) return is_self_field(*assign->target, field);
  if (const auto* branch = statement.get<If>())
    return sets_self(branch->body, field) || sets_self(branch->otherwise, field);
  if (const auto* loop = statement.get<For>()) return sets_self(loop->body, field) || sets_self(loop->otherwise, field);
  return false;
}

bool sets_self(const Block& block, const std::string& field) {
  for (const Stmt& statement : block) {
    if (sets_self(statement, field)) return true;
  }
  return false;
}

const FunctionDef* method(const ClassDef& definition, std::string_view name) {
  for (const Stmt& statement : definition.body) {
    if (const auto* function = statement.get<FunctionDef>(); function && function->name == name) return function;
  }
  return nullptr;
}

// The default of an argument of __init__ that is stored, unchanged, under the same name.
const Expr* argument_default(const FunctionDef& init, const std::string& field) {
  bool stored = false;
  for (const Stmt& statement : init.body) {
    if (!sets_self(statement, field)) continue;
    const auto* assign = statement.get<Assign>();
    const auto* value = assign ? assign->value->get<Name>() : nullptr;
    if (!value || value->id != field || stored) return nullptr;
    stored = true;
  }
  if (!stored) return nullptr;
  const Parameters& parameters = init.parameters;
  const size_t plain = parameters.positional.size() - parameters.defaults.size();
  for (size_t i = plain; i < parameters.positional.size(); ++i) {
    if (parameters.positional[i].name == field) return parameters.defaults[i - plain].get();
  }
  for (size_t i = 0; i < parameters.keyword_only.size(); ++i) {
    if (parameters.keyword_only[i].name == field) return parameters.keyword_defaults[i].get();
  }
  return nullptr;
}

struct Field {
  const Expr* value = nullptr;
  bool computed = false;  // by __init__ or __post_init__: not read
};

Field find_field(const ClassDef& definition, const std::string& name) {
  Field field;
  for (const Stmt& statement : definition.body) {
    if (const auto* annotated = statement.get<AnnotatedAssign>()) {
      const auto* target = annotated->target->get<Name>();
      if (target && target->id == name && annotated->value) field.value = annotated->value.get();
    }
    if (const auto* assign = statement.get<Assign>(); assign && assign->targets.size() == 1) {
      const auto* target = assign->targets[0]->get<Name>();
      if (target && target->id == name) field.value = assign->value.get();
    }
  }
  if (const FunctionDef* init = method(definition, "__init__"); init && sets_self(init->body, name)) {
    field.value = argument_default(*init, name);
    field.computed = field.value == nullptr;
  }
  if (const FunctionDef* after = method(definition, "__post_init__"); after && sets_self(after->body, name)) {
    field.computed = true;
  }
  if (method(definition, name)) field.computed = true;
  return field;
}

// attribute_map = {"hidden_size": "d_model"}: another name for a field.
std::optional<std::string> other_name(const ClassDef& definition, const std::string& name) {
  for (const Stmt& statement : definition.body) {
    const auto* assign = statement.get<Assign>();
    const auto* annotated = statement.get<AnnotatedAssign>();
    const Expr* target = assign ? assign->targets[0].get() : annotated ? annotated->target.get() : nullptr;
    const Expr* value = assign ? assign->value.get() : annotated ? annotated->value.get() : nullptr;
    const auto* variable = target ? target->get<Name>() : nullptr;
    const auto* dict = value ? value->get<DictDisplay>() : nullptr;
    if (!variable || variable->id != "attribute_map" || !dict) continue;
    for (size_t i = 0; i < dict->keys.size(); ++i) {
      const auto* key = dict->keys[i] ? dict->keys[i]->get<Constant>() : nullptr;
      const auto* mapped = dict->values[i]->get<Constant>();
      const auto* from = key ? std::get_if<std::string>(&key->value) : nullptr;
      const auto* to = mapped ? std::get_if<std::string>(&mapped->value) : nullptr;
      if (from && to && *from == name) return *to;
    }
  }
  return std::nullopt;
}

// What a library's base class gives every configuration, by the published rules: num_labels.
const ValueRule* inherited_rule(const ClassDef& definition, const std::string& field) {
  const bool has_library_base = std::any_of(definition.bases.begin(), definition.bases.end(), [](const ExprPtr& base) {
    const auto* name = base->get<Name>();
    return name && (name->id == "PreTrainedConfig" || name->id == "PretrainedConfig");
  });
  const ValueRule* rule = has_library_base ? published_rules().value_of(field, definition.name) : nullptr;
  const bool exact = rule && std::find(rule->names.begin(), rule->names.end(), field) != rule->names.end();
  return exact && parse_integer(rule->value) ? rule : nullptr;
}

}  // namespace

bool configuration_has(const ConfigObject& config, const std::string& field) {
  if (config.fields.find(field)) return true;
  const std::string name = other_name(*config.definition, field).value_or(field);
  const Field found = find_field(*config.definition, name);
  return (found.value && !found.computed) || inherited_rule(*config.definition, name);
}

Result<std::optional<Value>> configuration_attribute(Interpreter& interpreter, ConfigObject& config,
                                                     const std::string& wanted) {
  const std::string name = other_name(*config.definition, wanted).value_or(wanted);
  for (const std::string& spelling : {wanted, name}) {
    if (const Value* known = config.fields.find(spelling)) return *known;
  }
  const Field field = find_field(*config.definition, name);
  if (field.computed) {
    return interpreter.refuse("the configuration's " + wanted + " is computed by " + config.name + " and not read",
                              "give it: --init config." + wanted + "=VALUE");
  }
  if (!field.value) {
    for (const ExprPtr& base : config.definition->bases) {
      const auto* base_name = base->get<Name>();
      if (!base_name || base_name->id == "PreTrainedConfig" || base_name->id == "PretrainedConfig") continue;
      KW_TRY(const Definition found, interpreter.packages_.definition(*config.module, base_name->id));
      if (!found.stub) continue;
      KW_TRY(const auto parent, make_configuration(interpreter.packages_, found));
      KW_TRY(auto inherited, configuration_attribute(interpreter, *parent, wanted));
      if (inherited) {
        config.fields.set(wanted, *inherited);
        return inherited;
      }
    }
    if (const ValueRule* rule = inherited_rule(*config.definition, name)) {
      interpreter.assume("config." + wanted, rule->value, "docs/assumptions.md: a field that configurations inherit");
      Value value{interpreter.size_named(wanted, *parse_integer(rule->value), SizeOrigin::Given)};
      config.fields.set(wanted, value);
      return value;
    }
    return std::optional<Value>();
  }
  KW_TRY(Value value, interpreter.evaluate_in(*config.module, *field.value));
  const std::string source = "the default of " + config.name;
  if (const auto* size = value.get<ir::Size>(); size && size->constant() && *size->constant() > 1) {
    interpreter.assume("config." + wanted, std::to_string(*size->constant()), source);
    value = Value{interpreter.size_named(wanted, *size->constant(), SizeOrigin::Given)};
  } else if (const auto* real = value.get<double>()) {
    interpreter.assume("config." + wanted, *interpreter.text_of(value), source);
    value = interpreter.make_scalar_input(wanted, *real);
  } else {
    const auto text = interpreter.text_of(value);
    interpreter.raised_.reset();
    interpreter.assume("config." + wanted, text ? *text : interpreter.type_name(value), source);
  }
  config.fields.set(wanted, value);
  return value;
}

Result<std::vector<Definition>> configuration_classes(Packages& packages, PythonModule& module) {
  std::vector<Definition> result;
  for (const Stmt& statement : module.file.body) {
    std::vector<std::string> names;
    if (const auto* import = statement.get<ImportFrom>()) {
      for (const Alias& alias : import->names) names.push_back(alias.as.value_or(alias.name));
    }
    if (const auto* stub = statement.get<Stub>(); stub && stub->is_class) names.push_back(stub->name);
    for (const std::string& name : names) {
      if (!name.ends_with("Config") || name == "PreTrainedConfig" || name == "PretrainedConfig") continue;
      KW_TRY(const Definition found, packages.definition(module, name));
      if (found.stub && found.stub->is_class) result.push_back(found);
    }
  }
  const auto is_known = [&](const Stub* stub) {
    return std::any_of(result.begin(), result.end(), [&](const Definition& d) { return d.stub == stub; });
  };
  for (size_t i = 0; i < result.size(); ++i) {
    PythonModule* const home = result[i].module;
    for (const Stub* stub : home->definitions()) {
      if (stub->is_class && stub->name.ends_with("Config") && !is_known(stub)) result.push_back({home, stub});
    }
  }
  return result;
}

Result<std::shared_ptr<ConfigObject>> make_configuration(Packages& packages, const Definition& definition) {
  KW_TRY(const Stmt* statement, packages.sources().definition(definition.module->file, *definition.stub));
  auto config = std::make_shared<ConfigObject>();
  config->name = definition.stub->name;
  config->module = definition.module;
  config->definition = statement->get<ClassDef>();
  KW_ASSERT(config->definition != nullptr, "a class stub stands for a class");
  return config;
}

}  // namespace kw::understand::python
