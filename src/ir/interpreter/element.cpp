#include "ir/interpreter/element.h"

#include <array>

#include "ir/interpreter/group.h"
#include "ir/interpreter/meaning.h"

namespace kw::ir {

using namespace interpreter;

ElementFunction::ElementFunction(Op op, DType result, std::vector<DType> operands, Semantics semantics)
    : op_(op), result_(result), operands_(std::move(operands)), options_{.semantics = semantics} {
  KW_ASSERT(info(op).kind == OpKind::Pointwise, "only pointwise ops are functions of elements");
  operands_.resize(3);
}

double ElementFunction::operator()(std::span<const double> operands) const {
  std::array<double, 3> converted{};
  PointwiseCall call;
  for (size_t i = 0; i < operands.size(); ++i) {
    converted[i] = operands[i];
    const Conversion conversion = conversion_of(op_, result_, operands_, i, options_);
    if (conversion.to != DType::None) convert(conversion, &converted[i], nullptr, 1);
    call.in[i] = {&converted[i], nullptr, 0};
  }
  double out = 0;
  call.out = &out;
  call.n = 1;
  call.type = result_;
  const Meaning& meaning = meaning_of(op_, options_);
  meaning.values(call);
  finish_values(op_, result_, options_.semantics == Semantics::Rounded, meaning.exactness, &out, nullptr, 1);
  return out;
}

namespace {

// Sums are more exact than f64 in both semantics, so that no order of the terms shows.
const FoldMode& fold_mode(Op op) { return meaning_of(op, {}).folding->rounded; }

}  // namespace

ElementFold::ElementFold(Op op, DType result, Semantics semantics)
    : op_(op), result_(result), semantics_(semantics), state_(static_cast<size_t>(fold_mode(op).width)) {
  start();
}

void ElementFold::start() {
  fold_mode(op_).start(state_.data(), 1);
  terms_ = 0;
}

void ElementFold::add(double term) {
  fold_mode(op_).fold({state_.data(), 0, &term, nullptr, 1});
  ++terms_;
}

double ElementFold::value() const {
  double out = 0;
  fold_mode(op_).finish({state_.data(), &out, nullptr, 1, terms_, SumModel{0, 1}});
  finish_values(op_, result_, semantics_ == Semantics::Rounded, meaning_of(op_, {}).exactness, &out, nullptr, 1);
  return out;
}

double store_element(DType type, double value, Semantics semantics) {
  finish_values(Op::Input, type, semantics == Semantics::Rounded, Exactness::Correct, &value, nullptr, 1);
  return value;
}

}  // namespace kw::ir
