// The decisions that change numbers: where values are rounded, what runs in fp32, which sums may be regrouped.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ir/text/print.h"
#include "profile/decision.h"
#include "profile/format.h"
#include "understand/decisions/casting.h"
#include "understand/decisions/deciders.h"
#include "understand/decisions/widen.h"

namespace kw::understand {
namespace {

using ir::NodeId;
using ir::Op;

bool is_accumulation(Op op) {
  static constexpr std::array kOps = {Op::Sum,        Op::Mean,    Op::Prod,    Op::LogSumExp,    Op::Reduce,
                                      Op::CumSum,     Op::CumProd, Op::Scan,    Op::CumLogSumExp, Op::SegmentSum,
                                      Op::ScatterAdd, Op::Fold,    Op::Contract};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

// Operations whose result in bf16 or fp16 would be off by more than a rounding, or whose range does not fit.
bool is_sensitive(Op op) {
  static constexpr std::array kOps = {Op::Sqrt,  Op::Rsqrt,  Op::Exp,     Op::Exp2,  Op::Expm1, Op::Log,   Op::Log2,
                                      Op::Log1p, Op::Sin,    Op::Cos,     Op::Tan,   Op::Asin,  Op::Acos,  Op::Atan,
                                      Op::Sinh,  Op::Cosh,   Op::Tanh,    Op::Asinh, Op::Acosh, Op::Atanh, Op::Erf,
                                      Op::Erfc,  Op::Erfinv, Op::Sigmoid, Op::Div,   Op::Pow,   Op::Atan2};
  return is_accumulation(op) || std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

bool is_real_tensor(const ir::Node& node) { return node.type.floating() && !node.type.weak(); }

Status decide_casting(Subject& subject) {
  const Casting casting = casting_of(subject.view);
  subject.profile.numerics.casting = casting.mode;
  std::string because;
  NodeId at = casting.normalised;
  if (casting.normalised == ir::kNoNode) {
    because = "nothing is normalised by a statistic of itself: every operation rounds where PyTorch's own does";
  } else if (casting.mode == "none") {
    because = fmt::format("'{}' is computed in the input's own type: the source has no cast to a wider one",
                          subject.describe(at));
  } else if (casting.mode == "llama") {
    at = casting.rounded;
    because =
        fmt::format("the normalised value is computed wide and rounded to {} before the product with the weight{}",
                    ir::text::type_text(subject.math.forward, subject.math.forward[at].type),
                    subject.at(casting.weighted).empty() ? "" : " (" + subject.at(casting.weighted) + ")");
  } else {
    if (casting.rounded != ir::kNoNode) at = casting.rounded;
    because = casting.rounded == ir::kNoNode ? "the normalised value stays wide to the end and is never rounded"
              : casting.weighted == ir::kNoNode
                  ? "the normalised value is computed wide and rounded once, at the end; no weight follows"
                  : fmt::format(
                        "the normalised value stays wide through the product with the weight{} and is rounded once, at "
                        "the end",
                        subject.at(casting.weighted).empty() ? "" : " (" + subject.at(casting.weighted) + ")");
  }
  std::vector<std::string> others = {"llama", "gemma", "none"};
  std::erase(others, casting.mode);
  if (casting.normalised == ir::kNoNode) others.clear();
  subject.record({"casting", casting.mode, because, subject.at(at), others,
                  "results differ from the source's in the last bit or two of bf16 and fp16, and a model drifts from "
                  "its reference"});
  return {};
}

// Names for `wider`: the source's own; a value without a name is named by what it is and where.
std::vector<std::string> candidate_names(const Subject& subject, const std::vector<NodeId>& values) {
  std::vector<std::string> names;
  for (const NodeId value : values)
    if (const auto name = subject.math.forward.names.find(value); name != subject.math.forward.names.end())
      if (std::find(names.begin(), names.end(), name->second) == names.end()) names.push_back(name->second);
  return names;
}

Status decide_wider(Subject& subject) {
  // What a person widened is in the graph already (decide.cpp); here it is only named.
  const std::string* pin = subject.pinned("wider");
  std::vector<std::string> value;
  if (pin && *pin != "none")
    for (const std::string& name : split(*pin, ',')) value.emplace_back(trim(name));
  subject.profile.numerics.wider = value;

  const std::vector<NodeId> rounded = rounded_values(subject.math.forward);
  NodeId statistic = ir::kNoNode;
  for (const NodeId node : rounded)
    if (statistic == ir::kNoNode && subject.view.is_reduction(subject.view.behind_casts(node))) statistic = node;
  std::string because;
  if (rounded.empty())
    because = "eager rounds no intermediate value: there is nothing to keep wider";
  else
    because = fmt::format(
        "eager rounds {} on the way, and the kernel rounds at the same {}, so the two can be compared to the bit",
        rounded.size() == 1 ? "one value" : fmt::format("{} values", rounded.size()),
        rounded.size() == 1 ? "place" : "places");
  if (statistic != ir::kNoNode)
    because += fmt::format("; one of them is a statistic ({}{}), which loses most", subject.describe(statistic),
                           subject.at(statistic).empty() ? "" : ", " + subject.at(statistic));
  std::vector<std::string> others = candidate_names(subject, rounded);
  if (!rounded.empty()) others.emplace_back("all");
  if (!value.empty()) others.emplace_back("none");
  for (const std::string& name : value) std::erase(others, name);
  subject.record({"wider", profile::list_text(value), because,
                  subject.at(statistic != ir::kNoNode ? statistic
                             : rounded.empty()        ? ir::kNoNode
                                                      : rounded[0]),
                  others,
                  "wider than eager is more exact but not what the source computes; narrower is less exact than it"});
  return {};
}

Status decide_accumulate(Subject& subject) {
  NodeId first = ir::kNoNode;
  for (const ir::Graph* graph : {&subject.math.forward})
    for (std::size_t i = 0; i < graph->nodes.size() && first == ir::kNoNode; ++i)
      if (is_accumulation(graph->nodes[i].op) && is_real_tensor(graph->nodes[i])) first = static_cast<NodeId>(i);
  bool in_backward = false;
  if (first == ir::kNoNode && subject.math.differentiable)
    for (const ir::Node& node : subject.math.backward_pass.nodes)
      in_backward = in_backward || (is_accumulation(node.op) && is_real_tensor(node));
  bool is_double = false;
  for (const ir::TypeParameter& parameter : subject.math.forward.type_parameters)
    is_double = is_double || parameter.default_dtype == ir::DType::F64;
  for (const ir::Input& input : subject.math.forward.inputs)
    is_double = is_double || (input.type.concrete() && input.type.floor() == ir::DType::F64);

  std::string value = is_double ? "f64" : "f32";
  std::string because = fmt::format("running sums are kept in the type that PyTorch accumulates in ({})",
                                    first != ir::kNoNode ? subject.describe(first) : "the gradients' sums");
  if (first == ir::kNoNode && !in_backward) {
    value = "none";
    because = "nothing is summed, neither forward nor backward";
  }
  std::vector<std::string> others = value == "none"  ? std::vector<std::string>{}
                                    : value == "f32" ? std::vector<std::string>{"f64"}
                                                     : std::vector<std::string>{"f32"};
  if (const std::string* pin = subject.pinned("accumulate")) {
    if (value == "none" || (*pin != "f32" && *pin != "f64"))
      return bad_value("accumulate", *pin, value == "none" ? "none, as nothing is summed" : "f32 or f64");
    if (value == "f64" && *pin == "f32") return bad_value("accumulate", *pin, "f64, as the tensors are f64");
    value = *pin;
  }
  subject.profile.numerics.accumulate = value;
  subject.record(
      {"accumulate", value, because, subject.at(first), others,
       "a narrower accumulator loses a digit for every doubling of the row; a wider one costs registers and time"});
  return {};
}

Status decide_fp32(Subject& subject) {
  std::vector<std::string> ops;
  NodeId first = ir::kNoNode;
  const ir::Graph& graph = subject.math.forward;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    const bool real = is_real_tensor(node) && !(node.op == Op::Div && subject.view.is_number(node.args[0]) &&
                                                subject.view.is_number(node.args[1]));
    if (!is_sensitive(node.op) || !real || subject.view.is_view(static_cast<NodeId>(i))) continue;
    const std::string name(ir::info(node.op).name);
    if (std::find(ops.begin(), ops.end(), name) == ops.end()) ops.push_back(name);
    if (first == ir::kNoNode) first = static_cast<NodeId>(i);
  }
  // In the order of the op table, so that the order of statements does not matter.
  std::sort(ops.begin(), ops.end(),
            [](const std::string& a, const std::string& b) { return *ir::op_from_name(a) < *ir::op_from_name(b); });
  subject.profile.numerics.fp32 = ops;
  subject.record(
      {"fp32",
       profile::list_text(ops),
       ops.empty()
           ? "sums, products and comparisons alone: one rounding each is all that they lose"
           : fmt::format(
                 "{} {} more than a rounding in bf16 or fp16; PyTorch computes {} in fp32 too, and rounds the result",
                 profile::all_of(ops), ops.size() == 1 ? "loses" : "lose", ops.size() == 1 ? "it" : "them"),
       subject.at(first),
       {},
       "in bf16 a sum stops growing after 256 equal terms, and exp or a root is off in its second digit"});
  return {};
}

Status decide_reassociate(Subject& subject) {
  std::vector<std::string> sums;
  NodeId first = ir::kNoNode;
  const ir::Graph& graph = subject.math.forward;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (is_accumulation(graph.nodes[i].op) && is_real_tensor(graph.nodes[i]) &&
        !subject.view.is_view(static_cast<NodeId>(i))) {
      const std::string name = subject.describe(static_cast<NodeId>(i));
      if (std::find(sums.begin(), sums.end(), name) == sums.end()) sums.push_back(name);
      if (first == ir::kNoNode) first = static_cast<NodeId>(i);
    }
  const std::vector<std::string> found = sums;
  if (const std::string* pin = subject.pinned("reassociate")) {
    if (*pin == "none")
      sums.clear();
    else if (*pin != profile::list_text(found))
      return bad_value("reassociate", *pin, fmt::format("none or '{}'", profile::list_text(found)));
  }
  subject.profile.numerics.reassociate = sums;
  subject.record({"reassociate", profile::list_text(sums),
                  found.empty() ? "the forward has no sums"
                                : "a sum over many elements is split among lanes and blocks in a fixed order; "
                                  "PyTorch's own order is not promised either",
                  subject.at(first),
                  found.empty() || sums.empty() ? std::vector<std::string>{} : std::vector<std::string>{"none"},
                  "one running sum per row would be the only order allowed: slow, and less exact than a tree"});
  return {};
}

Status decide_deterministic(Subject& subject) {
  bool value = true;
  if (const std::string* pin = subject.pinned("deterministic")) {
    if (*pin != "yes" && *pin != "no") return bad_value("deterministic", *pin, "yes or no");
    value = *pin == "yes";
  }
  subject.profile.numerics.deterministic = value;
  subject.record({"deterministic",
                  value ? "yes" : "no",
                  "every sum has a fixed order and no atomic addition is used",
                  "",
                  {value ? "no" : "yes"},
                  "two runs with the same input would differ in the last bits, and a failure could not be repeated"});
  return {};
}

}  // namespace

Status decide_numerics(Subject& subject) {
  KW_CHECK(decide_casting(subject));
  KW_CHECK(decide_wider(subject));
  KW_CHECK(decide_accumulate(subject));
  KW_CHECK(decide_fp32(subject));
  KW_CHECK(decide_reassociate(subject));
  return decide_deterministic(subject);
}

Failure bad_value(const std::string& id, const std::string& value, const std::string& must_be, std::string hint) {
  return fail(ErrorKind::BadInput,
              fmt::format("'{}' cannot be '{}': it must be {}", id, profile::shortened(value), must_be),
              std::move(hint));
}

}  // namespace kw::understand
