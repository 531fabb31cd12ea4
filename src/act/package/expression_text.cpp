#include "act/package/expression_text.h"

#include "base/text.h"
#include "kernel/expression_nodes.h"

namespace kw::act {
namespace {

using kernel::Expression;
using kernel::ExpressionNode;

// What C++ spells otherwise; other operators are the same, and functions are those of runtime/host/view.h.
constexpr std::pair<std::string_view, std::string_view> kOtherwise[] = {
    {"//", "floor_div"}, {"%", "floor_mod"}, {"and", "&&"}, {"or", "||"}, {"not", "!"}, {"-1", "-"},
};

struct Written {
  std::string text;
  bool whole = true;  // needs no parentheses inside another
};

std::string inside(const Written& written) { return written.whole ? written.text : "(" + written.text + ")"; }

Written write(const std::vector<ExpressionNode>& nodes, int at) {
  const ExpressionNode& node = nodes[static_cast<std::size_t>(at)];
  if (node.op.empty()) {
    const bool of_the_machine = node.text == "threads" || node.text == "multiprocessors";
    return {(of_the_machine ? "kw_" : "") + node.text, !node.text.starts_with('-')};
  }
  if (node.op == "blocks") return {"kw_blocks_" + nodes[static_cast<std::size_t>(node.inputs[0])].text};
  std::string_view spelled = node.op;
  for (const auto& [op, other] : kOtherwise)
    if (op == node.op) spelled = other;
  const bool call = spelled[0] == '_' || (spelled[0] >= 'a' && spelled[0] <= 'z');
  std::vector<std::string> parts;
  for (const int input : node.inputs) {
    const Written part = write(nodes, input);
    parts.push_back(call ? part.text : inside(part));
  }
  if (call) return {"kw_host::" + std::string(spelled) + "(" + join(parts, ", ") + ")"};
  if (parts.size() == 1) return {std::string(spelled) + parts[0], false};
  return {parts[0] + " " + std::string(spelled) + " " + parts[1], false};
}

Result<std::string> written(std::string_view text, Expression::Kind kind) {
  KW_TRY(const Expression expression, Expression::parse(text, kind));
  const std::vector<ExpressionNode> nodes = kernel::nodes_of(expression);
  return write(nodes, static_cast<int>(nodes.size()) - 1).text;
}

}  // namespace

Result<std::string> cpp_size(std::string_view text) { return written(text, Expression::Kind::Size); }
Result<std::string> cpp_condition(std::string_view text) { return written(text, Expression::Kind::Condition); }

}  // namespace kw::act
