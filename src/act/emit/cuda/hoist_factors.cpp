#include "act/emit/cuda/hoist_factors.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "act/emit/cpp/compared_products.h"
#include "act/emit/cuda/kernel_plan.h"
#include "act/loop/uses.h"

namespace kw::act::cuda {
namespace {

using ir::Op;

bool varies(const Value& value, LoopAxisId along) {
  return std::find(value.axes.begin(), value.axes.end(), along) != value.axes.end();
}
// Whether a value is a product that nothing rounds.
bool is_product(const Value& value) {
  const Map* map = std::get_if<Map>(&value.what);
  return map && map->op == Op::Mul && value.type.floating() && ir::opmath(value.type) == value.type;
}
// Two: it takes no bit from a factor, and only one beyond half of the largest number leaves the range with it.
bool is_two(const Value& value) {
  const Number* number = std::get_if<Number>(&value.what);
  return number && std::abs(number->literal.number()) == 2;
}

class Hoister {
 public:
  Hoister(LoopKernel& kernel, const KernelPlan& plan)
      : kernel_(kernel),
        inner_(plan.nest.inner),
        again_(plan.in_parts),
        uses_(use_counts(kernel)),
        taken_(cpp::find_compared_products(kernel)) {}

  void run() {
    const size_t count = kernel_.values.size();
    // From the outermost product inwards: the parts of one that was taken apart are not looked at again.
    for (size_t i = count; i-- > 0;)
      if (is_product(kernel_.values[i]) && varies(kernel_.values[i], inner_) &&
          !taken_.contains(static_cast<ValueId>(i)))
        hoist(static_cast<ValueId>(i));
  }

 private:
  void hoist(ValueId v) {
    std::set<ValueId> opened;
    const Factored parts = factored(kernel_, v, inner_, [&](ValueId o) {
      if (!again_ && uses_[static_cast<size_t>(o)] != 1) return false;
      opened.insert(o);
      return true;
    });
    if (parts.factors.size() < 2 || parts.terms.size() != 1) return;
    if (std::count_if(parts.factors.begin(), parts.factors.end(),
                      [&](ValueId factor) { return !is_two(kernel_[factor]); }) > 1)
      return;
    taken_.insert(opened.begin(), opened.end());
    const ValueId factor = product_of(parts.factors, v), term = product_of(parts.terms, v);
    kernel_.values[static_cast<size_t>(v)].what = Map{Op::Mul, {term, factor}};
  }
  ValueId product_of(const std::vector<ValueId>& operands, ValueId like) {
    ValueId product = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) {
      std::vector<LoopAxisId> axes = kernel_[product].axes;
      for (LoopAxisId axis : kernel_[operands[i]].axes)
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
      std::sort(axes.begin(), axes.end());
      kernel_.values.push_back({Map{Op::Mul, {product, operands[i]}}, kernel_[like].type, axes, fresh("factor"), {}});
      product = static_cast<ValueId>(kernel_.values.size() - 1);
    }
    return product;
  }
  std::string fresh(std::string name) const {
    const std::string base = name;
    for (int i = 2; std::any_of(kernel_.values.begin(), kernel_.values.end(),
                                [&](const Value& value) { return value.name == name; });
         ++i)
      name = base + "_" + std::to_string(i);
    return name;
  }

  LoopKernel& kernel_;
  const LoopAxisId inner_;
  const bool again_;  // every stage computes what it wants by itself: it does not matter who else does
  const std::vector<int> uses_;
  std::set<ValueId> taken_;  // or to be left: what is compared is the same number in every kernel
};

}  // namespace

Factored factored(const LoopKernel& kernel, ValueId product, LoopAxisId along,
                  const std::function<bool(ValueId)>& opens) {
  Factored out;
  const ir::Type type = kernel[product].type;
  auto visit = [&](auto&& self, ValueId v, bool first) -> void {
    if (!varies(kernel[v], along)) {
      out.factors.push_back(v);
    } else if (is_product(kernel[v]) && kernel[v].type == type && (first || opens(v))) {
      for (ValueId operand : std::get<Map>(kernel[v].what).args) self(self, operand, false);
    } else {
      out.terms.push_back(v);
    }
  };
  visit(visit, product, true);
  return out;
}

LoopProgram hoist_factors(LoopProgram program) {
  for (LoopKernel& kernel : program.kernels) {
    const KernelPlan plan = plan_kernel(program, kernel);
    if (plan.shape == KernelPlan::Shape::Rows) Hoister(kernel, plan).run();
  }
  return program;
}

}  // namespace kw::act::cuda
