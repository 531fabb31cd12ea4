// The decisions that change memory: what the backward takes from the forward, and what may share memory.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "ir/text/print.h"
#include "profile/columns.h"
#include "profile/decision.h"
#include "profile/format.h"
#include "profile/review.h"
#include "understand/decisions/deciders.h"
#include "understand/decisions/field_text.h"
#include "understand/decisions/saving.h"

namespace kw::understand {
namespace {

using ir::NodeId;
using ir::Op;

// x + stop_gradient(f(x) - x): the value of f, the gradient of x.
bool is_straight_through(const ir::Graph& graph, NodeId stop) {
  const ir::Node& inner = graph[graph[stop].args[0]];
  if (inner.op != Op::Sub) return false;
  for (const ir::Node& node : graph.nodes)
    if (node.op == Op::Add && (node.args[0] == stop || node.args[1] == stop))
      if (node.args[0] == inner.args[1] || node.args[1] == inner.args[1]) return true;
  return false;
}

void decide_backward(Subject& subject) {
  const ir::Graph& graph = subject.math.forward;
  std::string rule = subject.math.differentiable ? "derivative" : "none";
  std::string because = subject.math.differentiable ? "the backward is the derivative of the forward, taken on the math"
                                                    : "no floating input reaches a floating output";
  NodeId at = ir::kNoNode;
  if (subject.math.differentiable)
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (graph.nodes[i].op == Op::StopGradient && at == ir::kNoNode) {
        at = static_cast<NodeId>(i);
        if (is_straight_through(graph, at)) {
          rule = "straight-through";
          because =
              "the source adds what it detached: the forward takes the new value, the gradient passes as if it were "
              "the old";
        } else {
          because = "the backward is the derivative of the forward; the source stops the gradient in one place";
        }
      }
  subject.profile.math.rule = rule;
  subject.record({"backward",
                  rule,
                  because,
                  subject.at(at),
                  {},
                  "the model would train towards something else than the source says"});
}

// The shape of a saved value: an input's is the interface's own, where sizes that must be equal may still have two
// names.
std::vector<std::string> shape_of(const Derived& math, const ir::SavedValue& saved) {
  if (saved.as == ir::SavedAs::Input) {
    const ir::Input* input = math.read.find_input(saved.name);
    KW_ASSERT(input != nullptr, "a saved input is an input");
    return shape_texts(math.read, input->dims);
  }
  for (const ir::Output& output : math.forward_pass.outputs)
    if (output.name == saved.name) return shape_texts(math.forward_pass, output.dims);
  KW_ASSERT(false, "the forward returns what it saves");
}

void decide_saved(Subject& subject) {
  std::vector<std::string> names;
  std::vector<std::string> written;
  std::string at;
  if (subject.math.differentiable) {
    for (const ir::SavedValue& saved : subject.math.partition.saved) {
      const char* kind = saved.as == ir::SavedAs::Input    ? "input"
                         : saved.as == ir::SavedAs::Output ? "output"
                                                           : "value";
      subject.profile.math.saved.push_back(
          {saved.name, kind, ir::text::type_text(subject.math.joint, subject.math.joint[saved.node].type),
           shape_of(subject.math, saved)});
      names.push_back(saved.name);
      if (saved.as == ir::SavedAs::Intermediate) {
        written.push_back(saved.name);
        if (at.empty()) at = subject.at(subject.math.joint, saved.node);
      }
    }
  }
  std::string because = "there is no backward to save for";
  if (subject.math.differentiable && names.empty()) because = "the gradient needs nothing of the forward";
  if (!names.empty())
    because = fmt::format("the cheapest cut between forward and backward by counted bytes at your shape: {} moved; {}",
                          profile::bytes_text(subject.math.partition.moved_bytes),
                          written.empty() ? "only tensors that exist anyway are kept"
                                          : "only " + profile::all_of(written) + " " +
                                                (written.size() == 1 ? "is" : "are") + " written for it");
  subject.record({"saved", profile::list_text(names), because, at,
                  subject.math.differentiable ? saving_choices(subject.math) : std::vector<std::string>{},
                  "more than needed costs memory in every layer until the backward; less costs a pass over the data"});
}

// What the backward computes before any gradient comes in, as its text shows it. What has full size is worth a word;
// casts and factors per row or per column are not.
std::vector<ir::text::ValueLine> recomputed_lines(const ir::Graph& backward) {
  std::vector<bool> waits(backward.nodes.size(), false);
  std::size_t most_axes = 0;
  for (std::size_t i = 0; i < backward.nodes.size(); ++i) {
    const ir::Node& node = backward.nodes[i];
    most_axes = std::max(most_axes, node.axes.size());
    if (node.op == Op::Input)
      waits[i] = backward.inputs[static_cast<std::size_t>(node.as<ir::InputRef>().index)].name.starts_with("d_");
    for (const NodeId arg : node.args) waits[i] = waits[i] || waits[static_cast<std::size_t>(arg)];
  }
  std::vector<ir::text::ValueLine> lines;
  for (ir::text::ValueLine& line : ir::text::value_lines(backward)) {
    const ir::Node& node = backward[line.node];
    const bool computes =
        ir::info(node.op).kind != ir::OpKind::Leaf && ir::info(node.op).kind != ir::OpKind::View && node.op != Op::Cast;
    if (computes && !waits[static_cast<std::size_t>(line.node)] && node.axes.size() == most_axes)
      lines.push_back(std::move(line));
  }
  return lines;
}

void decide_recomputed(Subject& subject) {
  std::vector<std::string> names;
  std::string at;
  if (subject.math.differentiable)
    for (const ir::text::ValueLine& line : recomputed_lines(subject.math.backward_pass)) {
      // A value without a name of its own is shown by what it is.
      const std::string text = line.name.starts_with('_') ? line.value : line.name;
      if (profile::columns(text) <= 60) names.push_back(text);
      if (at.empty()) at = subject.at(subject.math.backward_pass, line.node);
    }
  subject.profile.math.recomputed = names;
  subject.record({"recomputed",
                  profile::list_text(names),
                  names.empty() ? "nothing of full size is computed twice"
                                : "element-wise from what is saved: cheaper than writing and reading it",
                  at,
                  {},
                  "an expensive value computed again slows the backward; a cheap one saved costs memory"});
}

struct Candidate {
  std::string output, input;
};

// Pairs that could share memory: same type and shape, and the input is not needed afterwards.
std::vector<Candidate> alias_candidates(const Subject& subject) {
  std::vector<Candidate> found;
  if (!subject.math.differentiable) return found;
  const ir::Graph& pass = subject.math.backward_pass;
  for (const ir::Output& output : pass.outputs)
    for (const ir::Input& input : pass.inputs)
      if (input.name.starts_with("d_") && input.dims == output.dims && !input.dims.empty() &&
          input.type == pass[output.node].type)
        found.push_back({output.name, input.name});
  return found;
}

Status decide_aliases(Subject& subject) {
  const std::vector<Candidate> candidates = alias_candidates(subject);
  std::vector<std::string> others;
  for (const Candidate& candidate : candidates) others.push_back(candidate.output + " in " + candidate.input);
  if (const std::string* pin = subject.pinned("aliases"); pin && *pin != "none")
    for (const std::string& part : split(*pin, ',')) {
      const std::string wanted(trim(part));
      const auto at = std::find(others.begin(), others.end(), wanted);
      if (at == others.end())
        return bad_value(
            "aliases", wanted,
            others.empty() ? "none: no output has an input's type and shape" : profile::any_of(others) + ", or none");
      const Candidate& candidate = candidates[static_cast<std::size_t>(at - others.begin())];
      subject.profile.interface.aliases.push_back({candidate.output, candidate.input});
    }
  std::vector<std::string> chosen;
  for (const profile::Alias& alias : subject.profile.interface.aliases)
    chosen.push_back(alias.output + " in " + alias.input);
  std::vector<std::string> instead = others;
  for (const std::string& name : chosen) std::erase(instead, name);
  subject.record(
      {"aliases", profile::list_text(chosen),
       others.empty()
           ? "no output has the type and shape of an input that is free afterwards"
           : fmt::format("autograd may hand the same {} to another branch of the model, so it is not overwritten",
                         candidates[0].input),
       "", instead,
       "an overwritten tensor gives wrong gradients elsewhere, without an error; a separate one costs its size in "
       "memory"});
  return {};
}

}  // namespace

Status decide_memory(Subject& subject) {
  decide_backward(subject);
  decide_saved(subject);
  decide_recomputed(subject);
  return decide_aliases(subject);
}

}  // namespace kw::understand
