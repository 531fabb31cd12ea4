#include "ir/text/print_plan.h"

#include "ir/text/spelling.h"

namespace kw::ir::text {
namespace {

// With the indentation and the value's name a line then stays within about 100 columns.
constexpr size_t kLongestExpression = 84;

// Stands for a name that is chosen when all lines are known, and has the usual length of one.
const std::string kUnnamed = "_00";

}  // namespace

PrintPlan::PrintPlan(const Graph& graph, const NodePrinter& printer, AxisSpeller& plain_axes, const DisplayNames& names)
    : graph_(graph), live_(graph.nodes.size()), uses_(graph.nodes.size()), line_names_(graph.nodes.size()) {
  find_live_and_uses();
  name_lines();
  measure(printer, plain_axes);
  UniqueNames taken;
  for (const std::string& input : names.inputs) taken.reserve(input);
  for (const std::string& name : line_names_) taken.reserve(name);
  int number = 0;
  for (std::string& name : line_names_) {
    if (name != kUnnamed) continue;
    do name = "_" + std::to_string(++number);
    while (taken.is_taken(name));
  }
}

std::vector<NodeId> PrintPlan::lines() const {
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < line_names_.size(); ++i) {
    if (!line_names_[i].empty()) nodes.push_back(static_cast<NodeId>(i));
  }
  return nodes;
}

void PrintPlan::find_live_and_uses() {
  for (const Output& output : graph_.outputs) live_[static_cast<size_t>(output.node)] = true;
  for (size_t i = graph_.nodes.size(); i-- > 0;) {
    if (!live_[i]) continue;
    const Node& node = graph_.nodes[i];
    const bool square = node.op == Op::Mul && node.args[0] == node.args[1];  // written x^2: one use
    for (size_t k = 0; k < node.args.size(); ++k) {
      live_[static_cast<size_t>(node.args[k])] = true;
      if (k == 0 || !square) ++uses_[static_cast<size_t>(node.args[k])];
    }
  }
}

bool PrintPlan::stands_inline(NodeId id) const {
  const Node& node = graph_[id];
  if (node.op == Op::Input || node.op == Op::Const || node.op == Op::SizeOf || node.op == Op::Iota) return true;
  return node.op == Op::Cast && graph_[node.args[0]].op == Op::Input;
}

void PrintPlan::name_lines() {
  UniqueNames taken;
  for (const Input& input : graph_.inputs) taken.claim(input.name);
  const auto may_have_line = [&](NodeId node) {
    return live_[static_cast<size_t>(node)] && graph_[node].op != Op::Input && graph_[node].op != Op::Const;
  };
  for (const auto& [node, name] : graph_.names) {
    if (may_have_line(node) && !is_generated_name(name)) line_names_[static_cast<size_t>(node)] = taken.claim(name);
  }
  for (const Output& output : graph_.outputs) {
    std::string& name = line_names_[static_cast<size_t>(output.node)];
    if (!may_have_line(output.node) || !name.empty()) continue;
    const bool free = !taken.is_taken(output.name) && !is_generated_name(output.name);
    name = free ? taken.claim(output.name) : kUnnamed;
  }
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (live_[i] && uses_[i] > 1 && line_names_[i].empty() && !stands_inline(static_cast<NodeId>(i))) {
      line_names_[i] = kUnnamed;
    }
  }
}

// Gives the longest operand of a too long expression its own line until the rest is short enough. The length is
// measured without sizes of new axes, so that it does not depend on the order of lines.
void PrintPlan::measure(const NodePrinter& printer, AxisSpeller& plain_axes) {
  std::vector<Piece> pieces(graph_.nodes.size());
  std::vector<Piece> args;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (!live_[i]) continue;
    const Node& node = graph_.nodes[i];
    while (true) {
      args.clear();
      for (NodeId arg : node.args) {
        const std::string& line = line_names_[static_cast<size_t>(arg)];
        args.push_back(line.empty() ? pieces[static_cast<size_t>(arg)] : Piece{line});
      }
      pieces[i] = printer.compose(static_cast<NodeId>(i), args, plain_axes);
      if (pieces[i].text.size() <= kLongestExpression) break;
      NodeId longest = kNoNode;
      for (NodeId arg : node.args) {
        if (!line_names_[static_cast<size_t>(arg)].empty() || stands_inline(arg)) continue;
        const size_t length = pieces[static_cast<size_t>(arg)].text.size();
        if (longest == kNoNode || length > pieces[static_cast<size_t>(longest)].text.size()) longest = arg;
      }
      if (longest == kNoNode) break;
      line_names_[static_cast<size_t>(longest)] = kUnnamed;
    }
  }
}

}  // namespace kw::ir::text
