#include "act/emit/cpu/scopes.h"

#include <algorithm>

#include "act/loop/index.h"
#include "act/loop/uses.h"
#include "base/text.h"

namespace kw::act::cpu {
namespace {

constexpr size_t kLongestInline = 60;  // characters of an expression inside another

bool has_source_name(const std::string& name) {
  return !(name.size() > 1 && name[0] == 'v' &&
           std::all_of(name.begin() + 1, name.end(), [](char c) { return (c >= '0' && c <= '9') || c == '_'; }));
}

}  // namespace

Scopes::Scopes(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest, CppTypes& types,
               KernelNames& names)
    : expressions(program, kernel, types, names),
      program_(program),
      kernel_(kernel),
      nest_(nest),
      types_(types),
      names_(names),
      depends_(kernel.values.size()) {
  expressions.element = [this](const Load& load) { return element(load.buffer, load.at); };
  expressions.merges_roundings = true;
  expressions.find_only_type();
  expressions.find_scalar_types();
  expressions.hold_sums();
  expressions.count_uses();
  std::vector<bool> known(kernel.values.size());
  auto visit = [&](auto&& self, ValueId v) -> bool {
    size_t i = static_cast<size_t>(v);
    if (known[i]) return depends_[i];
    known[i] = true;
    bool depends = std::holds_alternative<Reduced>(kernel[v].what);
    for (ValueId operand : operands_of(kernel[v])) depends |= self(self, operand) && !depends;
    return depends_[i] = depends;
  };
  for (size_t v = 0; v < kernel.values.size(); ++v) visit(visit, static_cast<ValueId>(v));
  uses_ = use_counts(kernel);
}

Level Scopes::level(const std::vector<LoopAxisId>& axes) const {
  Level level = Level::Setup;
  for (LoopAxisId axis : axes) {
    if (axis == nest_.inner) return Level::Inner;
    level = std::max(level, has(nest_.loop, axis) ? Level::Row : Level::Point);
  }
  return level;
}

Level Scopes::level(ValueId value) const {
  const Level by_axes = level(kernel_[value].axes);
  return by_axes == Level::Setup && depends_on_reduction(value) ? Level::Point : by_axes;
}

std::vector<ValueId> Scopes::pending(const std::vector<ValueId>& roots) {
  const std::vector<ValueId> order = in_order(
      kernel_, roots, [&](ValueId v) { return expressions.environment.contains(v); },
      [&](ValueId v) { return expressions.operands(v); });
  for (ValueId v : order)
    KW_ASSERT(!std::holds_alternative<Reduced>(kernel_[v].what), "a reduction is known before it is used");
  return order;
}

std::vector<ValueId> Scopes::frontier(const std::vector<ValueId>& roots, Level limit) {
  std::vector<ValueId> found;
  auto note = [&](ValueId v) {
    if (!is_trivial(kernel_[v]) && !expressions.environment.contains(v) && level(v) <= limit &&
        std::find(found.begin(), found.end(), v) == found.end())
      found.push_back(v);
  };
  for (ValueId root : roots) note(root);
  for (ValueId v : pending(roots))
    if (level(v) > limit)
      for (ValueId operand : expressions.operands(v)) note(operand);
  return found;
}

void Scopes::hoist(const std::vector<ValueId>& roots, Lines& point, Lines* row) {
  define(frontier(roots, Level::Setup), setup, {}, true);
  define(frontier(roots, Level::Point), point, {}, true);
  if (row) define(frontier(roots, Level::Row), *row, {}, true);
  for (ValueId v : pending(roots))
    if (const Map* map = std::get_if<Map>(&kernel_[v].what); map && map->op == ir::Op::Div)
      declare_divisor(v, *map, point, row);
}

void Scopes::declare_divisor(ValueId quotient, const Map& division, Lines& point, Lines* row) {
  const ValueId divisor = division.args[1];
  const ir::Type type = kernel_[quotient].type;
  if (level(quotient) != Level::Inner || level(divisor) == Level::Inner || !type.floating()) return;
  // Sizes and scalars have no variable of their own.
  const bool plain = is_trivial(kernel_[divisor]) && kernel_[divisor].type.weak() &&
                     !std::holds_alternative<Number>(kernel_[divisor].what);
  if (!plain && !kernel_[divisor].type.floating()) return;
  if (plain) expressions.environment.try_emplace(divisor, expressions.of(divisor));
  const auto known = expressions.environment.find(divisor);
  if (known == expressions.environment.end() || !known->second.divisor.empty()) return;
  Lines& out = level(divisor) == Level::Setup ? setup : level(divisor) == Level::Row && row ? *row : point;
  const bool named = plain && is_identifier(known->second.text);
  const std::string name = names_.fresh("by_" + (named ? known->second.text : names_.value(divisor)));
  const std::string wide = types_.computed(type);
  out.line("const kw::Divisor<" + wide + "> " + name +
           (plain ? "{" + expressions.as(divisor, wide) + "};" : "(" + known->second.text + ");"));
  known->second.divisor = name;
}

void Scopes::define(const std::vector<ValueId>& roots, Lines& out, const std::set<ValueId>& stored, bool as_variables) {
  const std::vector<ValueId> order = pending(roots);
  std::map<ValueId, int> here;
  for (ValueId v : order)
    for (ValueId operand : expressions.operands(v)) ++here[operand];
  for (ValueId root : roots) ++here[root];
  for (ValueId v : order) {
    const Value& value = kernel_[v];
    Expression expression = expressions.of(v);
    const std::string type = value.type.boolean() ? "bool" : types_.computed(value.type);
    const bool is_root = std::find(roots.begin(), roots.end(), v) != roots.end();
    // Elements are computed again in every stage; what is further out is computed once.
    const int wanted = level(v) == Level::Inner ? here[v] : std::max(here[v], uses(v));
    const bool only_stored = stored.contains(v) && wanted == 1;
    const bool plain_name = is_identifier(expression.text) && expression.type == type;
    bool variable = wanted > 1 || (has_source_name(value.name) && !std::holds_alternative<Load>(value.what)) ||
                    (as_variables && is_root) || expression.text.size() > kLongestInline;
    if (only_stored || plain_name) variable = false;
    if (!variable) {
      // A store rounds by itself; left out of the environment, the value is built again without its rounding.
      if (!only_stored) expressions.environment[v] = std::move(expression);
      continue;
    }
    const std::string name = names_.value(v);
    if (expressions.by_lanes)
      out.line("const auto " + name + " = " + expressions.as_declared(expression, type) + ";");
    else
      out.line("const " + type + " " + name + " = " +
               (expression.type == type ? expression.text_in_context() : expression.text) + ";");
    expressions.environment[v] = {name, Binding::Primary, type};
  }
}

void Scopes::open_rows(Level level, Lines* lines) {
  row_lines_[static_cast<size_t>(level)] = lines;
  std::erase_if(rows_in_scope_, [&](const auto& row) { return row.second >= level; });
}

std::optional<std::string> Scopes::row(BufferId buffer, const std::vector<Index>& at, bool slice) {
  int along = -1, count = 0;
  std::vector<LoopAxisId> others;
  for (size_t d = 0; d < at.size(); ++d) {
    const std::vector<LoopAxisId> axes = axes_of(at[d]);
    if (has(axes, nest_.inner)) {
      along = static_cast<int>(d);
      ++count;
    } else {
      others.insert(others.end(), axes.begin(), axes.end());
    }
    if (!values_of(at[d]).empty()) return std::nullopt;
  }
  if (count != 1) return std::nullopt;
  const Buffer& info = program_.buffers[static_cast<size_t>(buffer)];
  const bool workspace = info.role == Buffer::Role::Workspace;
  const int first = slice ? 1 : 0;
  const bool last = along + 1 == static_cast<int>(at.size());
  std::vector<std::string> indices;
  if (slice) indices.push_back("worker");
  for (size_t d = 0; d < at.size(); ++d)
    if (static_cast<int>(d) != along)
      indices.push_back(names_.text(at[d]));
    else if (!last)
      indices.push_back("0");
  const std::string list = join(indices, ", ");
  std::string from = info.name;
  if (last)
    from += std::string(workspace ? ".row<true>(" : ".row<kUnit>(") + list + ")";
  else
    from += ".along(" + std::to_string(along + first) + ", " + info.name + ".offset(" + list + "))";
  if (last && !workspace) unit_rows_.insert(buffer);
  auto name = row_names_.find(from);
  if (name == row_names_.end()) name = row_names_.emplace(from, names_.fresh(info.name + "_row")).first;
  if (!rows_in_scope_.contains(from)) {
    Level where = level(others);
    // Never outside the parallel loop: its threads would share the row by reference, and read it again per element.
    where = std::max(where, Level::Point);
    while (!row_lines_[static_cast<size_t>(where)]) where = static_cast<Level>(static_cast<int>(where) + 1);
    row_lines_[static_cast<size_t>(where)]->line("const auto " + name->second + " = " + from + ";");
    rows_in_scope_[from] = where;
    const std::vector<LoopAxisId> around = nest_.around();
    const bool own = std::all_of(around.begin(), around.end(), [&](LoopAxisId axis) { return has(others, axis); });
    if (last && !workspace && own) own_rows_.insert(from);
  }
  return name->second;
}

std::vector<std::string> Scopes::rows_gone_through() const {
  std::vector<std::string> rows;
  for (const auto& [from, level] : rows_in_scope_)
    if (own_rows_.contains(from)) rows.push_back(row_names_.at(from));
  return rows;
}

std::string Scopes::element(BufferId buffer, const std::vector<Index>& at, bool slice) {
  if (std::optional<std::string> name = row(buffer, at, slice))
    for (const Index& index : at)
      if (has(axes_of(index), nest_.inner)) return *name + "[" + names_.text(index) + "]";
  std::vector<std::string> indices;
  if (slice) indices.push_back("worker");
  for (const Index& index : at) {
    for (ValueId v : values_of(index)) names_.bind_index_value(v, expressions.as(v, "int64_t"));
    indices.push_back(names_.text(index));
  }
  return program_.buffers[static_cast<size_t>(buffer)].name + "(" + join(indices, ", ") + ")";
}

}  // namespace kw::act::cpu
