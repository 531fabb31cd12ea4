#include "profile/decision.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"

namespace kw::profile {
namespace {

using Text = std::optional<std::string>;

template <class Items, class Name>
std::vector<std::string> names_of(const Items& items, Name name) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.*name);
  return names;
}

const std::string* find_pair(const std::vector<NamedText>& pairs, std::string_view name) {
  for (const NamedText& pair : pairs)
    if (pair.first == name) return &pair.second;
  return nullptr;
}

const InputField* find_input(const Profile& profile, std::string_view name) {
  for (const InputField& input : profile.interface.inputs)
    if (input.name == name) return &input;
  return nullptr;
}

Text casting(const Profile& p, std::string_view) { return p.numerics.casting; }
Text wider(const Profile& p, std::string_view) { return list_text(p.numerics.wider); }
Text fp32(const Profile& p, std::string_view) { return list_text(p.numerics.fp32); }
Text accumulate(const Profile& p, std::string_view) { return p.numerics.accumulate; }
Text reassociate(const Profile& p, std::string_view) { return list_text(p.numerics.reassociate); }
Text deterministic(const Profile& p, std::string_view) { return p.numerics.deterministic ? "yes" : "no"; }
Text backward(const Profile& p, std::string_view) { return p.math.rule; }
Text saved(const Profile& p, std::string_view) { return list_text(names_of(p.math.saved, &SavedValue::name)); }
Text recomputed(const Profile& p, std::string_view) { return list_text(p.math.recomputed); }

Text aliases(const Profile& p, std::string_view) {
  std::vector<std::string> items;
  for (const Alias& alias : p.interface.aliases) items.push_back(alias.output + " in " + alias.input);
  return list_text(items);
}

Text layout_of(const Profile& p, std::string_view name) {
  for (const OutputField& output : p.interface.outputs)
    if (output.name == name && !output.layout.empty()) return output.layout;
  return std::nullopt;
}

Text mode(const Profile& p, std::string_view) { return p.source.options.eval ? "eval" : "train"; }

Text type_of(const Profile& p, std::string_view name) {
  if (const std::string* dtype = find_pair(p.interface.types, name)) return *dtype;
  // A tensor whose type is fixed (an index) has a decision of its own; the others share their type parameter's.
  const InputField* input = find_input(p, name);
  if (!input || input->kind == "scalar") return std::nullopt;
  for (const std::string& part : split(input->type, '|'))
    if (find_pair(p.interface.types, part)) return std::nullopt;
  return input->type;
}

Text shape_of(const Profile& p, std::string_view name) {
  const InputField* input = find_input(p, name);
  if (!input || input->kind == "scalar") return std::nullopt;
  return input->shape.empty() ? "scalar" : join(input->shape, ", ");
}

Text default_of(const Profile& p, std::string_view name) {
  const InputField* input = find_input(p, name);
  if (!input || input->kind != "scalar") return std::nullopt;
  return input->default_value.empty() ? "given by the caller" : input->default_value;
}

Text assumed(const Profile& p, std::string_view name) {
  const std::string* value = find_pair(p.interface.assumed, name);
  return value ? Text(*value) : std::nullopt;
}

Text gradients(const Profile& p, std::string_view) {
  std::vector<std::string> items;
  for (const InputField& input : p.interface.inputs)
    if (input.gradient) items.push_back(input.name);
  return list_text(items);
}

Text tier(const Profile& p, std::string_view) { return std::to_string(p.tier); }
Text closest(const Profile& p, std::string_view) { return p.closest; }
Text plan_forward(const Profile& p, std::string_view) { return plan_text(p.plan.forward); }
Text plan_backward(const Profile& p, std::string_view) {
  return p.plan.backward ? Text(plan_text(*p.plan.backward)) : std::nullopt;
}

Text reduce(const Profile& p, std::string_view name) {
  for (const WeightGradient& gradient : p.plan.weight_gradients)
    if (gradient.input == name) return gradient.how;
  return std::nullopt;
}

Text function_name(const Profile& p, std::string_view) { return p.names.function; }
Text module_name(const Profile& p, std::string_view) { return p.names.module; }
Text autograd_name(const Profile& p, std::string_view) { return p.names.autograd; }

Text parameters(const Profile& p, std::string_view) {
  std::vector<std::string> items;
  for (const ModuleParameter& parameter : p.module.parameters)
    items.push_back(parameter.name + "[" + join(parameter.shape, ", ") + "] = " + parameter.init);
  return list_text(items);
}

Text test_shapes(const Profile& p, std::string_view) { return shapes_text(p.shapes.test); }
Text measured_shapes(const Profile& p, std::string_view) { return shapes_text(p.shapes.measure); }
Text targets(const Profile& p, std::string_view) { return list_text(p.limits.targets); }
Text variants(const Profile& p, std::string_view) { return std::to_string(p.limits.variants); }
Text minutes(const Profile& p, std::string_view) { return std::to_string(p.limits.minutes); }
Text spills(const Profile& p, std::string_view) { return p.limits.spills ? "yes" : "no"; }
Text licence(const Profile& p, std::string_view) { return p.licence; }

constexpr std::array<DecisionKind, 33> kKinds = {{
    {"casting", Weight::Numbers, "where the normalised value is rounded", true, casting},
    {"wider", Weight::Numbers, "kept wider than PyTorch eager keeps it", true, wider},
    {"accumulate", Weight::Numbers, "type of running sums", true, accumulate},
    {"fp32", Weight::Numbers, "computed in fp32", false, fp32},
    {"reassociate", Weight::Numbers, "sums whose order is free", true, reassociate},
    {"deterministic", Weight::Numbers, "two runs agree to the bit", true, deterministic},
    {"backward", Weight::Numbers, "where the backward comes from", false, backward},
    {"saved", Weight::Memory, "kept from forward for backward", true, saved},
    {"recomputed", Weight::Memory, "computed again in backward", false, recomputed},
    {"aliases", Weight::Memory, "outputs that take an input's memory", true, aliases},
    {"layout.*", Weight::Memory, "how an output lies in memory", true, layout_of},
    {"mode", Weight::Interface, "read in training or evaluation mode", true, mode},
    {"type.*", Weight::Interface, "element type", true, type_of},
    {"shape.*", Weight::Interface, "shape", true, shape_of},
    {"value.*", Weight::Interface, "run-time scalar", true, default_of},
    {"assumed.*", Weight::Interface, "what the source leaves open", true, assumed},
    {"gradients", Weight::Interface, "inputs that get a gradient", false, gradients},
    {"parameters", Weight::Interface, "parameters of the module", false, parameters},
    {"name.function", Weight::Interface, "name of the function", true, function_name},
    {"name.module", Weight::Interface, "name of the module", true, module_name},
    {"name.autograd", Weight::Interface, "name of the autograd function", true, autograd_name},
    {"tier", Weight::Engine, "tier", false, tier},
    {"closest", Weight::Engine, "closest known kernel", true, closest},
    {"plan.forward", Weight::Engine, "schedule family of the forward", true, plan_forward},
    {"plan.backward", Weight::Engine, "schedule family of the backward", true, plan_backward},
    {"reduce.*", Weight::Engine, "how a gradient is summed over rows", true, reduce},
    {"shapes.test", Weight::Engine, "shapes to test", true, test_shapes},
    {"shapes.measure", Weight::Engine, "shapes to measure", true, measured_shapes},
    {"limits.targets", Weight::Engine, "targets to generate", true, targets},
    {"limits.variants", Weight::Engine, "variants that the search may try", true, variants},
    {"limits.minutes", Weight::Engine, "minutes that the search may take", true, minutes},
    {"limits.spills", Weight::Engine, "may a kernel spill registers", true, spills},
    {"licence", Weight::Engine, "licence of the generated files", true, licence},
}};

}  // namespace

std::span<const DecisionKind> decision_kinds() { return kKinds; }

const DecisionKind* find_kind(std::string_view id) {
  for (const DecisionKind& kind : kKinds) {
    if (kind.id == id) return &kind;
    if (kind.id.ends_with(".*") && id.starts_with(kind.id.substr(0, kind.id.size() - 1)) && id.size() >= kind.id.size())
      return &kind;
  }
  return nullptr;
}

std::string_view to_text(Weight weight) {
  static constexpr std::array<std::string_view, 4> kNames = {"numbers", "memory", "interface", "engine"};
  return kNames[static_cast<std::size_t>(weight)];
}

static constexpr std::array<std::string_view, 3> kSetBy = {"engine", "assumption", "user"};

std::string_view to_text(SetBy set_by) { return kSetBy[static_cast<std::size_t>(set_by)]; }

std::optional<SetBy> set_by_from_text(std::string_view text) {
  for (std::size_t i = 0; i < kSetBy.size(); ++i)
    if (kSetBy[i] == text) return static_cast<SetBy>(i);
  return std::nullopt;
}

std::string list_text(const std::vector<std::string>& items) { return items.empty() ? "none" : join(items, ", "); }

std::string plan_text(const PassPlan& plan) {
  std::string text = plan.family;
  for (const std::string& fallback : plan.fallbacks) text += ", then " + fallback;
  return text;
}

std::string shape_text(const Shape& shape) {
  std::vector<std::string> parts;
  for (const auto& [symbol, size] : shape) parts.push_back(symbol + "=" + std::to_string(size));
  return parts.empty() ? "the only one" : join(parts, " ");
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::vector<std::string> parts;
  for (const Shape& shape : shapes) parts.push_back(shape_text(shape));
  return list_text(parts);
}

std::vector<std::string> expected_decisions(const Profile& profile) {
  std::vector<std::string> ids;
  for (const DecisionKind& kind : kKinds) {
    if (!kind.id.ends_with(".*")) {
      if (kind.field(profile, {})) ids.emplace_back(kind.id);
      continue;
    }
    std::vector<std::string> names;
    for (const NamedText& type : profile.interface.types) names.push_back(type.first);
    for (const InputField& input : profile.interface.inputs) names.push_back(input.name);
    for (const OutputField& output : profile.interface.outputs) names.push_back(output.name);
    for (const NamedText& assumed : profile.interface.assumed) names.push_back(assumed.first);
    std::set<std::string> seen;
    for (const std::string& name : names)
      if (seen.insert(name).second && kind.field(profile, name))
        ids.push_back(std::string(kind.id.substr(0, kind.id.size() - 1)) + name);
  }
  return ids;
}

std::optional<std::string> resolve_decision(const Profile& profile, std::string_view word) {
  std::vector<std::string> matches;
  for (const std::string& id : expected_decisions(profile)) {
    if (id == word) return id;
    if (id.ends_with("." + std::string(word))) matches.push_back(id);
  }
  if (matches.size() == 1) return matches[0];
  return std::nullopt;
}

const Decision* Profile::find(const std::string& id) const {
  for (const Decision& decision : decisions)
    if (decision.id == id) return &decision;
  return nullptr;
}

}  // namespace kw::profile
