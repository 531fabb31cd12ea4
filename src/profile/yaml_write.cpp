#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "profile/decision.h"
#include "profile/yaml.h"
#include "profile/yaml_text.h"

namespace kw::profile {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string bool_text(bool value) { return value ? "true" : "false"; }

std::string shape_mapping(const Shape& shape) {
  Entries entries;
  for (const auto& [symbol, size] : shape) entries.emplace_back(symbol, std::to_string(size));
  return yaml_mapping(entries);
}

template <class Pairs>
std::string named_texts(const Pairs& pairs) {
  Entries entries;
  for (const auto& [name, text] : pairs) entries.emplace_back(name, yaml_scalar(text, true));
  return yaml_mapping(entries);
}

// A list of one-line mappings; an empty one is [].
template <class Items, class Row>
void rows(YamlText& out, std::string_view key, const Items& items, Row row) {
  if (items.empty()) return out.raw(key, "[]");
  out.open(key);
  for (const auto& item : items) out.raw_item(row(item));
  out.close();
}

void write_source(YamlText& out, const Source& source) {
  out.open("source");
  out.value("kind", source.kind);
  out.value("file", source.file);
  if (!source.entry.empty()) out.value("entry", source.entry);
  out.value("given", source.given);
  out.value("sha256", source.sha256);
  const ReadingOptions& options = source.options;
  if (options != ReadingOptions{}) {
    out.open("options");
    if (options.eval) out.raw("eval", "true");
    if (!options.shape.empty()) out.raw("shape", named_texts(options.shape));
    if (!options.dtype.empty()) out.raw("dtype", named_texts(options.dtype));
    if (!options.init.empty()) out.raw("init", named_texts(options.init));
    out.close();
  }
  out.close();
}

std::string input_row(const InputField& input) {
  Entries entries = {
      {"name", yaml_scalar(input.name, true)}, {"kind", input.kind}, {"type", yaml_scalar(input.type, true)}};
  if (input.kind != "scalar") entries.emplace_back("shape", yaml_list(input.shape));
  if (!input.default_value.empty()) entries.emplace_back("default", yaml_scalar(input.default_value, true));
  if (input.gradient) entries.emplace_back("gradient", "true");
  return yaml_mapping(entries);
}

std::string output_row(const OutputField& output) {
  Entries entries = {{"name", yaml_scalar(output.name, true)},
                     {"type", yaml_scalar(output.type, true)},
                     {"shape", yaml_list(output.shape)}};
  if (!output.layout.empty()) entries.emplace_back("layout", yaml_scalar(output.layout, true));
  if (!output.updates.empty()) entries.emplace_back("updates", yaml_scalar(output.updates, true));
  return yaml_mapping(entries);
}

void write_interface(YamlText& out, const Interface& interface) {
  out.open("interface");
  out.raw("types", named_texts(interface.types));
  out.raw("sizes", shape_mapping(interface.sizes));
  if (!interface.constraints.empty()) out.raw("constraints", yaml_list(interface.constraints));
  rows(out, "inputs", interface.inputs, input_row);
  rows(out, "outputs", interface.outputs, output_row);
  if (!interface.assumed.empty()) out.raw("assumed", named_texts(interface.assumed));
  rows(out, "aliases", interface.aliases, [](const Alias& alias) {
    return yaml_mapping({{"output", yaml_scalar(alias.output, true)}, {"input", yaml_scalar(alias.input, true)}});
  });
  out.close();
}

void write_math(YamlText& out, const Math& math) {
  out.open("math");
  if (math.read != math.forward) {
    out.comment("As read, before any simplification: what the kernel is judged against.");
    out.block("read", math.read);
  }
  out.block("forward", math.forward);
  if (!math.backward.empty()) out.block("backward", math.backward);
  out.value("rule", math.rule);
  rows(out, "saved", math.saved, [](const SavedValue& saved) {
    return yaml_mapping({{"name", yaml_scalar(saved.name, true)},
                         {"kind", saved.kind},
                         {"type", yaml_scalar(saved.type, true)},
                         {"shape", yaml_list(saved.shape)}});
  });
  out.raw("recomputed", yaml_list(math.recomputed));
  out.close();
}

void write_memory(YamlText& out, const Memory& memory) {
  out.comment("Bytes at the sizes above, parameters left out; the figures of eager are estimates.");
  out.raw("memory", yaml_mapping({{"kept", std::to_string(memory.kept)},
                                  {"forward_peak", std::to_string(memory.forward_peak)},
                                  {"backward_peak", std::to_string(memory.backward_peak)},
                                  {"eager_kept", std::to_string(memory.eager_kept)},
                                  {"eager_forward_peak", std::to_string(memory.eager_forward_peak)},
                                  {"eager_backward_peak", std::to_string(memory.eager_backward_peak)}}));
}

void write_numerics(YamlText& out, const Numerics& numerics) {
  out.open("numerics");
  out.value("accumulate", numerics.accumulate);
  out.value("casting", numerics.casting);
  out.raw("fp32", yaml_list(numerics.fp32));
  out.raw("wider", yaml_list(numerics.wider));
  out.raw("reassociate", yaml_list(numerics.reassociate));
  out.raw("deterministic", bool_text(numerics.deterministic));
  out.close();
}

std::string pass_row(const PassPlan& pass) {
  return yaml_mapping({{"family", pass.family},
                       {"over", yaml_list(pass.over)},
                       {"stages", std::to_string(pass.stages)},
                       {"fallbacks", yaml_list(pass.fallbacks)}});
}

void write_plan(YamlText& out, const Plan& plan) {
  out.open("plan");
  out.raw("forward", pass_row(plan.forward));
  if (plan.backward) out.raw("backward", pass_row(*plan.backward));
  rows(out, "weight_gradients", plan.weight_gradients, [](const WeightGradient& gradient) {
    return yaml_mapping(
        {{"input", yaml_scalar(gradient.input, true)}, {"over", yaml_list(gradient.over)}, {"how", gradient.how}});
  });
  out.close();
}

void write_module(YamlText& out, const Module& module) {
  out.open("module");
  rows(out, "parameters", module.parameters, [](const ModuleParameter& parameter) {
    return yaml_mapping({{"name", yaml_scalar(parameter.name, true)},
                         {"shape", yaml_list(parameter.shape)},
                         {"type", yaml_scalar(parameter.type, true)},
                         {"init", yaml_scalar(parameter.init, true)}});
  });
  out.raw("arguments", named_texts(module.arguments));
  out.close();
}

void write_decision(YamlText& out, const Decision& decision) {
  out.item();
  out.value("id", decision.id);
  out.prose("value", decision.value);
  out.prose("because", decision.because);
  if (!decision.at.empty()) out.value("at", decision.at);
  if (!decision.instead_of.empty()) out.raw("instead_of", yaml_list(decision.instead_of));
  out.prose("if_wrong", decision.if_wrong);
  if (decision.set_by != SetBy::Engine) out.value("set_by", to_text(decision.set_by));
  out.end_item();
}

std::string write(const Profile& profile, bool with_comments) {
  YamlText out(with_comments);
  out.comment(
      fmt::format("The profile of {0}. `kw review {0}` shows it on one page; `kw set {0} ID=VALUE` changes a decision\n"
                  "and what follows from it; `kw approve {0}` approves it. Comments may be edited freely.",
                  profile.name));
  out.raw("schema", std::to_string(kSchemaVersion));
  out.blank();
  out.value("name", profile.name);
  out.raw("names", yaml_mapping({{"function", profile.names.function},
                                 {"module", profile.names.module},
                                 {"autograd", profile.names.autograd}}));
  write_source(out, profile.source);
  out.blank();
  out.comment("1: element-wise with views; 2: with reductions; 3: anything else.");
  out.raw("tier", std::to_string(profile.tier));
  out.value("closest", profile.closest);
  out.blank();
  write_interface(out, profile.interface);
  out.blank();
  write_math(out, profile.math);
  out.blank();
  write_memory(out, profile.memory);
  out.blank();
  write_numerics(out, profile.numerics);
  out.blank();
  write_plan(out, profile.plan);
  out.blank();
  write_module(out, profile.module);
  out.blank();
  out.open("shapes");
  rows(out, "test", profile.shapes.test, shape_mapping);
  rows(out, "measure", profile.shapes.measure, shape_mapping);
  out.close();
  out.blank();
  out.comment("What a person allows the search to spend and to do.");
  out.raw("limits", yaml_mapping({{"variants", std::to_string(profile.limits.variants)},
                                  {"minutes", std::to_string(profile.limits.minutes)},
                                  {"spills", bool_text(profile.limits.spills)},
                                  {"targets", yaml_list(profile.limits.targets)}}));
  out.value("licence", profile.licence);
  out.blank();
  if (profile.decisions.empty()) {
    out.raw("decisions", "[]");
  } else {
    out.open("decisions");
    for (std::size_t i = 0; i < profile.decisions.size(); ++i) {
      if (i > 0) out.blank();
      write_decision(out, profile.decisions[i]);
    }
    out.close();
  }
  return std::move(out).take();
}

}  // namespace

std::string to_yaml(const Profile& profile) { return write(profile, true); }
std::string canonical_text(const Profile& profile) { return write(profile, false); }
std::string canonical_hash(const Profile& profile) { return sha256_hex(canonical_text(profile)); }

}  // namespace kw::profile
