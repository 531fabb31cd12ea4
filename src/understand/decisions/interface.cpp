// The decisions about the interface: types, shapes, run-time scalars, gradients, the module's parameters.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ir/text/print.h"
#include "profile/decision.h"
#include "profile/format.h"
#include "understand/decisions/deciders.h"
#include "understand/decisions/field_text.h"

namespace kw::understand {
namespace {

std::string kind_text(ir::InputKind kind) {
  static constexpr std::array<const char*, 4> kNames = {"tensor", "parameter", "buffer", "scalar"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string constraint_text(const ir::Graph& graph, const ir::SizeConstraint& constraint) {
  const std::string left = graph.size_text(constraint.left);
  const std::string right = graph.size_text(constraint.right);
  return constraint.kind == ir::SizeConstraint::Kind::Equal ? left + " == " + right : left + " % " + right + " == 0";
}

void fill_interface(Subject& subject) {
  const ir::Graph& graph = subject.math.read;
  profile::Interface& interface = subject.profile.interface;
  for (const ir::TypeParameter& parameter : graph.type_parameters)
    interface.types.emplace_back(parameter.name, std::string(ir::info(parameter.default_dtype).name));
  for (const ir::Symbol& symbol : graph.symbols)
    interface.sizes.emplace_back(symbol.name, symbol.hint.value_or(kUnhinted));
  for (const ir::SizeConstraint& constraint : graph.constraints)
    interface.constraints.push_back(constraint_text(graph, constraint));
  for (const ir::Input& input : graph.inputs) {
    const bool tensor = input.kind == ir::InputKind::Tensor || input.kind == ir::InputKind::Parameter;
    interface.inputs.push_back(
        {input.name, kind_text(input.kind), ir::text::type_text(graph, input.type), shape_texts(graph, input.dims),
         input.default_value ? ir::text::literal_text(*input.default_value) : "",
         tensor && input.differentiable && input.type.floating() && subject.math.differentiable});
  }
  for (const ir::Output& output : graph.outputs)
    interface.outputs.push_back({output.name, ir::text::type_text(graph, graph[output.node].type),
                                 shape_texts(graph, output.dims), output.updates.value_or("")});
}

// A decision that the source or a published rule settled.
void record_read(Subject& subject, const std::string& id, const std::string& value, ir::NodeId node,
                 std::string otherwise, std::string if_wrong) {
  const Assumed* assumption = subject.assumed(id);
  subject.record(
      {id,
       value,
       assumption ? assumption->because : std::move(otherwise),
       assumption && assumption->place.line > 0 ? subject.at(assumption->place) : subject.at(subject.math.read, node),
       {},
       std::move(if_wrong),
       assumption ? profile::SetBy::Assumption : profile::SetBy::Engine});
}

void decide_types(Subject& subject) {
  const ir::Graph& graph = subject.math.read;
  for (std::size_t i = 0; i < graph.type_parameters.size(); ++i) {
    const ir::TypeParameter& parameter = graph.type_parameters[i];
    std::vector<std::string> tensors;
    ir::NodeId first = ir::kNoNode;
    for (const ir::Input& input : graph.inputs)
      if (input.type.params() & (1u << i)) {
        tensors.push_back(input.name);
        if (first == ir::kNoNode) first = input.node;
      }
    const std::string id = "type." + parameter.name;
    // The reader assumes types per tensor; the parameter is assumed if one of its tensors is.
    const Assumed* assumption = subject.assumed(id);
    for (const std::string& tensor : tensors)
      if (!assumption) assumption = subject.assumed("type." + tensor);
    std::string because = fmt::format("{} {} this type; the kernel serves the other floating types too",
                                      profile::all_of(tensors), tensors.size() == 1 ? "has" : "have");
    if (assumption) because += "; assumed: " + assumption->because;
    std::vector<std::string> others;
    for (const char* name : {"bf16", "f16", "f32"})
      if (ir::info(parameter.default_dtype).name != name) others.emplace_back(name);
    subject.record({id, std::string(ir::info(parameter.default_dtype).name), because,
                    assumption && assumption->place.line > 0 ? subject.at(assumption->place) : subject.at(graph, first),
                    others, "tests, bounds and measurements would be taken in a type that you do not use",
                    assumption ? profile::SetBy::Assumption : profile::SetBy::Engine});
  }
  for (const ir::Input& input : graph.inputs)
    if (input.kind != ir::InputKind::Scalar && input.type.concrete())
      record_read(subject, "type." + input.name, ir::text::type_text(graph, input.type), input.node,
                  "the source gives this type", "the kernel would read another type than the tensor has, or refuse it");
}

void decide_tensors(Subject& subject) {
  const ir::Graph& graph = subject.math.read;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ir::Input& input = graph.inputs[i];
    if (input.kind == ir::InputKind::Scalar) continue;
    const std::vector<std::string> shape = shape_texts(graph, input.dims);
    record_read(subject, "shape." + input.name, shape.empty() ? "scalar" : join(shape, ", "), input.node,
                "the source gives this shape; sizes stay symbolic",
                "the kernel would index another layout than the tensor has, or refuse it");
  }
  for (const ir::Input& input : graph.inputs)
    if (input.kind == ir::InputKind::Scalar) {
      const std::string value =
          input.default_value ? ir::text::literal_text(*input.default_value) : "given by the caller";
      record_read(subject, "value." + input.name, value, input.node,
                  "a number that the source names stays an argument at run time",
                  "a number baked into the kernel would have to be compiled again for every other value");
    }
}

constexpr std::string_view kAssumed = "assumed.";

void record_assumed(Subject& subject, const std::string& id, const std::string& value, const std::string& because,
                    const std::string& at) {
  subject.profile.interface.assumed.emplace_back(id.substr(kAssumed.size()), value);
  subject.record({id,
                  value,
                  because,
                  at,
                  {},
                  "the math that was read is that of another configuration than yours",
                  profile::SetBy::Assumption});
}

// Whatever else the reader had to assume: a constructor's argument, a field of a configuration, an absent package.
void decide_assumed(Subject& subject) {
  for (const Assumed& assumption : subject.reading.assumptions) {
    if (!assumption.about.starts_with(kAssumed)) continue;
    record_assumed(subject, assumption.about, assumption.value, assumption.because, subject.at(assumption.place));
  }
  // What a person has given is assumed no more, and stays decided.
  for (const auto& [id, value] : subject.pins)
    if (id.starts_with(kAssumed) && !subject.assumed(id))
      record_assumed(subject, id, value, "the source leaves it open", {});
}

void decide_gradients(Subject& subject) {
  std::vector<std::string> with;
  std::vector<std::string> without;
  for (const profile::InputField& input : subject.profile.interface.inputs) {
    if (input.kind == "scalar") continue;
    (input.gradient ? with : without).push_back(input.name);
  }
  std::string because = with.empty() ? "no input is floating and reaches a floating output"
                                     : "every floating tensor and parameter gets one";
  if (!without.empty() && !with.empty())
    because += fmt::format("; {} {} not", profile::all_of(without), without.size() == 1 ? "does" : "do");
  subject.record({"gradients",
                  profile::list_text(with),
                  because,
                  "",
                  {},
                  "a missing gradient stops training of what lies before it; a superfluous one costs time and memory"});
}

std::string initial_value(const Subject& subject, const std::string& name) {
  const auto found = subject.reading.initial_values.find(name);
  return found == subject.reading.initial_values.end() || found->second.empty() ? "given by the caller" : found->second;
}

void decide_parameters(Subject& subject) {
  profile::Module& module = subject.profile.module;
  for (const profile::InputField& input : subject.profile.interface.inputs) {
    if (input.kind == "parameter")
      module.parameters.push_back({input.name, input.shape, input.type, initial_value(subject, input.name)});
    if (input.kind == "scalar" && !input.default_value.empty())
      module.arguments.emplace_back(input.name, input.default_value);
  }
  ir::NodeId first = ir::kNoNode;
  for (const ir::Input& input : subject.math.read.inputs)
    if (input.kind == ir::InputKind::Parameter && first == ir::kNoNode) first = input.node;
  const profile::DecisionKind& kind = *profile::find_kind("parameters");
  subject.record({"parameters",
                  *kind.field(subject.profile, {}),
                  module.parameters.empty() ? "the source makes no parameters: the module holds none"
                                            : "the source's constructor makes them so",
                  subject.at(subject.math.read, first),
                  {},
                  "a checkpoint of the original would not load, or training would start from another point"});
}

}  // namespace

Status decide_interface(Subject& subject) {
  fill_interface(subject);
  const bool eval = subject.profile.source.options.eval;
  subject.record({"mode",
                  eval ? "eval" : "train",
                  eval ? "asked for with --eval: running statistics are used, dropout is off"
                       : "modules are read in training mode unless --eval asks otherwise; both modes are the same "
                         "where nothing depends on it",
                  "",
                  {eval ? "train" : "eval"},
                  "batch statistics or dropout would be there that should not be, or the other way round"});
  decide_types(subject);
  decide_tensors(subject);
  decide_assumed(subject);
  decide_gradients(subject);
  decide_parameters(subject);
  return {};
}

}  // namespace kw::understand
