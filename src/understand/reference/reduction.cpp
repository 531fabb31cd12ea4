#include <algorithm>

#include "understand/reference/spelling.h"

namespace kw::understand::reference {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::Op;
using ir::Type;

namespace {

std::vector<int> positions(const Layout& dims, const std::vector<AxisId>& axes) {
  std::vector<int> out;
  for (AxisId a : axes) out.push_back(position(dims, a));
  std::sort(out.begin(), out.end());
  return out;
}

Layout reduced(Layout dims, const std::vector<int>& at, bool keepdim) {
  for (size_t i = at.size(); i-- > 0;) {
    if (keepdim)
      dims[static_cast<size_t>(at[i])] = kUnit;
    else
      dims.erase(dims.begin() + at[i]);
  }
  return dims;
}

std::string_view method_of(Op op) {
  switch (op) {
    case Op::Sum:
      return "sum";
    case Op::Mean:
      return "mean";
    case Op::ReduceMax:
      return "amax";
    case Op::ReduceMin:
      return "amin";
    case Op::LogSumExp:
      return "logsumexp";
    case Op::Any:
      return "any";
    case Op::All:
      return "all";
    case Op::ArgMax:
      return "argmax";
    case Op::ArgMin:
      return "argmin";
    case Op::CumSum:
      return "cumsum";
    case Op::CumProd:
      return "cumprod";
    case Op::CumMax:
      return "cummax";
    case Op::CumMin:
      return "cummin";
    case Op::CumLogSumExp:
      return "logcumsumexp";
    default:
      KW_ASSERT(false, "an op whose torch name is asked for is a reduction or a scan");
  }
  return "";
}

Expression reduce_by_method(Body& body, Expression x, const Site& site) {
  const std::vector<AxisId>& axes = site.node.as<ir::AxisList>().axes;
  x = body.with_axes(std::move(x), axes);
  std::vector<int> at = positions(x.dims, axes);
  std::string text = x.within(Binding::Postfix) + "." + std::string(method_of(site.node.op)) + "(";
  bool whole = !site.keepdim && without_units(x.dims).size() == axes.size() && site.node.op != Op::LogSumExp &&
               site.node.op != Op::ArgMax && site.node.op != Op::ArgMin;
  if (whole) return {text + ")", Binding::Postfix, {}, held(site.type), false};
  text += "dim=" + dims_text(at, x.dims.size()) + (site.keepdim ? ", keepdim=True)" : ")");
  return {text, Binding::Postfix, reduced(x.dims, at, site.keepdim), held(site.type), false};
}

}  // namespace

Expression spell_reduction(Body& body, const Site& site) { return reduce_by_method(body, site.value(0), site); }

Expression spell_prod(Body& body, const Site& site) {
  const std::vector<AxisId>& axes = site.node.as<ir::AxisList>().axes;
  Expression x = body.with_axes(site.value(0), axes);
  std::vector<int> at = positions(x.dims, axes);
  std::string text = x.within(Binding::Postfix);
  size_t rank = x.dims.size();
  for (size_t i = at.size(); i-- > 0;) {  // torch multiplies along one dimension at a time
    text += ".prod(dim=" + dim_text(at[i], rank) + (site.keepdim ? ", keepdim=True)" : ")");
    if (!site.keepdim) --rank;
  }
  return {text, Binding::Postfix, reduced(x.dims, at, site.keepdim), held(site.type), false};
}

Expression spell_any(Body& body, const Site& site) {
  Expression x = site.value(0);
  if (x.type == Type(DType::U8)) x = body.cast(std::move(x), Type(DType::Bool));  // torch answers u8 with u8
  return reduce_by_method(body, std::move(x), site);
}

Expression spell_arg_extremum(Body& body, const Site& site) {
  Expression x = site.value(0);
  if (!x.number && x.type.boolean()) x = body.cast(std::move(x), Type(DType::U8));
  return reduce_by_method(body, std::move(x), site);
}

Expression spell_cumulative(Body& body, const Site& site) {
  const ir::ScanAttr& attr = site.node.as<ir::ScanAttr>();
  Op op = site.node.op;
  Expression x = body.with_axes(site.value(0), {attr.axis});
  std::string dim = dim_text(position(x.dims, attr.axis), x.dims.size());
  std::string text = x.within(Binding::Postfix);
  if (attr.reverse) text += ".flip(" + dim + ")";
  if (attr.exclusive) {
    std::string neutral = op == Op::CumSum    ? "0"
                          : op == Op::CumProd ? "1"
                          : op == Op::CumMin  ? "torch.inf"
                                              : "-torch.inf";
    bool bounded = (op == Op::CumMax || op == Op::CumMin) && !x.type.floating();
    if (bounded && x.type.boolean()) neutral = op == Op::CumMax ? "False" : "True";
    if (bounded && !x.type.boolean())
      neutral = "torch.iinfo(" + body.dtype(x.type) + ")" + (op == Op::CumMax ? ".min" : ".max");
    text = body.local("shift_in") + "(" + text + ", " + dim + ", " + neutral + ")";
  }
  text += "." + std::string(method_of(op)) + "(dim=" + dim + ")";
  if (op == Op::CumMax || op == Op::CumMin) text += ".values";
  if (attr.reverse) text += ".flip(" + dim + ")";
  return {text, Binding::Postfix, x.dims, held(site.type), false};
}

}  // namespace kw::understand::reference
