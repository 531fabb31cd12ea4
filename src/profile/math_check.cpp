// The math of a profile against its interface, its saved values and itself.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "profile/check.h"
#include "profile/format.h"
#include "profile/same_math.h"

namespace kw::profile {
namespace {

using ir::Graph;

std::vector<std::string> shape_of(const Graph& graph, const std::vector<ir::AxisId>& dims) {
  std::vector<std::string> sizes;
  for (const ir::AxisId axis : dims) sizes.push_back(axis == ir::kUnit ? "1" : graph.size_text(graph.axis(axis).size));
  return sizes;
}

std::string signature(const std::string& type, const std::vector<std::string>& shape) {
  return type + "[" + join(shape, ", ") + "]";
}

class MathChecker {
 public:
  MathChecker(const Profile& profile, const Document& document)
      : profile_(profile), document_(document), math_(document.root()["math"]) {}

  Status run() {
    const char* read_key = math_["read"] ? "read" : "forward";
    KW_TRY(read_, parse(math_[read_key], profile_.math.read));
    KW_TRY(forward_, parse(math_["forward"], profile_.math.forward));
    KW_CHECK(interface());
    KW_CHECK(forward());
    KW_CHECK(saved());
    if (profile_.math.rule == "none") {
      if (!profile_.math.backward.empty()) return wrong(math_["rule"], "the rule is none, but there is a backward");
      if (!profile_.math.saved.empty())
        return wrong(math_["saved"], "the rule is none, but values are saved for a backward");
      return same_forward();
    }
    if (profile_.math.backward.empty()) return wrong(math_, "'backward' is missing in 'math'");
    KW_TRY(backward_, parse(math_["backward"], profile_.math.backward));
    KW_CHECK(backward());
    KW_CHECK(same_forward());
    return same_backward();
  }

 private:
  Failure wrong(const YAML::Node& node, std::string message, std::string hint = {}) const {
    return Failure(document_.error_at(node, std::move(message), std::move(hint)));
  }

  Result<Graph> parse(const YAML::Node& node, const std::string& text) const {
    Result<Graph> graph = ir::text::parse(text, document_.file());
    if (graph) return graph;
    const Error& error = graph.error();
    const int line = error.place ? error.place->line : 0;
    const int column = error.place ? error.place->column : 0;
    return Failure(document_.error_in_block(node, line, column, error.message, error.hint));
  }

  Status interface() const {
    const YAML::Node node = document_.root()["interface"];
    const Interface& interface = profile_.interface;
    if (interface.inputs.size() != read_.inputs.size())
      return wrong(node["inputs"], fmt::format("the math has {} inputs, the interface {}", read_.inputs.size(),
                                               interface.inputs.size()));
    for (std::size_t i = 0; i < interface.inputs.size(); ++i) {
      const InputField& field = interface.inputs[i];
      const ir::Input& input = read_.inputs[i];
      const YAML::Node at = node["inputs"][i];
      if (field.name != input.name)
        return wrong(at["name"], fmt::format("input {} of the math is '{}'", i + 1, input.name));
      static constexpr std::array<std::string_view, 4> kKinds = {"tensor", "parameter", "buffer", "scalar"};
      const std::string_view kind = kKinds[static_cast<std::size_t>(input.kind)];
      const bool scalar = input.kind == ir::InputKind::Scalar;
      if (field.kind != kind) return wrong(at["kind"], fmt::format("in the math '{}' is a {}", field.name, kind));
      if (const std::string type = ir::text::type_text(read_, input.type); field.type != type)
        return wrong(at["type"], fmt::format("in the math '{}' has type {}", field.name, type));
      if (const auto shape = shape_of(read_, input.dims); field.shape != shape)
        return wrong(scalar ? at : at["shape"],
                     fmt::format("in the math '{}' has shape [{}]", field.name, join(shape, ", ")));
      const std::string standard = input.default_value ? ir::text::literal_text(*input.default_value) : "";
      if (field.default_value != standard)
        return wrong(at["default"] ? at["default"] : at,
                     fmt::format("in the math '{}' {}", field.name,
                                 standard.empty() ? "has no default" : "is " + standard + " by default"));
    }
    if (interface.outputs.size() != read_.outputs.size())
      return wrong(node["outputs"], fmt::format("the math has {} outputs, the interface {}", read_.outputs.size(),
                                                interface.outputs.size()));
    for (std::size_t i = 0; i < interface.outputs.size(); ++i) {
      const OutputField& field = interface.outputs[i];
      const ir::Output& output = read_.outputs[i];
      const std::string here = signature(field.type, field.shape);
      const std::string there =
          signature(ir::text::type_text(read_, read_[output.node].type), shape_of(read_, output.dims));
      if (field.name != output.name)
        return wrong(node["outputs"][i]["name"], fmt::format("output {} of the math is '{}'", i + 1, output.name));
      if (here != there) return wrong(node["outputs"][i], fmt::format("in the math '{}' is {}", field.name, there));
    }
    return names(node);
  }

  // Types and sizes that the interface lists are those of the math.
  Status names(const YAML::Node& node) const {
    std::set<std::string> types;
    std::set<std::string> sizes;
    for (const ir::TypeParameter& type : read_.type_parameters) types.insert(type.name);
    for (const ir::Symbol& symbol : read_.symbols) sizes.insert(symbol.name);
    for (const NamedText& type : profile_.interface.types)
      if (types.erase(type.first) == 0)
        return wrong(node["types"], fmt::format("the math has no type '{}'", type.first));
    for (const auto& [size, _] : profile_.interface.sizes)
      if (sizes.erase(size) == 0) return wrong(node["sizes"], fmt::format("the math has no size '{}'", size));
    if (!types.empty()) return wrong(node["types"], fmt::format("type '{}' of the math is missing", *types.begin()));
    if (!sizes.empty()) return wrong(node["sizes"], fmt::format("size '{}' of the math is missing", *sizes.begin()));
    return {};
  }

  // The forward takes what the op takes, and gives what the op gives and then what is written for the backward.
  Status forward() const {
    std::vector<std::string> expected;
    for (const ir::Output& output : read_.outputs) expected.push_back(output.name);
    for (const SavedValue& saved : profile_.math.saved)
      if (saved.kind == "value") expected.push_back(saved.name);
    std::vector<std::string> found;
    for (const ir::Output& output : forward_.outputs) found.push_back(output.name);
    if (found != expected)
      return wrong(math_["forward"], fmt::format("the forward returns {}, but outputs and saved values are {}",
                                                 all_of(found), all_of(expected)));
    for (const ir::Input& input : forward_.inputs)
      if (!read_.find_input(input.name))
        return wrong(math_["forward"],
                     fmt::format("the forward takes '{}', which the interface does not have", input.name));
    return {};
  }

  Status saved() const {
    for (std::size_t i = 0; i < profile_.math.saved.size(); ++i) {
      const SavedValue& saved = profile_.math.saved[i];
      const YAML::Node at = math_["saved"][i];
      std::string there;
      if (const ir::Input* input = saved.kind == "input" ? read_.find_input(saved.name) : nullptr)
        there = signature(ir::text::type_text(read_, input->type), shape_of(read_, input->dims));
      if (saved.kind != "input")
        for (const ir::Output& output : forward_.outputs)
          if (output.name == saved.name)
            there =
                signature(ir::text::type_text(forward_, forward_[output.node].type), shape_of(forward_, output.dims));
      if (there.empty())
        return wrong(at["name"], fmt::format("the math has no {} '{}' that could be saved",
                                             saved.kind == "value" ? "value" : saved.kind, saved.name));
      if (signature(saved.type, saved.shape) != there)
        return wrong(at, fmt::format("in the math '{}' is {}", saved.name, there));
    }
    return {};
  }

  Status backward() const {
    std::set<std::string> given;
    for (const SavedValue& saved : profile_.math.saved) given.insert(saved.name);
    for (const ir::Output& output : read_.outputs) given.insert("d_" + output.name);
    for (const ir::Input& input : read_.inputs)
      if (input.kind == ir::InputKind::Scalar) given.insert(input.name);
    for (const ir::Input& input : backward_.inputs)
      if (!given.contains(input.name))
        return wrong(
            math_["backward"],
            fmt::format("the backward takes '{}', which is neither saved nor the gradient of an output", input.name));
    for (std::size_t i = 0; i < profile_.math.saved.size(); ++i)
      if (!backward_.find_input(profile_.math.saved[i].name))
        return wrong(math_["saved"][i]["name"],
                     fmt::format("'{}' is saved, but the backward does not take it", profile_.math.saved[i].name));
    std::vector<std::string> expected;
    for (const InputField& input : profile_.interface.inputs)
      if (input.gradient) expected.push_back("grad_" + input.name);
    std::vector<std::string> found;
    for (const ir::Output& output : backward_.outputs) found.push_back(output.name);
    std::vector<std::string> sorted = found;
    std::sort(sorted.begin(), sorted.end());
    std::sort(expected.begin(), expected.end());
    if (sorted != expected)
      return wrong(math_["backward"], fmt::format("the backward returns {}, but the interface asks for {}",
                                                  all_of(found), all_of(expected)));
    return {};
  }

  // The smallest shape to test that is neither empty nor all ones.
  SizeOf small_sizes() const {
    const Shape* smallest = nullptr;
    double fewest = 0;
    for (const Shape& shape : profile_.shapes.test) {
      double count = 1;
      for (const auto& [_, size] : shape) count *= static_cast<double>(size);
      if (count <= 1 || (smallest && count >= fewest)) continue;
      smallest = &shape;
      fewest = count;
    }
    if (!smallest) return {};
    return {smallest->begin(), smallest->end()};
  }

  Status same_forward() const {
    const std::optional<std::string> difference = forward_difference(read_, forward_, small_sizes());
    if (!difference) return {};
    return wrong(math_["forward"], "the forward is not the math as read: " + *difference,
                 "change the source and read it again; the forward follows from it");
  }

  Status same_backward() const {
    const std::optional<std::string> difference = backward_difference(read_, forward_, backward_, small_sizes());
    if (!difference) return {};
    return wrong(math_["backward"], "the backward is not the derivative of the forward: " + *difference,
                 "it follows from the forward; `kw understand` writes it");
  }

  const Profile& profile_;
  const Document& document_;
  const YAML::Node math_;
  Graph read_;
  Graph forward_;
  Graph backward_;
};

}  // namespace

Status check_math(const Profile& profile, const Document& document) { return MathChecker(profile, document).run(); }

}  // namespace kw::profile
