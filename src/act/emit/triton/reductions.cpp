// Reductions: what is neutral, how a tile is combined with another, and how it becomes one value.
#include "act/emit/triton/writer.h"

namespace kw::act::triton {

Writer::Reduction Writer::reduction(ValueId id) {
  const Reduced& reduced = std::get<Reduced>(kernel_[id].what);
  const Kind kind = Expressions::kind_of(kernel_[reduced.arg].type);
  const bool whole = kind != Kind::Float;
  if (kind == Kind::Bool) expressions_.refuse("reduction-of-booleans");
  switch (reduced.op) {
    case ir::Op::Sum:
      return {whole ? "0" : "0.0", "+", "tl.sum"};
    case ir::Op::Mean:
      return {"0.0", "+", "tl.sum"};
    case ir::Op::ReduceMax:
      return {whole ? "-9223372036854775808" : "float(\"-inf\")", "tl.maximum", whole ? "tl.max" : "nan_max"};
    case ir::Op::ReduceMin:
      return {whole ? "9223372036854775807" : "float(\"inf\")", "tl.minimum", whole ? "tl.min" : "nan_min"};
    default:
      expressions_.refuse("reduction." + std::string(info(reduced.op).name));
      return {"0.0", "+", "tl.sum"};
  }
}

std::string Writer::masked(ValueId id) {
  const ValueId arg = std::get<Reduced>(kernel_[id].what).arg;
  const Reduction how = reduction(id);
  const std::string term =
      Expressions::kind_of(kernel_[arg].type) == Kind::Float ? expressions_.as_float(arg) : expressions_.of(arg).text;
  if (how.combine == "+" && vanishes(arg)) return term;
  return "tl.where(" + mask_ + ", " + term + ", " + how.neutral + ")";
}

std::string Writer::combined(ValueId id, const std::string& total, const std::string& term) {
  const Reduction how = reduction(id);
  if (how.combine == "+") return total + " + " + term;
  const bool is_float = Expressions::kind_of(kernel_[id].type) == Kind::Float;
  return how.combine + "(" + total + ", " + term + (is_float ? ", propagate_nan=tl.PropagateNan.ALL)" : ")");
}

std::string Writer::reduce(ValueId id, const std::string& tile, int axis, bool keep) {
  const std::string function = reduction(id).finish, number = std::to_string(axis);
  const std::string end = keep ? ", keep_dims=True)" : ")";
  if (function.starts_with("tl.")) return function + "(" + tile + ", axis=" + number + end;
  expressions_.call_function(function);
  return "tl.reduce(" + tile + ", " + number + ", " + function + end;
}

void Writer::finish(ValueId id, const std::string& reduced, Lines& out) {
  const Value& value = kernel_[id];
  const Kind kind = Expressions::kind_of(value.type);
  Text text{reduced, kind};
  if (std::get<Reduced>(value.what).op == ir::Op::Mean)
    text = {reduced + " / " + parenthesised(names_.product(std::get<Reduced>(value.what).over)), kind, Level::Product};
  if (Expressions::rounds(value.type)) text = expressions_.round(text, value.type);
  const std::string name = names_.value(id);
  out.line(name + " = " + text.text);
  expressions_.environment[id] = {name, kind};
}

}  // namespace kw::act::triton
