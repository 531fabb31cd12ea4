// Reductions and scans over a combine that the graph brings along: the combine becomes a Python function of its own.
#include <algorithm>

#include "base/text.h"
#include "understand/reference/spelling.h"
#include "understand/reference/write_body.h"

namespace kw::understand::reference {

using ir::AxisId;
using ir::Type;

namespace {

std::string tuple(const std::vector<std::string>& items) {
  return items.size() == 1 ? "(" + items[0] + ",)" : "(" + join(items, ", ") + ")";
}

// The lines of the combine as a nested function; returns its name.
std::string combine_function(Body& body, const ir::Combine& combine) {
  Body inner(*combine.body);
  std::string result = write_nodes(inner);
  std::vector<std::string> lines = inner.opening();
  lines.insert(lines.end(), inner.lines().begin(), inner.lines().end());
  std::string text = "(" + join(inner.names().arguments, ", ") + "):";
  for (const std::string& line : lines) text += "\n    " + line;
  text += "\n    return " + (combine.arity() == 1 ? "(" + result + ",)" : result);
  body.use_parts_of(inner);
  return body.function(text, "combine");
}

}  // namespace

Expression spell_combine(Body& body, const Site& site) {
  const ir::CombineAttr& attr = site.node.as<ir::CombineAttr>();
  std::vector<Expression> parts;
  for (const Operand& operand : site.operands) parts.push_back(body.tensor(operand.value, operand.type));
  Layout dims = without_units(align(body, parts));
  if (!holds(dims, attr.axis)) dims.insert(dims.begin(), attr.axis);
  std::vector<std::string> texts, identity;
  for (Expression& part : parts) texts.push_back(body.arranged(std::move(part), dims, true).text);
  for (double e : attr.combine->identity) identity.push_back(number_literal(ir::Literal{e}));

  int at = position(dims, attr.axis);
  bool is_scan = site.node.op == ir::Op::Scan;
  std::string arguments = combine_function(body, *attr.combine) + ", " + tuple(texts) + ", " + tuple(identity) +
                          ", dim=" + std::to_string(at);
  if (is_scan && attr.reverse) arguments += ", reverse=True";
  if (is_scan && attr.exclusive) arguments += ", exclusive=True";
  // The parts of one reduction are several nodes of the graph and one call in Python.
  std::string call = body.local(is_scan ? "scan_with" : "reduce_with") + "(" + arguments + ")";
  std::string all_parts = body.shared(call, is_scan ? "scanned" : "reduced");
  if (!is_scan) dims.erase(dims.begin() + at);
  return {all_parts + "[" + std::to_string(attr.part) + "]", Binding::Postfix, dims, held(site.type), false};
}

}  // namespace kw::understand::reference
