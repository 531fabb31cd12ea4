#include "ir/op.h"

namespace kw::ir {
namespace {

constexpr OpInfo kInfos[] = {
#define KW_ROW(name, text, kind, fewest, most) {Op::name, text, OpKind::kind, fewest, most},
    KW_OPS(KW_ROW)
#undef KW_ROW
};

}  // namespace

const OpInfo& info(Op op) { return kInfos[static_cast<size_t>(op)]; }

std::optional<Op> op_from_name(std::string_view name) {
  for (const OpInfo& row : kInfos)
    if (row.name == name) return row.op;
  return std::nullopt;
}

bool is_commutative(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Mul:
    case Op::Max:
    case Op::Min:
    case Op::Eq:
    case Op::Ne:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Contract:
      return true;
    default:
      return false;
  }
}

}  // namespace kw::ir
