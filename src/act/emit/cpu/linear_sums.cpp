#include "act/emit/cpu/linear_sums.h"

#include <algorithm>

namespace kw::act::cpu {
namespace {

using ir::Op;

// A term of a sum, and what it is multiplied with or divided by, outermost first.
struct Term {
  ValueId value;
  bool negative = false;
  std::vector<std::pair<Op, ValueId>> factors = {};
};

class LinearSums {
 public:
  LinearSums(LoopKernel kernel, const cpp::CppTypes& types) : kernel_(std::move(kernel)), types_(types) {}

  LoopKernel run() {
    for (size_t s = 1; s < kernel_.stages.size();)
      if (!remove(s)) ++s;
    return std::move(kernel_);
  }

 private:
  Stage& stage(size_t s) { return kernel_.stages[s]; }
  bool varies(ValueId v) const {
    return std::any_of(kernel_[v].axes.begin(), kernel_[v].axes.end(),
                       [&](LoopAxisId a) { return std::find(over_.begin(), over_.end(), a) != over_.end(); });
  }
  bool is_exact(ValueId v) const { return kernel_[v].type.floating() && !types_.rounds(kernel_[v].type); }

  // The stages that must be over before a value is known.
  size_t stages_before(ValueId v) const {
    if (std::holds_alternative<Reduced>(kernel_[v].what)) {
      for (size_t s = 0; s < kernel_.stages.size(); ++s) {
        const std::vector<ValueId>& reductions = kernel_.stages[s].reductions;
        if (std::find(reductions.begin(), reductions.end(), v) != reductions.end()) return s + 1;
      }
      return kernel_.stages.size();
    }
    size_t most = 0;
    for (ValueId operand : operands_of(kernel_[v])) most = std::max(most, stages_before(operand));
    return most;
  }

  // The first stage whose loop can sum a value.
  size_t stage_for(ValueId v) const {
    size_t s = stages_before(v);
    while (s < kernel_.stages.size() && kernel_.stages[s].loop.empty()) ++s;
    return s;
  }

  // A value as a sum of terms with factors that do not vary.
  std::vector<Term> terms(ValueId v) const {
    const Map* map = std::get_if<Map>(&kernel_[v].what);
    if (!map || !is_exact(v)) return {{v}};
    if (map->op == Op::Neg) {
      std::vector<Term> of = terms(map->args[0]);
      for (Term& term : of) term.negative = !term.negative;
      return of;
    }
    if ((map->op == Op::Add || map->op == Op::Sub) && varies(map->args[0]) && varies(map->args[1])) {
      std::vector<Term> of = terms(map->args[0]), more = terms(map->args[1]);
      for (Term& term : more) {
        term.negative ^= map->op == Op::Sub;
        of.push_back(std::move(term));
      }
      return of;
    }
    if (map->op != Op::Mul && map->op != Op::Div) return {{v}};
    const size_t varying = map->op == Op::Div || varies(map->args[0]) ? 0 : 1;
    const ValueId factor = map->args[1 - varying];
    if (varies(factor) || !varies(map->args[varying])) return {{v}};
    std::vector<Term> of = terms(map->args[varying]);
    for (Term& term : of) term.factors.insert(term.factors.begin(), {map->op, factor});
    return of;
  }

  bool is_linear_sum(ValueId r, size_t s) const {
    const Reduced& reduced = std::get<Reduced>(kernel_[r].what);
    if ((reduced.op != Op::Sum && reduced.op != Op::Mean) || !is_exact(r)) return false;
    const std::vector<Term> of = terms(reduced.arg);
    return std::all_of(of.begin(), of.end(), [&](const Term& term) {
      const size_t at = stage_for(term.value);
      return is_exact(term.value) && varies(term.value) && at < s && kernel_.stages[at].loop == kernel_.stages[s].loop;
    });
  }

  bool remove(size_t s) {
    over_ = stage(s).loop;
    if (over_.empty() || stage(s).reductions.empty() || !stage(s).stores.empty() || !stage(s).accumulates.empty())
      return false;
    const std::vector<ValueId> sums = stage(s).reductions;
    if (!std::all_of(sums.begin(), sums.end(), [&](ValueId r) { return is_linear_sum(r, s); })) return false;
    for (ValueId r : sums) split(r, s);
    Stage& before = stage(s - 1);
    before.after.insert(before.after.end(), stage(s).after.begin(), stage(s).after.end());
    before.after_stores.insert(before.after_stores.end(), stage(s).after_stores.begin(), stage(s).after_stores.end());
    kernel_.stages.erase(kernel_.stages.begin() + static_cast<std::ptrdiff_t>(s));
    return true;
  }

  void split(ValueId r, size_t s) {
    const Reduced reduced = std::get<Reduced>(kernel_[r].what);
    const ir::Type type = kernel_[r].type;
    const std::vector<Term> all = terms(reduced.arg);
    if (all.size() == 1 && !all[0].negative && all[0].factors.empty()) {  // the stage it waited for fell away
      stage(stage_for(reduced.arg)).reductions.push_back(r);
      return;
    }
    ValueId total = kNoValue;
    for (const Term& term : all) {
      const size_t at = stage_for(term.value);
      const ValueId sum = add(Reduced{reduced.op, term.value, reduced.over}, type, r);
      stage(at).reductions.push_back(sum);
      ValueId product = sum;
      const auto compute = [&](Op op, std::vector<ValueId> args) {
        const ValueId v = add(Map{op, std::move(args)}, type, r);
        stage(s - 1).after.push_back(v);
        return v;
      };
      for (size_t i = term.factors.size(); i-- > 0;) {
        const auto [op, factor] = term.factors[i];
        product = compute(op, {product, factor});
        // Infinite, it would make terms of both signs so, and their sum no number.
        if (op == Op::Mul && stages_before(factor) > 0)
          product = compute(Op::Add, {product, compute(Op::Sub, {factor, factor})});
      }
      if (total == kNoValue)
        total = term.negative ? compute(Op::Neg, {product}) : product;
      else
        total = compute(term.negative ? Op::Sub : Op::Add, {total, product});
    }
    kernel_.values[static_cast<size_t>(r)].what = kernel_[total].what;
    stage(s - 1).after.push_back(r);
  }

  ValueId add(decltype(Value::what) what, ir::Type type, ValueId like) {
    const auto id = static_cast<ValueId>(kernel_.values.size());
    std::string name = "v" + std::to_string(id);
    while (std::any_of(kernel_.values.begin(), kernel_.values.end(), [&](const Value& v) { return v.name == name; }))
      name += "_";
    kernel_.values.push_back({std::move(what), type, kernel_[like].axes, std::move(name), kernel_[like].origin});
    return id;
  }

  LoopKernel kernel_;
  mutable cpp::CppTypes types_;   // its own: to ask for a type declares it
  std::vector<LoopAxisId> over_;  // what the sums of the stage run over
};

}  // namespace

LoopKernel split_linear_sums(const LoopKernel& kernel, const cpp::CppTypes& types) {
  return LinearSums(kernel, types).run();
}

}  // namespace kw::act::cpu
