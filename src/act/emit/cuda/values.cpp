#include "act/emit/cuda/values.h"

#include <algorithm>

#include "act/loop/uses.h"

namespace kw::act::cuda {
namespace {

constexpr size_t kLongestInline = 60;  // characters of an expression inside another

}  // namespace

Values::Values(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types, KernelNames& names,
               std::function<Level(const std::vector<LoopAxisId>&)> level_of_axes)
    : expressions(program, kernel, types, names),
      program_(program),
      kernel_(kernel),
      types_(types),
      names_(names),
      level_of_axes_(std::move(level_of_axes)) {
  expressions.find_scalar_types();
  expressions.unfuse_compared_products();
}

void Values::close() {
  std::erase_if(expressions.environment, [&](const auto& known) { return level(known.first) != Level::Point; });
}

std::vector<ValueId> Values::pending(const std::vector<ValueId>& roots) {
  const std::vector<ValueId> order =
      in_order(kernel_, roots, [&](ValueId v) { return expressions.environment.contains(v); });
  for (ValueId v : order)
    KW_ASSERT(!std::holds_alternative<Reduced>(kernel_[v].what), "a reduction is known before it is used");
  return order;
}

void Values::define(const std::vector<ValueId>& roots, const std::set<ValueId>& stored) {
  const std::vector<ValueId> order = pending(roots);
  std::map<ValueId, int> uses;
  std::set<ValueId> crossing;  // computed further out than where it is used
  for (ValueId v : order)
    for (ValueId operand : operands_of(kernel_[v])) {
      ++uses[operand];
      if (level(operand) < level(v)) crossing.insert(operand);
    }
  Level innermost = Level::Point;
  for (size_t i = 0; i < 3; ++i)
    if (lines_[i]) innermost = static_cast<Level>(i);
  for (ValueId root : roots) {
    ++uses[root];
    if (level(root) < innermost) crossing.insert(root);
  }
  for (ValueId v : order) {
    const Value& value = kernel_[v];
    Expression expression = expressions.of(v);
    const std::string type = value.type.boolean() ? "bool" : types_.computed(value.type);
    const bool is_load = std::holds_alternative<Load>(value.what);
    const bool only_stored = stored.contains(v) && uses[v] == 1 && !crossing.contains(v);
    const bool plain_name = is_identifier(expression.text) && expression.type == type;
    bool variable = uses[v] > 1 || crossing.contains(v) || (value.is_named && !is_load) ||
                    expression.text.size() > kLongestInline ||
                    // A result is used again by later stages.
                    level(v) == Level::Point;
    const auto keeps = kept.find(v);
    if (keeps != kept.end()) variable = true;
    if ((only_stored && keeps == kept.end()) || plain_name) variable = false;
    if (!variable) {
      // A store rounds by itself; left out of the environment, the value is built again without its rounding.
      if (!only_stored) expressions.environment[v] = std::move(expression);
      continue;
    }
    const std::string name = names_.value(v);
    std::string text = expression.type == type ? expression.text_in_context() : expression.text;
    const bool again = keeps != kept.end() && computed_.contains(v);
    if (again) text = "kKeep ? " + keeps->second + "[v][k] : " + text;
    lines(level(v)).line("const " + type + " " + name + " = " + text + ";");
    if (keeps != kept.end() && !again) {
      lines(level(v)).line("if (kKeep) " + keeps->second + "[v][k] = " + name + ";");
      computed_.insert(v);
    }
    expressions.environment[v] = {name, Binding::Primary, type};
  }
}

}  // namespace kw::act::cuda
