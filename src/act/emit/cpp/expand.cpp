#include "act/emit/cpp/expand.h"

#include <algorithm>
#include <limits>
#include <set>

#include "act/loop/index.h"

namespace kw::act::cpp {
namespace {

using ir::DType;
using ir::Op;

class Expansion {
 public:
  explicit Expansion(LoopKernel kernel) : kernel_(std::move(kernel)) {}

  LoopKernel run() {
    for (size_t s = 0; s < kernel_.stages.size(); ++s) {
      std::vector<ValueId> found;
      for (ValueId r : kernel_.stages[s].reductions)
        if (is_two_fold(std::get<Reduced>(kernel_[r].what).op)) found.push_back(r);
      if (found.empty()) continue;
      split_stage(s, found);
      ++s;
    }
    return std::move(kernel_);
  }

 private:
  static bool is_two_fold(Op op) { return op == Op::LogSumExp || op == Op::ArgMax || op == Op::ArgMin; }

  ValueId add(decltype(Value::what) what, ir::Type type, std::vector<LoopAxisId> axes, std::string name = {}) {
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    ValueId id = static_cast<ValueId>(kernel_.values.size());
    if (name.empty()) name = "v" + std::to_string(id);
    auto taken = [&](const std::string& n) {
      return std::any_of(kernel_.values.begin(), kernel_.values.end(), [&](const Value& v) { return v.name == n; });
    };
    while (taken(name)) name += "_";
    kernel_.values.push_back({std::move(what), type, std::move(axes), std::move(name), {}});
    return id;
  }
  ValueId map(Op op, std::vector<ValueId> args, ir::Type type) {
    std::vector<LoopAxisId> axes;
    for (ValueId a : args) axes.insert(axes.end(), kernel_[a].axes.begin(), kernel_[a].axes.end());
    return add(Map{op, std::move(args)}, type, std::move(axes));
  }
  ValueId number(double value) { return add(Number{ir::Literal{value}}, DType::Real, {}); }

  // The first stage finds the extreme; everything that its reductions led to comes after the second.
  void split_stage(size_t s, const std::vector<ValueId>& found) {
    Stage second;
    Stage& first = kernel_.stages[s];
    second.loop = first.loop;
    second.after = std::move(first.after);
    second.after_stores = std::move(first.after_stores);
    first.after.clear();
    first.after_stores.clear();
    for (ValueId r : found) {
      std::erase(first.reductions, r);
      const Reduced reduced = std::get<Reduced>(kernel_[r].what);
      if (reduced.op == Op::LogSumExp)
        log_sum_exp(r, reduced, first, second);
      else
        position_of_extreme(r, reduced, first, second);
    }
    fill_body(second);
    kernel_.stages.insert(kernel_.stages.begin() + static_cast<std::ptrdiff_t>(s) + 1, std::move(second));
  }

  void log_sum_exp(ValueId r, const Reduced& reduced, Stage& first, Stage& second) {
    const ir::Type type = kernel_[r].type, wide = ir::opmath(type);
    const std::vector<LoopAxisId> axes = kernel_[r].axes;
    const std::string name = kernel_[r].name;
    ValueId extreme =
        add(Reduced{Op::ReduceMax, reduced.arg, reduced.over, {}}, kernel_[reduced.arg].type, axes, name + "_max");
    first.reductions.push_back(extreme);
    // An infinite maximum would make inf - inf of its own term.
    ValueId peak = map(Op::Cast, {extreme}, wide);
    ValueId infinite =
        map(Op::Eq, {map(Op::Abs, {peak}, wide), number(std::numeric_limits<double>::infinity())}, DType::Bool);
    ValueId shift = map(Op::Select, {infinite, number(0), peak}, wide);
    kernel_.values[static_cast<size_t>(shift)].name = name + "_shift";
    first.after.push_back(shift);
    ValueId e = map(Op::Exp, {map(Op::Sub, {map(Op::Cast, {reduced.arg}, wide), shift}, wide)}, wide);
    ValueId total = add(Reduced{Op::Sum, e, reduced.over, {}}, wide, axes, name + "_sum");
    second.reductions.push_back(total);
    std::vector<ValueId> sum{shift, map(Op::Log, {total}, wide)};
    Map result{Op::Add, sum};
    if (!(wide == type)) result = {Op::Cast, {map(Op::Add, std::move(sum), wide)}};
    kernel_.values[static_cast<size_t>(r)].what = std::move(result);
    second.after.insert(second.after.begin(), r);
  }

  void position_of_extreme(ValueId r, const Reduced& reduced, Stage& first, Stage& second) {
    const Op op = reduced.op == Op::ArgMax ? Op::ReduceMax : Op::ReduceMin;
    ValueId arg = reduced.arg;
    if (kernel_[arg].type.boolean()) {
      arg = map(Op::Cast, {arg}, DType::I64);
      first.body.push_back(arg);
    }
    const ir::Type type = kernel_[arg].type;
    const std::string name = kernel_[r].name;
    ValueId extreme =
        add(Reduced{op, arg, reduced.over, {}}, type, kernel_[r].axes, name + (op == Op::ReduceMax ? "_max" : "_min"));
    first.reductions.push_back(extreme);
    ValueId same = map(Op::Eq, {arg, extreme}, DType::Bool);
    if (type.floating()) {
      ValueId both_nan = map(
          Op::And, {map(Op::Ne, {arg, arg}, DType::Bool), map(Op::Ne, {extreme, extreme}, DType::Bool)}, DType::Bool);
      same = map(Op::Or, {same, both_nan}, DType::Bool);
    }
    ValueId position = add(IndexValue{reduced.position}, DType::I64, axes_of(reduced.position));
    ValueId beyond = add(Number{ir::Literal{std::numeric_limits<int64_t>::max()}}, DType::Int, {});
    ValueId candidate = map(Op::Select, {same, position, beyond}, DType::I64);
    kernel_.values[static_cast<size_t>(r)].what = Reduced{Op::ReduceMin, candidate, reduced.over, {}};
    second.reductions.push_back(r);
  }

  void fill_body(Stage& stage) {
    std::set<ValueId> body;
    auto visit = [&](auto&& self, ValueId v) -> void {
      const Value& value = kernel_[v];
      if (std::holds_alternative<Reduced>(value.what)) return;
      bool looped = std::any_of(value.axes.begin(), value.axes.end(), [&](LoopAxisId a) {
        return std::find(stage.loop.begin(), stage.loop.end(), a) != stage.loop.end();
      });
      if (looped) body.insert(v);
      for (ValueId operand : operands_of(value)) self(self, operand);
    };
    for (ValueId r : stage.reductions) visit(visit, std::get<Reduced>(kernel_[r].what).arg);
    stage.body.assign(body.begin(), body.end());
  }

  LoopKernel kernel_;
};

}  // namespace

LoopKernel expand_reductions(const LoopKernel& kernel) { return Expansion(kernel).run(); }

}  // namespace kw::act::cpp
