#include "profile/check.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "ir/layout.h"
#include "profile/decision.h"
#include "profile/format.h"

namespace kw::profile {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Checker {
 public:
  Checker(const Profile& profile, const Document& document)
      : profile_(profile), document_(document), root_(document.root()) {}

  Status run() const {
    KW_CHECK(interface());
    KW_CHECK(plan());
    KW_CHECK(module());
    KW_CHECK(shapes());
    KW_CHECK(decisions());
    return check_math(profile_, document_);
  }

 private:
  Failure wrong(const YAML::Node& node, std::string message, std::string hint = {}) const {
    return Failure(document_.error_at(node, std::move(message), std::move(hint)));
  }

  Names input_names() const {
    Names names;
    for (const InputField& input : profile_.interface.inputs) names.push_back(input.name);
    return names;
  }

  Status interface() const {
    const Interface& interface = profile_.interface;
    const YAML::Node inputs = root_["interface"]["inputs"];
    std::set<std::string> seen;
    for (std::size_t i = 0; i < interface.inputs.size(); ++i) {
      const InputField& input = interface.inputs[i];
      if (!seen.insert(input.name).second)
        return wrong(inputs[i]["name"], fmt::format("there are two inputs '{}'", input.name));
      if (input.kind == "scalar" && !input.shape.empty()) return wrong(inputs[i]["shape"], "a scalar has no shape");
      if (input.kind != "scalar" && !inputs[i]["shape"])
        return wrong(inputs[i], fmt::format("'shape' is missing in input '{}'", input.name));
      if (input.kind != "scalar" && !input.default_value.empty())
        return wrong(inputs[i]["default"], "only a scalar has a default");
      if (input.kind == "scalar" && input.gradient)
        return wrong(inputs[i]["gradient"], "a run-time scalar gets no gradient");
    }
    const YAML::Node outputs = root_["interface"]["outputs"];
    for (std::size_t i = 0; i < interface.outputs.size(); ++i) {
      const OutputField& output = interface.outputs[i];
      if (!seen.insert(output.name).second)
        return wrong(outputs[i]["name"], fmt::format("'{}' is the name of another input or output", output.name));
      if (std::string why = layout_flaw(output); !why.empty()) return wrong(outputs[i]["layout"], why);
      if (!output.updates.empty()) {
        const auto buffer = std::find_if(interface.inputs.begin(), interface.inputs.end(), [&](const InputField& f) {
          return f.name == output.updates && f.kind == "buffer";
        });
        if (buffer == interface.inputs.end())
          return wrong(outputs[i]["updates"], fmt::format("there is no buffer '{}'", output.updates));
      }
    }
    return {};
  }

  std::string layout_flaw(const OutputField& output) const {
    if (output.layout.empty()) return {};
    const auto layout = ir::parse_layout(output.layout);
    if (!layout) return layout.error().message;
    return ir::layout_flaw(layout->like, output.shape.size(),
                           [&](const std::string& name) -> std::optional<std::size_t> {
                             for (const InputField& input : profile_.interface.inputs)
                               if (input.name == name && input.kind != "scalar") return input.shape.size();
                             return std::nullopt;
                           });
  }

  Status plan() const {
    const YAML::Node node = root_["plan"];
    const bool differentiated = profile_.math.rule != "none";
    if (profile_.plan.backward && !differentiated)
      return wrong(node["backward"], "a plan for a backward that the math does not have");
    if (!profile_.plan.backward && differentiated) return wrong(node, "'backward' is missing in 'plan'");
    const YAML::Node gradients = node["weight_gradients"];
    for (std::size_t i = 0; i < profile_.plan.weight_gradients.size(); ++i) {
      const std::string& name = profile_.plan.weight_gradients[i].input;
      const auto found = std::find_if(profile_.interface.inputs.begin(), profile_.interface.inputs.end(),
                                      [&](const InputField& f) { return f.name == name; });
      if (found == profile_.interface.inputs.end())
        return wrong(gradients[i]["input"], fmt::format("there is no input '{}'", name),
                     did_you_mean(name, input_names()));
      if (!found->gradient) return wrong(gradients[i]["input"], fmt::format("input '{}' gets no gradient", name));
    }
    return {};
  }

  Status module() const {
    Names expected;
    for (const InputField& input : profile_.interface.inputs)
      if (input.kind == "parameter") expected.push_back(input.name);
    const YAML::Node parameters = root_["module"]["parameters"];
    for (std::size_t i = 0; i < profile_.module.parameters.size(); ++i) {
      const ModuleParameter& parameter = profile_.module.parameters[i];
      const auto input =
          std::find_if(profile_.interface.inputs.begin(), profile_.interface.inputs.end(),
                       [&](const InputField& f) { return f.name == parameter.name && f.kind == "parameter"; });
      if (input == profile_.interface.inputs.end())
        return wrong(parameters[i]["name"], fmt::format("'{}' is no parameter of the interface", parameter.name));
      if (input->shape != parameter.shape)
        return wrong(parameters[i]["shape"],
                     fmt::format("the interface gives '{}' the shape [{}]", parameter.name, join(input->shape, ", ")));
      if (input->type != parameter.type)
        return wrong(parameters[i]["type"],
                     fmt::format("the interface gives '{}' the type {}", parameter.name, input->type));
      std::erase(expected, parameter.name);
    }
    if (!expected.empty())
      return wrong(parameters, fmt::format("parameter '{}' of the interface is missing", expected[0]));
    return {};
  }

  Status shapes() const {
    Names symbols;
    for (const auto& [symbol, _] : profile_.interface.sizes) symbols.push_back(symbol);
    for (const char* list : {"test", "measure"}) {
      const YAML::Node rows = root_["shapes"][list];
      for (const auto& row : rows) {
        for (const auto& entry : row)
          if (!has(symbols, entry.first.Scalar()))
            return wrong(entry.first, fmt::format("the interface has no size '{}'", entry.first.Scalar()),
                         did_you_mean(entry.first.Scalar(), symbols));
        for (const std::string& symbol : symbols)
          if (!row[symbol]) return wrong(row, fmt::format("size '{}' is missing in this shape", symbol));
      }
    }
    return {};
  }

  Status decisions() const {
    const YAML::Node nodes = root_["decisions"];
    const Names expected = expected_decisions(profile_);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < profile_.decisions.size(); ++i) {
      const Decision& decision = profile_.decisions[i];
      if (!has(expected, decision.id))
        return wrong(nodes[i]["id"], fmt::format("there is nothing to decide under '{}'", decision.id),
                     did_you_mean(decision.id, expected));
      if (!seen.insert(decision.id).second)
        return wrong(nodes[i]["id"], fmt::format("'{}' is decided twice", decision.id));
      const DecisionKind& kind = *find_kind(decision.id);
      const std::string name = kind.id.ends_with(".*") ? decision.id.substr(kind.id.size() - 1) : "";
      const std::optional<std::string> field = kind.field(profile_, name);
      if (field && *field != decision.value)
        return wrong(nodes[i]["value"],
                     fmt::format("decision '{}' says '{}', but its field says '{}'", decision.id,
                                 shortened(decision.value), shortened(*field)),
                     fmt::format("change it with `kw set {} {}=VALUE`, which keeps the two in step", profile_.name,
                                 decision.id));
    }
    for (const std::string& id : expected)
      if (!seen.contains(id)) return wrong(nodes, fmt::format("decision '{}' is missing", id));
    return {};
  }

  const Profile& profile_;
  const Document& document_;
  const YAML::Node& root_;
};

}  // namespace

Status check(const Profile& profile, const Document& document) { return Checker(profile, document).run(); }

}  // namespace kw::profile
