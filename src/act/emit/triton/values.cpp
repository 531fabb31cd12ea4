// What becomes a variable, and what is written where it is used.
#include <algorithm>

#include "act/emit/triton/writer.h"
#include "act/loop/identifier.h"
#include "act/loop/index.h"
#include "act/loop/uses.h"

namespace kw::act::triton {
namespace {

constexpr size_t kLongestInline = 60;

bool is_named(const std::string& name) {
  return !(name.size() > 1 && name[0] == 'v' &&
           std::all_of(name.begin() + 1, name.end(), [](char c) { return (c >= '0' && c <= '9') || c == '_'; }));
}

}  // namespace

bool Writer::vanishes(ValueId v) const {
  const auto& what = kernel_[v].what;
  if (const Load* load = std::get_if<Load>(&what)) return load->guard == kNoValue && mask_of(load->at) == mask_;
  const Map* map = std::get_if<Map>(&what);
  if (!map) return false;
  switch (map->op) {
    case ir::Op::Cast:
    case ir::Op::Neg:
    case ir::Op::Abs:
      return vanishes(map->args[0]);
    case ir::Op::Mul:
    case ir::Op::Add:
    case ir::Op::Sub:
      return vanishes(map->args[0]) && vanishes(map->args[1]);
    default:
      return false;
  }
}

std::vector<ValueId> Writer::pending(const std::vector<ValueId>& roots) const {
  return in_order(kernel_, roots, [&](ValueId v) { return expressions_.environment.contains(v); });
}

// Makes the roots known: as variables, or as expressions where they are short and wanted once. What is only stored
// stays inside its store, which rounds it.
void Writer::define(const std::vector<ValueId>& roots, Lines& out, const std::set<ValueId>& stored, bool as_variables) {
  std::map<ValueId, int> here;
  const std::vector<ValueId> order = pending(roots);
  for (ValueId v : order)
    for (ValueId operand : operands_of(kernel_[v])) ++here[operand];
  for (ValueId root : roots) ++here[root];
  for (ValueId v : order) {
    const Value& value = kernel_[v];
    const int wanted =
        streamed_ && meet(value.axes, loop_) ? here[v] : std::max(here[v], uses_[static_cast<size_t>(v)]);
    if (stored.contains(v) && wanted == 1) continue;
    Text text = expressions_.of(v);
    const bool is_root = std::find(roots.begin(), roots.end(), v) != roots.end();
    const bool variable =
        !is_identifier(text.text) && (wanted > 1 || std::holds_alternative<Load>(value.what) || is_named(value.name) ||
                                      (as_variables && is_root) || text.text.size() > kLongestInline);
    if (variable) {
      const std::string name = names_.value(v);
      out.line(name + " = " + text.text);
      text = {name, text.kind};
    }
    expressions_.environment[v] = std::move(text);
  }
}

// What a loop's body needs of values that do not run along it.
void Writer::hoist(const std::vector<ValueId>& roots, Lines& out) {
  std::vector<ValueId> outside;
  auto note = [&](ValueId v) {
    if (!is_trivial(kernel_[v]) && !expressions_.environment.contains(v) && !meet(kernel_[v].axes, loop_) &&
        std::find(outside.begin(), outside.end(), v) == outside.end())
      outside.push_back(v);
  };
  for (ValueId root : roots) note(root);
  for (ValueId v : pending(roots))
    if (meet(kernel_[v].axes, loop_))
      for (ValueId operand : operands_of(kernel_[v])) note(operand);
  define(outside, out, {}, true);
}

std::vector<ValueId> Writer::roots_of(const Stage& stage) const {
  std::vector<ValueId> roots;
  for (ValueId r : stage.reductions) roots.push_back(std::get<Reduced>(kernel_[r].what).arg);
  for (const Accumulate& sum : stage.accumulates) roots.push_back(sum.value);
  for (const Store& s : stage.stores) roots.push_back(s.value);
  return roots;
}

}  // namespace kw::act::triton
