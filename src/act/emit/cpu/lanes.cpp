#include "act/emit/cpu/lanes.h"

#include <algorithm>
#include <set>

#include "act/loop/index.h"

namespace kw::act::cpu {
namespace {

using ir::DType;
using ir::Op;

bool touches(const Index& index, LoopAxisId axis) { return has(axes_of(index), axis); }

bool has_lanes(const Map& map, const LoopKernel& kernel) {
  switch (map.op) {
    case Op::Neg:
    case Op::Abs:
    case Op::Sign:
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Exp:
    case Op::Tanh:
    case Op::Sigmoid:
    case Op::Not:
    case Op::StopGradient:
    case Op::Cast:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Max:
    case Op::Min:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Select:
      return true;
    case Op::Lt:
    case Op::Le:
    case Op::Eq:
    case Op::Ne:
      return std::none_of(map.args.begin(), map.args.end(), [&](ValueId arg) { return kernel[arg].type.boolean(); });
    case Op::Pow: {
      const Number* number = std::get_if<Number>(&kernel[map.args[1]].what);
      const double exponent = number ? number->literal.number() : 0;
      return exponent == 1 || exponent == 2 || exponent == 3 || exponent == 0.5 || exponent == -0.5 || exponent == -1;
    }
    default:
      return false;
  }
}

}  // namespace

std::optional<Index> offset_along(const Index& index, LoopAxisId axis) {
  if (index == axis_index(axis)) return size_index(0);
  if (index.kind != Index::Kind::Add) return std::nullopt;
  for (size_t i : {0, 1})
    if (index.operands[i] == axis_index(axis) && index.operands[1 - i].kind == Index::Kind::Size)
      return index.operands[1 - i];
  return std::nullopt;
}

bool runs_along(const std::vector<Index>& at, LoopAxisId inner) {
  return !at.empty() && offset_along(at.back(), inner) &&
         std::count_if(at.begin(), at.end(), [&](const Index& index) { return touches(index, inner); }) == 1 &&
         std::all_of(at.begin(), at.end(), [](const Index& index) { return values_of(index).empty(); });
}

bool fits_lanes(ir::Type type) {
  const DType floor = type.floor();
  return type.floating() &&
         (floor == DType::None || floor == DType::BF16 || floor == DType::F16 || floor == DType::F32);
}

bool fits_lanes(const LoopKernel& kernel, const Nest& nest, const std::vector<ValueId>& roots,
                const std::function<bool(ValueId)>& known) {
  std::set<ValueId> seen;
  auto fits = [&](auto&& self, ValueId v) -> bool {
    if (known(v) || !seen.insert(v).second) return true;
    const Value& value = kernel[v];
    if (std::holds_alternative<Number>(value.what) || std::holds_alternative<Scalar>(value.what)) return true;
    if (const Load* load = std::get_if<Load>(&value.what))
      return load->guard == kNoValue && fits_lanes(value.type) && runs_along(load->at, nest.inner);
    const Map* map = std::get_if<Map>(&value.what);
    return map && (value.type.boolean() || fits_lanes(value.type)) && has_lanes(*map, kernel) &&
           std::all_of(map->args.begin(), map->args.end(), [&](ValueId arg) { return self(self, arg); });
  };
  return std::all_of(roots.begin(), roots.end(), [&](ValueId root) { return fits(fits, root); });
}

}  // namespace kw::act::cpu
