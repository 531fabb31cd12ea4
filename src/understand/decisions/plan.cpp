// The plan per pass: which schedule family, what to fall back to, and how gradients that are summed over rows are
// reduced.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "ir/text/display_names.h"
#include "profile/decision.h"
#include "profile/format.h"
#include "schedule/family.h"
#include "understand/decisions/deciders.h"

namespace kw::understand {
namespace {

using ir::NodeId;
using ir::Op;

std::vector<std::string> axis_names(const ir::Graph& graph, const std::vector<ir::AxisId>& axes) {
  std::vector<std::string> names;
  const ir::text::DisplayNames display(graph);
  for (const ir::AxisId axis : axes) names.push_back(display.axes[static_cast<std::size_t>(axis)]);
  return names;
}

Result<profile::PassPlan> plan_pass(Subject& subject, const std::string& id, const ir::Graph& pass) {
  std::vector<schedule::Choice> choices = schedule::choices(pass);
  if (const std::string* pin = subject.pinned(id)) {
    const std::string wanted(trim(split(*pin, ',')[0]));
    const auto at = std::find_if(choices.begin(), choices.end(), [&](const schedule::Choice& choice) {
      return schedule::to_text(choice.family) == wanted;
    });
    if (at == choices.end()) {
      std::vector<std::string> serving;
      for (const schedule::Choice& choice : choices) serving.emplace_back(schedule::to_text(choice.family));
      const std::optional<schedule::Family> family = schedule::family_from_text(wanted);
      return bad_value(id, wanted, profile::any_of(serving),
                       family ? schedule::may_serve(*family, pass).because : did_you_mean(wanted, serving));
    }
    std::rotate(choices.begin(), at, at + 1);
  }
  profile::PassPlan plan;
  const schedule::Choice& first = choices[0];
  plan.family = schedule::to_text(first.family);
  plan.over = axis_names(pass, first.service.over);
  plan.stages = first.service.stages;
  for (std::size_t i = 1; i < choices.size(); ++i) plan.fallbacks.emplace_back(schedule::to_text(choices[i].family));
  subject.record({id, profile::plan_text(plan), first.service.because, subject.at(pass, first.service.at),
                  plan.fallbacks,
                  "the result is the same, but the kernel reads memory more often than it must, or a row does not fit "
                  "where it is kept"});
  return plan;
}

// How the gradient of one input is put together, read off the node that sums it.
struct Reduction {
  NodeId node = ir::kNoNode;
  std::vector<ir::AxisId> over;
  std::string how;  // column, contraction or scatter; fused where the family can carry it
};

Reduction reduction_behind(const ir::Graph& pass, NodeId node) {
  while (true) {
    const ir::Node& n = pass[node];
    const ir::OpKind kind = ir::info(n.op).kind;
    if (n.op == Op::Contract) return {node, n.as<ir::AxisList>().axes, "contraction"};
    if (n.op == Op::ScatterAdd || n.op == Op::SegmentSum || n.op == Op::Fold) return {node, {}, "scatter"};
    if (kind == ir::OpKind::Reduction && std::holds_alternative<ir::AxisList>(n.attr))
      return {node, n.as<ir::AxisList>().axes, "column"};
    const bool passes = n.op == Op::Cast || n.op == Op::Neg || kind == ir::OpKind::View;
    if (n.args.empty() || (!passes && kind != ir::OpKind::Pointwise)) return {};
    if (passes) {
      node = n.args[0];
      continue;
    }
    // A pointwise tail (a scaling of the sum): go on along the operand that is not a number, if it is the only one.
    std::vector<NodeId> tensors;
    for (const NodeId arg : n.args)
      if (!pass[arg].axes.empty()) tensors.push_back(arg);
    if (tensors.size() != 1) return {};
    node = tensors[0];
  }
}

Status decide_weight_gradients(Subject& subject) {
  const ir::Graph& pass = subject.math.backward_pass;
  const bool carries =
      subject.profile.plan.backward->family == "row" || subject.profile.plan.backward->family == "column";
  for (const profile::InputField& input : subject.profile.interface.inputs) {
    if (!input.gradient) continue;
    const auto output = std::find_if(pass.outputs.begin(), pass.outputs.end(),
                                     [&](const ir::Output& o) { return o.name == "grad_" + input.name; });
    if (output == pass.outputs.end()) continue;
    Reduction reduction = reduction_behind(pass, output->node);
    if (reduction.node == ir::kNoNode) continue;
    // A sum that leaves all of the input's axes but runs along rows is a statistic of the pass, not a gradient's own
    // sum.
    std::string how = reduction.how;
    const std::vector<std::string> over = axis_names(pass, reduction.over);
    std::string because;
    std::vector<std::string> possible;
    if (how == "column") {
      possible = {"fused", "column", "atomic"};
      how = carries ? "fused" : "column";
      because = fmt::format(
          "{} lacks {}: its gradient is a sum over them. Each block keeps a partial sum beside its rows, a second step "
          "adds the partial sums in a fixed order",
          input.name, profile::all_of(over));
      if (!carries)
        because = fmt::format("{} lacks {}: its gradient is a sum over them, in two deterministic stages of its own",
                              input.name, profile::all_of(over));
    } else if (how == "contraction") {
      possible = {"contraction"};
      because = fmt::format("the gradient is itself a sum of products over {}", profile::all_of(over));
    } else {
      possible = {"scatter", "atomic"};
      because =
          "rows that were read by index send their gradients back to it; equal indices are summed in a fixed order";
    }
    const std::string id = "reduce." + input.name;
    if (const std::string* pin = subject.pinned(id)) {
      if (std::find(possible.begin(), possible.end(), *pin) == possible.end())
        return bad_value(id, *pin, profile::any_of(possible));
      if (*pin == "atomic" && subject.profile.numerics.deterministic)
        return bad_value(id, *pin, "another one while the profile asks for deterministic results",
                         fmt::format("first: kw set {} deterministic=no", subject.profile.name));
      how = *pin;
    }
    std::erase(possible, how);
    subject.profile.plan.weight_gradients.push_back({input.name, over, how});
    subject.record(
        {id, how, because, subject.at(pass, reduction.node), possible,
         "atomic additions give other last bits on every run; a pass of its own reads the gradient a second time"});
  }
  return {};
}

}  // namespace

Status decide_plan(Subject& subject) {
  KW_TRY(subject.profile.plan.forward,
         plan_pass(subject, "plan.forward",
                   subject.math.differentiable ? subject.math.forward_pass : subject.math.forward));
  if (!subject.math.differentiable) return {};
  KW_TRY(subject.profile.plan.backward, plan_pass(subject, "plan.backward", subject.math.backward_pass));
  return decide_weight_gradients(subject);
}

}  // namespace kw::understand
