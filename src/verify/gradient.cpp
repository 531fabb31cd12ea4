#include "verify/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/hash.h"
#include "ir/interpreter/interpreter.h"
#include "verify/cases.h"

namespace kw::verify {
namespace {

using ir::NodeId;
using Arrays = std::map<std::string, ir::Array>;

constexpr int kDirections = 6;
constexpr double kStep = 1e-3;
// Five points err by about step⁴ · f⁗' / 30 and 1e-16 · |loss| / step; a wrong formula is off by far more than this.
constexpr double kTolerance = 1e-6;
const char* const kHeld = "__held";

bool moves(const ir::Input& input) { return input.kind != ir::InputKind::Scalar && input.type.floating(); }

Result<Arrays> run(const ir::Graph& graph, const ir::Environment& call) {
  KW_TRY(std::vector<ir::Array> outputs,
         ir::interpret(graph, part_for(graph, call), {.semantics = ir::Semantics::Real}));
  Arrays arrays;
  for (std::size_t i = 0; i < outputs.size(); ++i) arrays[graph.outputs[i].name] = std::move(outputs[i]);
  return arrays;
}

// What the cotangents make of the outputs.
double loss(const Subject& subject, const Arrays& outputs, const ir::Environment& call) {
  double sum = 0;
  for (const ir::Output& output : subject.forward.outputs) {
    const auto cotangent = call.inputs.find("d_" + output.name);
    if (cotangent == call.inputs.end()) continue;
    const std::vector<double>& values = outputs.at(output.name).values;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * cotangent->second.values[i];
  }
  return sum;
}

class GradientCheck {
 public:
  GradientCheck(const Subject& subject, ir::Environment call, std::uint64_t seed)
      : subject_(subject), held_(with_held_values(subject.forward)), call_(std::move(call)), dice_(seed) {
    for (const ir::Input& input : subject.forward.inputs)
      if (moves(input)) call_.inputs[input.name + kHeld] = call_.inputs.at(input.name);
  }

  Result<GradientEvidence> run_all() {
    KW_TRY(const Arrays joint, run(*subject_.joint, call_));
    KW_CHECK(compare(joint, "the derivative of the graph"));
    if (!subject_.approved_forward || !subject_.approved_backward || !evidence_.problem.empty()) return evidence_;
    KW_TRY(const Arrays forward, run(*subject_.approved_forward, call_));
    ir::Environment after = call_;
    for (const auto& [name, array] : forward) after.inputs[name] = array;
    KW_TRY(const Arrays backward, run(*subject_.approved_backward, after));
    KW_CHECK(compare(backward, "the backward of the profile"));
    return evidence_;
  }

 private:
  // Along one input at a time, so that a gradient that is given to the wrong input is seen, and once along all.
  Status compare(const Arrays& gradients, const std::string& whose) {
    std::vector<std::string> inputs;
    for (const ir::Input& input : subject_.forward.inputs)
      if (moves(input) && gradients.contains("grad_" + input.name)) inputs.push_back(input.name);
    for (int d = 0; d < kDirections + static_cast<int>(inputs.size()); ++d) {
      Arrays direction;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool alone = static_cast<std::size_t>(d) < inputs.size();
        if (alone && i != static_cast<std::size_t>(d)) continue;
        ir::Array along = call_.inputs.at(inputs[i]);
        for (double& value : along.values) value = 2 * dice_.uniform() - 1;
        direction[inputs[i]] = std::move(along);
      }
      KW_CHECK(compare_along(direction, gradients, whose));
      if (!evidence_.problem.empty()) break;
    }
    return {};
  }

  Status compare_along(const Arrays& direction, const Arrays& gradients, const std::string& whose) {
    double told = 0, scale = 0;
    for (const auto& [name, along] : direction) {
      const std::vector<double>& gradient = gradients.at("grad_" + name).values;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        told += gradient[i] * along.values[i];
        scale += std::fabs(gradient[i] * along.values[i]);
      }
    }
    KW_TRY(const double coarse, difference(direction, kStep));
    KW_TRY(const double fine, difference(direction, kStep / 8));
    const double size = std::max({scale, std::fabs(fine), 1e-6});
    if (!std::isfinite(fine) || std::fabs(coarse - fine) > kTolerance * size) {
      ++evidence_.at_kinks;
      return {};
    }
    ++evidence_.directions;
    const double off = std::fabs(fine - told) / size;
    evidence_.largest = std::max(evidence_.largest, std::isnan(off) ? HUGE_VAL : off);
    if (off <= 2 * kTolerance) return {};
    std::string along;
    for (const auto& [name, array] : direction) along += (along.empty() ? "" : ", ") + name;
    evidence_.problem =
        fmt::format("{} says {:.9g} along {}, and differences of the forward say {:.9g}", whose, told, along, fine);
    return {};
  }

  // The five-point rule.
  Result<double> difference(const Arrays& direction, double step) {
    double sum = 0;
    for (const auto& [at, weight] : {std::pair(-2, 1.0), std::pair(-1, -8.0), std::pair(1, 8.0), std::pair(2, -1.0)}) {
      ir::Environment moved = call_;
      for (const auto& [name, along] : direction) {
        std::vector<double>& values = moved.inputs.at(name).values;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += at * step * along.values[i];
      }
      KW_TRY(const Arrays outputs, run(held_, moved));
      sum += weight * loss(subject_, outputs, call_);
    }
    return sum / (12 * step);
  }

  const Subject& subject_;
  ir::Graph held_;
  ir::Environment call_;
  ir::random::Dice dice_;
  GradientEvidence evidence_;
};

}  // namespace

ir::Graph with_held_values(const ir::Graph& forward) {
  std::set<NodeId> held;  // everything that a stop_gradient rests on
  for (NodeId id = static_cast<NodeId>(forward.nodes.size()) - 1; id >= 0; --id) {
    const ir::Node& node = forward[id];
    if (node.op != ir::Op::StopGradient && !held.contains(id)) continue;
    held.insert(node.args.begin(), node.args.end());
  }
  if (held.empty()) return forward;
  ir::Graph start = forward;
  start.outputs.clear();
  ir::GraphBuilder builder(std::move(start));
  std::map<NodeId, NodeId> still, moved;
  for (const ir::Input& input : forward.inputs) {
    if (!moves(input) || !held.contains(input.node)) continue;
    ir::Input copy = input;
    copy.name += kHeld;
    still[input.node] = builder.input(std::move(copy));
  }
  const auto mapped = [](const std::map<NodeId, NodeId>& map, NodeId id) {
    const auto found = map.find(id);
    return found == map.end() ? id : found->second;
  };
  const auto remade = [&](const ir::Node& node, const std::map<NodeId, NodeId>& map) {
    std::vector<NodeId> args = node.args;
    for (NodeId& arg : args) arg = mapped(map, arg);
    return builder.make(node.op, std::move(args), node.attr);
  };
  for (NodeId id = 0; id < static_cast<NodeId>(forward.nodes.size()); ++id) {
    const ir::Node& node = forward[id];
    if (node.args.empty()) continue;
    if (held.contains(id)) still[id] = remade(node, still);
    moved[id] = node.op == ir::Op::StopGradient ? mapped(still, node.args[0]) : remade(node, moved);
  }
  for (const ir::Output& output : forward.outputs) {
    ir::Output copy = output;
    copy.node = mapped(moved, output.node);
    builder.output(std::move(copy));
  }
  return std::move(builder).finish();
}

Result<GradientEvidence> check_gradient(const Subject& subject, const kernel::Sizes& sizes, std::uint64_t seed) {
  GradientEvidence evidence;
  // Where ordinary values leave the function's domain, positive ones may not.
  for (const Values values : {Values::Ordinary, Values::Positive}) {
    Case c;
    c.sizes = sizes;
    c.values = values;
    c.seed = seed;
    for (const ir::TypeParameter& parameter : subject.forward.type_parameters) c.types[parameter.name] = ir::DType::F64;
    KW_TRY(ir::Environment call, values_of(subject, c));
    KW_TRY(const GradientEvidence found, GradientCheck(subject, std::move(call), seed).run_all());
    evidence.directions += found.directions;
    evidence.at_kinks += found.at_kinks;
    evidence.largest = std::max(evidence.largest, found.largest);
    if (evidence.problem.empty()) evidence.problem = found.problem;
  }
  return evidence;
}

}  // namespace kw::verify
