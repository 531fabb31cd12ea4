#include "act/emit/cpp/combines.h"

#include <algorithm>
#include <cmath>

#include "act/emit/cpp/expressions.h"
#include "base/text.h"

namespace kw::act::cpp {
namespace {

constexpr std::string_view kReserved[] = {"kw", "left", "right", "identity", "of", "move", "moved"};

}  // namespace

bool is_combined(const LoopKernel& kernel, ValueId r) { return std::get<Reduced>(kernel[r].what).combined.has_value(); }

bool has_combine(const LoopKernel& kernel) {
  return std::any_of(kernel.values.begin(), kernel.values.end(), [](const Value& value) {
    const Reduced* reduced = std::get_if<Reduced>(&value.what);
    return reduced && reduced->combined;
  });
}
bool has_combine(const LoopProgram& program) {
  return std::any_of(program.kernels.begin(), program.kernels.end(),
                     [](const LoopKernel& kernel) { return has_combine(kernel); });
}

std::vector<ValueId> terms_of(const LoopKernel& kernel, ValueId r) {
  const Reduced& reduced = std::get<Reduced>(kernel[r].what);
  return reduced.combined ? reduced.combined->args : std::vector{reduced.arg};
}

std::string Combines::type(ValueId r) const {
  return kernel_[r].type.boolean() ? "bool" : types_.computed(kernel_[r].type);
}

std::string Combines::part(const Combination& combination, ValueId r, const std::string& tuple) const {
  const auto part = static_cast<size_t>(std::get<Reduced>(kernel_[r].what).combined->part);
  const ir::Type type = kernel_[r].type;
  std::string text = tuple + "." + combination.members[part];
  if (combination.types[part] != this->type(r)) text = this->type(r) + "(" + text + ")";
  return type.floating() && types_.rounds(type) ? "kw::round_to<" + types_.stored(type) + ">(" + text + ")" : text;
}

std::vector<Combination> Combines::of(const Stage& stage) {
  std::vector<std::pair<int32_t, Combination>> all;  // beside the combine of each
  for (ValueId r : stage.reductions) {
    const Reduced& reduced = std::get<Reduced>(kernel_[r].what);
    if (!reduced.combined) continue;
    auto same = std::find_if(all.begin(), all.end(), [&](const auto& other) {
      return other.first == reduced.combined->combine && other.second.args == reduced.combined->args;
    });
    if (same == all.end()) same = all.insert(all.end(), {reduced.combined->combine, make(reduced)});
    same->second.reduced.push_back(r);
  }
  std::vector<Combination> out;
  for (auto& [combine, combination] : all) out.push_back(std::move(combination));
  return out;
}

Combination Combines::make(const Reduced& reduced) {
  const Combined& combined = *reduced.combined;
  const CombineFunction& function = program_.combines[static_cast<size_t>(combined.combine)];
  // What the body leaves open is computed in the type that PyTorch works in for the terms.
  ir::Type real = ir::DType::None;
  for (ValueId arg : combined.args)
    if (kernel_[arg].type.floating()) real = real.known() ? ir::promote(real, kernel_[arg].type) : kernel_[arg].type;
  real = ir::opmath(!real.known() || real.weak() ? ir::Type(ir::DType::F64) : real);
  std::vector<std::string> types;
  for (size_t part = 0; part < function.arity(); ++part) {
    const ir::Type type = function.values[part].type;
    types.push_back(type.boolean() ? "bool" : types_.computed(type == ir::Type(ir::DType::Real) ? real : type));
  }
  const auto key = std::pair{combined.combine, types};
  auto known = known_.find(key);
  if (known == known_.end()) {
    Combination made;
    made.tuple = kernel_.name + "_" + function.name;
    if (!known_.empty()) made.tuple += "_" + std::to_string(known_.size() + 1);
    made.types = types;
    Identifiers names;
    for (std::string_view word : kReserved) names.take(word, "v");
    for (const std::string& name : types_.names()) names.take(name, "v");
    names.take(made.tuple, "v");
    for (size_t part = 0; part < function.arity(); ++part)
      made.members.push_back(names.take(function.values[part].name, "v"));
    define(made, function, real);
    known = known_.emplace(key, std::move(made)).first;
  }
  Combination out = known->second;
  out.args = combined.args;
  return out;
}

void Combines::define(const Combination& made, const CombineFunction& function, ir::Type real) {
  // The body as a kernel of its own, in which nothing is rounded before the end.
  LoopKernel body{function.name, {}, {}, function.values};
  for (Value& value : body.values) {
    if (std::holds_alternative<Number>(value.what)) continue;
    if (value.type == ir::Type(ir::DType::Real)) value.type = real;
    if (value.type.floating()) value.type = ir::opmath(value.type);
  }
  KernelNames names(program_, body, {}, kReserved, types_);
  for (const std::string& member : made.members) names.fresh(member);
  Expressions expressions(program_, body, types_, names);
  for (size_t part = 0; part < function.arity(); ++part) {
    expressions.environment[static_cast<ValueId>(part)] = {"left." + made.members[part], Binding::Primary,
                                                           made.types[part]};
    expressions.environment[static_cast<ValueId>(part + function.arity())] = {"right." + made.members[part],
                                                                              Binding::Primary, made.types[part]};
  }
  std::vector<int> uses(body.values.size());
  for (const Value& value : body.values)
    for (ValueId operand : operands_of(value)) ++uses[static_cast<size_t>(operand)];
  for (ValueId result : function.results) ++uses[static_cast<size_t>(result)];

  Lines& out = definitions_;
  if (!out.empty()) out.line("");
  out.line("// What the tuples of two runs of neighbours become.");
  out.open("struct " + made.tuple + " {");
  for (size_t part = 0; part < made.members.size(); ++part) out.line(made.types[part] + " " + made.members[part] + ";");
  std::vector<std::string> neutral, results, moved;
  for (size_t part = 0; part < function.arity(); ++part) {
    neutral.push_back(expressions.literal(ir::Literal{function.identity[part]}, made.types[part]));
    moved.push_back("move(" + made.members[part] + ")");
  }
  out.line(device_ + "static " + made.tuple + " identity() { return {" + join(neutral, ", ") + "}; }");
  out.open(device_ + "static " + made.tuple + " of(const " + made.tuple + "& left, const " + made.tuple + "& right) {");
  for (size_t v = 2 * function.arity(); v < body.values.size(); ++v) {
    const auto id = static_cast<ValueId>(v);
    if (uses[v] == 0 || std::holds_alternative<Number>(body.values[v].what)) continue;
    Expression expression = expressions.of(id);
    if (uses[v] == 1 && expression.text.size() <= 60) {
      expressions.environment[id] = std::move(expression);
      continue;
    }
    const std::string name = names.value(id);
    out.line("const " + expression.type + " " + name + " = " + expression.text + ";");
    expressions.environment[id] = {name, Binding::Primary, expression.type};
  }
  for (size_t part = 0; part < function.arity(); ++part)
    results.push_back(expressions.as(function.results[part], made.types[part]));
  out.line("return {" + join(results, ", ") + "};");
  out.close();
  if (!device_.empty()) {
    out.line("template <class Move>");
    out.line(device_ + made.tuple + " moved(Move move) const { return {" + join(moved, ", ") + "}; }");
  }
  out.close("};");
}

}  // namespace kw::act::cpp
