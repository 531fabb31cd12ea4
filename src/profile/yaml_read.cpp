#include <yaml-cpp/yaml.h>

#include "base/document.h"
#include "base/text.h"
#include "profile/check.h"
#include "profile/decision.h"
#include "profile/yaml.h"

namespace kw::profile {
namespace {

// The document is valid by its schema here: keys that are required exist, kinds and numbers are what they should be.

std::string text(const YAML::Node& node) { return node ? node.Scalar() : std::string(); }
bool truth(const YAML::Node& node, bool otherwise = false) { return node ? node.Scalar() == "true" : otherwise; }
int number(const YAML::Node& node) { return static_cast<int>(*parse_integer(node.Scalar())); }

std::vector<std::string> texts(const YAML::Node& node) {
  std::vector<std::string> items;
  if (node)
    for (const auto& item : node) items.push_back(item.Scalar());
  return items;
}

std::vector<NamedText> named_texts(const YAML::Node& node) {
  std::vector<NamedText> items;
  if (node)
    for (const auto& entry : node) items.emplace_back(entry.first.Scalar(), entry.second.Scalar());
  return items;
}

std::map<std::string, std::string> text_map(const YAML::Node& node) {
  const std::vector<NamedText> items = named_texts(node);
  return {items.begin(), items.end()};
}

Shape shape(const YAML::Node& node) {
  Shape sizes;
  for (const auto& entry : node) sizes.emplace_back(entry.first.Scalar(), *parse_integer(entry.second.Scalar()));
  return sizes;
}

template <class Row>
auto rows(const YAML::Node& node, Row row) {
  std::vector<decltype(row(node))> items;
  for (const auto& item : node) items.push_back(row(item));
  return items;
}

Source read_source(const YAML::Node& node) {
  const YAML::Node options = node["options"];
  ReadingOptions reading;
  if (options)
    reading = {truth(options["eval"]), text_map(options["shape"]), text_map(options["dtype"]),
               text_map(options["init"])};
  return {text(node["kind"]),  text(node["file"]),   text(node["entry"]),
          text(node["given"]), text(node["sha256"]), reading};
}

Interface read_interface(const YAML::Node& node) {
  return {named_texts(node["types"]),
          shape(node["sizes"]),
          texts(node["constraints"]),
          rows(node["inputs"],
               [](const YAML::Node& n) {
                 return InputField{text(n["name"]),   text(n["kind"]),    text(n["type"]),
                                   texts(n["shape"]), text(n["default"]), truth(n["gradient"])};
               }),
          rows(node["outputs"],
               [](const YAML::Node& n) {
                 return OutputField{text(n["name"]), text(n["type"]), texts(n["shape"]), text(n["updates"]),
                                    text(n["layout"])};
               }),
          rows(node["aliases"],
               [](const YAML::Node& n) {
                 return Alias{text(n["output"]), text(n["input"])};
               }),
          named_texts(node["assumed"])};
}

Math read_math(const YAML::Node& node) {
  Math math;
  math.forward = text(node["forward"]);
  math.read = node["read"] ? text(node["read"]) : math.forward;
  math.backward = text(node["backward"]);
  math.rule = text(node["rule"]);
  math.saved = rows(node["saved"], [](const YAML::Node& n) {
    return SavedValue{text(n["name"]), text(n["kind"]), text(n["type"]), texts(n["shape"])};
  });
  math.recomputed = texts(node["recomputed"]);
  return math;
}

Memory read_memory(const YAML::Node& node) {
  const auto bytes = [&](const char* key) { return *parse_integer(node[key].Scalar()); };
  return {bytes("kept"),       bytes("forward_peak"),       bytes("backward_peak"),
          bytes("eager_kept"), bytes("eager_forward_peak"), bytes("eager_backward_peak")};
}

Numerics read_numerics(const YAML::Node& node) {
  return {text(node["accumulate"]), text(node["casting"]),      texts(node["fp32"]),
          texts(node["wider"]),     texts(node["reassociate"]), truth(node["deterministic"])};
}

PassPlan read_pass(const YAML::Node& node) {
  return {text(node["family"]), texts(node["over"]), number(node["stages"]), texts(node["fallbacks"])};
}

Plan read_plan(const YAML::Node& node) {
  Plan plan;
  plan.forward = read_pass(node["forward"]);
  if (node["backward"]) plan.backward = read_pass(node["backward"]);
  plan.weight_gradients = rows(node["weight_gradients"], [](const YAML::Node& n) {
    return WeightGradient{text(n["input"]), texts(n["over"]), text(n["how"])};
  });
  return plan;
}

Module read_module(const YAML::Node& node) {
  return {rows(node["parameters"],
               [](const YAML::Node& n) {
                 return ModuleParameter{text(n["name"]), texts(n["shape"]), text(n["type"]), text(n["init"])};
               }),
          named_texts(node["arguments"])};
}

Decision read_decision(const YAML::Node& node) {
  return {text(node["id"]),
          text(node["value"]),
          text(node["because"]),
          text(node["at"]),
          texts(node["instead_of"]),
          text(node["if_wrong"]),
          set_by_from_text(text(node["set_by"])).value_or(SetBy::Engine)};
}

}  // namespace

Result<Profile> from_yaml(std::string_view yaml, const std::string& file) {
  KW_TRY(const Document document, Document::load(yaml, file, "schema/profile.schema.json", kSchemaVersion));
  const YAML::Node& root = document.root();
  Profile profile;
  try {
    profile.name = text(root["name"]);
    const YAML::Node names = root["names"];
    profile.names = {text(names["function"]), text(names["module"]), text(names["autograd"])};
    profile.source = read_source(root["source"]);
    profile.tier = number(root["tier"]);
    profile.closest = text(root["closest"]);
    profile.interface = read_interface(root["interface"]);
    profile.math = read_math(root["math"]);
    profile.memory = read_memory(root["memory"]);
    profile.numerics = read_numerics(root["numerics"]);
    profile.plan = read_plan(root["plan"]);
    profile.module = read_module(root["module"]);
    const YAML::Node shapes = root["shapes"];
    profile.shapes = {rows(shapes["test"], shape), rows(shapes["measure"], shape)};
    const YAML::Node limits = root["limits"];
    profile.limits = {number(limits["variants"]), number(limits["minutes"]), truth(limits["spills"]),
                      texts(limits["targets"])};
    profile.licence = text(root["licence"]);
    profile.decisions = rows(root["decisions"], read_decision);
  } catch (const YAML::Exception& error) {
    return Failure(document.error_at(error.mark.line + 1, error.mark.column + 1, "not YAML: " + error.msg));
  }
  KW_CHECK(check(profile, document));
  return profile;
}

}  // namespace kw::profile
