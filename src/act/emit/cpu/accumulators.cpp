#include "act/emit/cpu/accumulators.h"

namespace kw::act::cpu {

using ir::Op;

std::string Accumulator::combine(const std::string& term, const std::string& at) const {
  const std::string variable = name + at;
  switch (op) {
    case Op::Sum:
    case Op::Mean:
      return variable + " += " + term + ";";
    case Op::Prod:
      return variable + " *= " + term + ";";
    case Op::ReduceMax:
      return variable + " = kw::maximum(" + variable + ", " + term + ");";
    case Op::ReduceMin:
      return variable + " = kw::minimum(" + variable + ", " + term + ");";
    case Op::Any:
      return variable + " |= " + term + ";";
    case Op::All:
      return variable + " &= " + term + ";";
    default:
      break;
  }
  KW_ASSERT(false, "a reduction that the CPU has no loop for was expanded before");
  return {};
}

bool Accumulator::adds_tiles() const { return partial() && (op == Op::Sum || op == Op::Mean); }

std::string Accumulator::add_partial(const std::string& at) const {
  if (at.empty() && adds_tiles()) return total + " += " + name + ".total(end - tile);";
  return total + at + (op == Op::Prod ? " *= " : " += ") + name + at + ";";
}

std::string Accumulator::result(const std::string& count, const std::string& at) const {
  if (!partial()) return name + at;
  const std::string value = total + at + (op == Op::Mean ? " / " + count : "");
  return type == "double" && op != Op::Mean ? value : type + "(" + value + ")";
}

bool has_partials(const LoopKernel& kernel, ValueId reduced) {
  const Op op = std::get<Reduced>(kernel[reduced].what).op;
  return (op == Op::Sum || op == Op::Mean || op == Op::Prod) && kernel[reduced].type.floating();
}

Accumulator make_accumulator(const LoopKernel& kernel, ValueId id, bool only, CppTypes& types, KernelNames& names) {
  const Value& value = kernel[id];
  const Reduced& reduced = std::get<Reduced>(value.what);
  Accumulator out{id, reduced.arg, reduced.op, {}, {}, {}, {}, {}};
  switch (reduced.op) {
    case Op::Sum:
    case Op::Mean:
      out.start = "0";
      out.clause = "+";
      break;
    case Op::Prod:
      out.start = "1";
      out.clause = "*";
      break;
    case Op::ReduceMax:
      out.start = "kw::Least()";
      out.clause = "kw::maximum";
      break;
    case Op::ReduceMin:
      out.start = "kw::Greatest()";
      out.clause = "kw::minimum";
      break;
    case Op::Any:
      out.start = "false";
      out.clause = "|";
      break;
    case Op::All:
      out.start = "true";
      out.clause = "&";
      break;
    default:
      KW_ASSERT(false, "a reduction that the CPU has no loop for was expanded before");
  }
  const bool logical = reduced.op == Op::Any || reduced.op == Op::All;
  out.type = logical ? "bool" : types.computed(value.type);
  const std::string name = names.value(id);
  if (has_partials(kernel, id)) {
    out.total = names.fresh(name.ends_with("_total") ? name.substr(0, name.size() - 6) + "_sum" : name + "_total");
    out.name = only ? "terms" : names.fresh(name + "_terms");
  } else {
    out.name = name;
  }
  return out;
}

}  // namespace kw::act::cpu
