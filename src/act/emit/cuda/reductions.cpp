// Reductions of a point: their accumulators, and their results.
#include "act/emit/cuda/writer.h"
#include "base/text.h"

namespace kw::act::cuda {

using ir::Op;

std::string Writer::Reduction::joined(const std::string& variable, const std::string& term) const {
  return replace_all(replace_all(join, "#", term), "$", variable);
}

Writer::Reduction Writer::reduction_of(ValueId r) const {
  switch (std::get<Reduced>(kernel_[r].what).op) {
    case Op::Sum:
    case Op::Mean:
      return {"kw::Sum", "0", "$ += #;"};
    case Op::Prod:
      return {"kw::Product", "1", "$ *= #;"};
    case Op::ReduceMax:
      return {"kw::Maximum", "kw::Least()", "$ = kw::maximum($, #);"};
    case Op::ReduceMin:
      return {"kw::Minimum", "kw::Greatest()", "$ = kw::minimum($, #);"};
    case Op::Any:
      return {"kw::Or", "false", "$ |= #;"};
    case Op::All:
      return {"kw::And", "true", "$ &= #;"};
    default:
      break;
  }
  KW_ASSERT(false, "a reduction that has no loop was expanded or refused before");
  return {};
}

bool Writer::has_partials(ValueId r) const {
  const Op op = std::get<Reduced>(kernel_[r].what).op;
  return (op == Op::Sum || op == Op::Mean || op == Op::Prod) && kernel_[r].type.floating();
}

std::string Writer::accumulator_type(ValueId r) const {
  const Op op = std::get<Reduced>(kernel_[r].what).op;
  return op == Op::Any || op == Op::All ? "bool" : types_.computed(kernel_[r].type);
}

std::string Writer::term_of(ValueId r) {
  return values_.expressions.as(std::get<Reduced>(kernel_[r].what).arg, accumulator_type(r));
}

// The result's own name, where nothing is left to do to it.
std::string Writer::reduced_name(ValueId r) {
  const bool divides = std::get<Reduced>(kernel_[r].what).op == Op::Mean;
  const bool rounds = kernel_[r].type.floating() && types_.rounds(kernel_[r].type);
  const std::string name = names_.value(r);
  return divides || rounds ? names_.fresh(name + "_sum") : name;
}

std::string Writer::share(const std::string& name, const std::string& type, const std::string& count) {
  std::string parts = names_.fresh(name + "_parts");
  shared_.line("KW_SHARED(" + type + ", " + parts + ", " + count + ");");
  return parts;
}

void Writer::result(ValueId r, const std::string& from, Lines& out) {
  const Reduced& reduced = std::get<Reduced>(kernel_[r].what);
  const std::string type = accumulator_type(r);
  std::string text = from;
  if (reduced.op == Op::Mean) {
    std::string count = names_.product(reduced.over);
    if (reduced.over.size() > 1)
      count = "static_cast<int64_t>(" + names_.size(reduced.over[0]) + ")" +
              count.substr(names_.size(reduced.over[0]).size());
    text += " / " + type + "(" + count + ")";
  }
  if (kernel_[r].type.floating() && types_.rounds(kernel_[r].type))
    text = "kw::round_to<" + types_.stored(kernel_[r].type) + ">(" + text + ")";
  std::string name = from;
  if (text != from) {
    name = names_.value(r);
    out.line("const " + type + " " + name + " = " + text + ";");
  }
  values_.expressions.environment[r] = {name, Binding::Primary, type};
}

std::vector<ValueId> Writer::plain_reductions(const Stage& stage) const {
  std::vector<ValueId> plain;
  for (ValueId r : stage.reductions)
    if (!is_combined(kernel_, r)) plain.push_back(r);
  return plain;
}

std::string Writer::tuple_text(const Combination& one) {
  std::vector<std::string> parts;
  for (size_t part = 0; part < one.args.size(); ++part)
    parts.push_back(values_.expressions.as(one.args[part], one.types[part]));
  return one.tuple + "{" + join(parts, ", ") + "}";
}

void Writer::combined_results(const Combination& one, const std::string& run, Lines& out) {
  const std::string tuple = names_.fresh(names_.value(one.reduced[0]) + "_tuple");
  out.line("const " + one.tuple + " " + tuple + " = " + run + ".total();");
  for (ValueId r : one.reduced) {
    const std::string name = names_.value(r), type = combines_.type(r);
    out.line("const " + type + " " + name + " = " + combines_.part(one, r, tuple) + ";");
    values_.expressions.environment[r] = {name, Binding::Primary, type};
  }
}

}  // namespace kw::act::cuda
