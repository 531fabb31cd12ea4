#include "act/emit/cuda/early_sums.h"

#include <algorithm>
#include <map>
#include <set>

namespace kw::act::cuda {
namespace {

using ir::Op;

class EarlySums {
 public:
  explicit EarlySums(LoopKernel& kernel) : kernel_(kernel) {}

  void run() {
    for (size_t s = 0; s < kernel_.stages.size(); ++s) {
      Stage& stage = kernel_.stages[s];
      if (stage.loop.empty() || stage.reductions.empty() || !stage.stores.empty() || !stage.accumulates.empty())
        continue;
      size_t before = s;
      while (before > 0 && kernel_.stages[--before].loop.empty()) continue;
      if (before == s || kernel_.stages[before].loop != stage.loop) continue;
      if (move(stage, kernel_.stages[before], before)) stage.loop.clear();
    }
  }

 private:
  // Whether a value is known before the stage's reductions are.
  bool is_early(ValueId v, size_t stage) const {
    for (size_t s = stage; s < kernel_.stages.size(); ++s)
      if (std::find(kernel_.stages[s].reductions.begin(), kernel_.stages[s].reductions.end(), v) !=
          kernel_.stages[s].reductions.end())
        return false;
    const std::vector<ValueId> operands = operands_of(kernel_[v]);
    return std::all_of(operands.begin(), operands.end(), [&](ValueId o) { return is_early(o, stage); });
  }
  bool of_row(ValueId v) const {  // the same for all of its elements
    return std::all_of(kernel_[v].axes.begin(), kernel_[v].axes.end(), [&](LoopAxisId axis) {
      return std::find(kernel_.parallel.begin(), kernel_.parallel.end(), axis) != kernel_.parallel.end();
    });
  }

  // What a sum over the row is made of: sums that are early, scaled and added. Nothing where there is no such way.
  bool splits(ValueId v, ir::Type type, size_t before) const {
    if (kernel_[v].type != type || of_row(v)) return false;
    const Map* map = std::get_if<Map>(&kernel_[v].what);
    if (map && scaled(*map) >= 0) return splits(map->args[static_cast<size_t>(scaled(*map))], type, before);
    if (is_early(v, before)) return true;
    if (!map || (map->op != Op::Add && map->op != Op::Sub && map->op != Op::Neg)) return false;
    return std::all_of(map->args.begin(), map->args.end(), [&](ValueId a) { return splits(a, type, before); });
  }
  // Which operand is scaled by a factor of the row; -1: none.
  int scaled(const Map& map) const {
    if (map.op == Op::Mul && of_row(map.args[0])) return 1;
    if ((map.op == Op::Mul || map.op == Op::Div) && of_row(map.args[1])) return 0;
    return -1;
  }
  ValueId add(decltype(Value::what) what, const Value& like) {
    std::string name = like.name + "_early";
    while (std::any_of(kernel_.values.begin(), kernel_.values.end(), [&](const Value& v) { return v.name == name; }))
      name += "_";
    kernel_.values.push_back({std::move(what), like.type, like.axes, std::move(name), {}});
    return static_cast<ValueId>(kernel_.values.size() - 1);
  }
  ValueId sum_of(ValueId v, const Value& result, const Reduced& reduced, Stage& to, size_t before) {
    if (const auto known = sums_.find({reduced.op, v}); known != sums_.end()) return known->second;
    const Map* found = std::get_if<Map>(&kernel_[v].what);
    const int which = found ? scaled(*found) : -1;
    if (!found || (which < 0 && is_early(v, before))) {
      const ValueId sum = add(Reduced{reduced.op, v, reduced.over}, result);
      to.reductions.push_back(sum);
      return sums_[{reduced.op, v}] = sum;
    }
    Map map = *found;
    for (size_t i = 0; i < map.args.size(); ++i)
      if (which < 0 || static_cast<size_t>(which) == i) map.args[i] = sum_of(map.args[i], result, reduced, to, before);
    const ValueId sum = add(map, result);
    if (which < 0 || map.op != Op::Mul) return sum;
    // An infinite factor would make terms of both signs so, and their sum no number.
    const ValueId factor = map.args[static_cast<size_t>(1 - which)];
    if (is_early(factor, before) || kernel_[factor].type != result.type) return sum;
    return add(Map{Op::Add, {sum, add(Map{Op::Sub, {factor, factor}}, result)}}, result);
  }

  bool move(Stage& stage, Stage& to, size_t before) {
    for (ValueId r : stage.reductions) {
      const Reduced& reduced = std::get<Reduced>(kernel_[r].what);
      if ((reduced.op != Op::Sum && reduced.op != Op::Mean) || !kernel_[r].type.floating() ||
          ir::opmath(kernel_[r].type) != kernel_[r].type || !splits(reduced.arg, kernel_[r].type, before))
        return false;
    }
    for (ValueId r : stage.reductions) {
      const Value result = kernel_[r];
      const Reduced reduced = std::get<Reduced>(result.what);
      const ValueId sum = sum_of(reduced.arg, result, reduced, to, before);
      kernel_.values[static_cast<size_t>(r)].what = Map{Op::Cast, {sum}};
      stage.after.insert(stage.after.begin(), r);
    }
    stage.reductions.clear();
    stage.body.clear();
    return true;
  }

  LoopKernel& kernel_;
  std::map<std::pair<Op, ValueId>, ValueId> sums_;
};

}  // namespace

LoopProgram early_sums(LoopProgram program) {
  for (LoopKernel& kernel : program.kernels) EarlySums(kernel).run();
  return program;
}

}  // namespace kw::act::cuda
