#include "understand/reference/write_body.h"

#include <algorithm>

#include "base/text.h"
#include "understand/reference/spelling.h"

namespace kw::understand::reference {

using ir::DType;
using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::OpKind;
using ir::Type;

namespace {

constexpr size_t kLongestOperands = 64;

// Views that cost nothing in Python: what they are of is what is used.
bool is_transparent(Op op) { return op == Op::Rename || op == Op::Broadcast; }

std::vector<int> count_uses(const Graph& graph) {
  std::vector<int> uses(graph.nodes.size());
  for (const ir::Output& output : graph.outputs) ++uses[static_cast<size_t>(output.node)];
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    for (NodeId arg : node.args) uses[static_cast<size_t>(arg)] += is_transparent(node.op) ? uses[i] : 1;
  }
  return uses;
}

// Which reductions keep their dimension: those whose result meets a value with the reduced axis again, so that it is in
// its place already.
std::vector<bool> find_keepdims(const Graph& graph) {
  std::vector<std::vector<NodeId>> users(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (NodeId arg : graph.nodes[i].args) users[static_cast<size_t>(arg)].push_back(static_cast<NodeId>(i));
  std::vector<bool> keep(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const auto* attr = std::get_if<ir::AxisList>(&node.attr);
    if (!attr || info(node.op).kind != OpKind::Reduction) continue;
    std::vector<NodeId> open{static_cast<NodeId>(i)};
    std::vector<bool> seen(graph.nodes.size());
    while (!open.empty() && !keep[i]) {
      NodeId at = open.back();
      open.pop_back();
      for (NodeId user : users[static_cast<size_t>(at)]) {
        if (seen[static_cast<size_t>(user)]) continue;
        seen[static_cast<size_t>(user)] = true;
        if (info(graph[user].op).kind != OpKind::Pointwise && graph[user].op != Op::Broadcast) continue;
        for (ir::AxisId a : attr->axes)
          keep[i] = keep[i] || std::binary_search(graph[user].axes.begin(), graph[user].axes.end(), a);
        open.push_back(user);
      }
    }
  }
  return keep;
}

bool is_fp8(Type type) { return type == Type(DType::F8E4M3) || type == Type(DType::F8E5M2); }

// Torch moves fp8 values and converts them; it does not compute on them.
bool moves_only(Op op) {
  switch (op) {
    case Op::Input:
    case Op::Cast:
    case Op::StopGradient:
    case Op::Rename:
    case Op::Broadcast:
    case Op::Slice:
    case Op::Split:
    case Op::Merge:
      return true;
    default:
      return false;
  }
}

// What torch rounds on the way for some operands alone: x**3 is x*x*x in the narrow type, and a number over a tensor is
// the number times the tensor's reciprocal.
bool rounds_inside(const Graph& graph, const Node& node, const std::vector<Expression>& values) {
  auto is_literal = [&](size_t i, double value) {
    const Node& arg = graph[node.args[i]];
    return arg.op == Op::Const && arg.as<ir::Literal>().number() == value;
  };
  if (node.op == Op::Pow) return is_literal(1, 3);
  return node.op == Op::Div && values[static_cast<size_t>(node.args[0])].number && !is_literal(0, 1);
}

Expression spell(Body& body, const Node& node, const std::vector<Expression>& values, bool keepdim) {
  const Spelling& row = spelling(node.op);
  bool widen = row.widen || rounds_inside(body.graph, node, values);
  Site site{node, {}, node.type, keepdim};
  Type fp8;
  if (!moves_only(node.op))
    for (NodeId arg : node.args)
      if (is_fp8(body.graph[arg].type)) fp8 = body.graph[arg].type;
  for (size_t i = 0; i < node.args.size(); ++i) {
    Operand operand{values[static_cast<size_t>(node.args[i])], body.graph[node.args[i]].type};
    // An integer beside fp8 is promoted to it.
    bool promoted = fp8.known() && info(node.op).kind == OpKind::Pointwise && !operand.type.floating() &&
                    !operand.type.weak() && !operand.value.number && !(node.op == Op::Select && i == 0);
    if (promoted) operand = {body.cast(std::move(operand.value), fp8), fp8};
    bool moves = !is_fp8(operand.type) || moves_only(node.op);
    if (operand.type.floating() && (!moves || widen)) {
      operand.type = opmath(operand.type);
      if (!operand.value.number) operand.value = body.cast(std::move(operand.value), operand.type);
    }
    site.operands.push_back(std::move(operand));
  }
  bool rounds_after = node.type.floating() && (widen || (is_fp8(node.type) && !moves_only(node.op)));
  if (rounds_after) site.type = opmath(node.type);
  Expression value = row.spell(body, site);
  return rounds_after && !value.number ? body.cast(std::move(value), node.type) : value;
}

// A name for a value that the source did not name.
std::string line_name(const Body& body, const Node& node, const std::vector<Expression>& values) {
  if (node.op != Op::Cast) return std::string(spelling(node.op).line_name);
  const Expression& x = values[static_cast<size_t>(node.args[0])];
  std::string base = x.is_name() && !x.number && x.text.find('.') == std::string::npos
                         ? x.text
                         : std::string(spelling(body.graph[node.args[0]].op).line_name);
  if (node.type.concrete()) return base + "_" + std::string(info(node.type.floor()).name);
  return base + (node.type.floor() == DType::F32 ? "_wide" : "_cast");
}

// Gives the longest operands lines of their own until the rest fits on one.
void shorten_operands(Body& body, const Node& node, std::vector<Expression>& values) {
  for (;;) {
    size_t total = 0;
    Expression* longest = nullptr;
    NodeId of = ir::kNoNode;
    for (NodeId arg : node.args) {
      Expression& value = values[static_cast<size_t>(arg)];
      total += value.text.size();
      if (value.is_name() || (longest && longest->text.size() >= value.text.size())) continue;
      longest = &value;
      of = arg;
    }
    if (!longest || total <= kLongestOperands) return;
    *longest = body.named(std::move(*longest), line_name(body, body.graph[of], values));
  }
}

}  // namespace

std::string write_nodes(Body& body) {
  const Graph& graph = body.graph;
  std::vector<int> uses = count_uses(graph);
  std::vector<bool> keepdims = find_keepdims(graph);
  std::vector<Expression> values(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (uses[i] == 0) continue;
    const Node& node = graph.nodes[i];
    shorten_operands(body, node, values);
    values[i] = spell(body, node, values, keepdims[i]);
    if (values[i].is_name() || is_transparent(node.op) || info(node.op).kind == OpKind::Leaf) continue;
    auto name = graph.names.find(static_cast<NodeId>(i));
    if (name != graph.names.end())
      values[i] = body.named(std::move(values[i]), name->second);
    else if (uses[i] > 1 && !(values[i].number && values[i].text.size() < 12))
      values[i] = body.named(std::move(values[i]), line_name(body, node, values));
  }

  std::vector<std::string> results;
  for (const ir::Output& output : graph.outputs) {
    Expression value = values[static_cast<size_t>(output.node)];
    Type type = graph[output.node].type;
    value = body.arranged(body.cast(std::move(value), type), output.dims, true);
    if (graph.outputs.size() > 1 && !value.is_name()) value = body.named(std::move(value), output.name);
    results.push_back(value.text);
  }
  return join(results, ", ");
}

}  // namespace kw::understand::reference
