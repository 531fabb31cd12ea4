#include "act/loop/halves.h"

#include <algorithm>

#include "act/loop/index.h"
#include "base/text.h"

namespace kw::act {
namespace {

using ir::Op;

// factor * axis + rest
struct Linear {
  int64_t factor = 0;
  ir::Size rest;
};

std::optional<Linear> linear(const Index& index, LoopAxisId axis) {
  switch (index.kind) {
    case Index::Kind::Axis:
      if (index.axis != axis) return std::nullopt;
      return Linear{1, ir::Size(0)};
    case Index::Kind::Size:
      return Linear{0, index.size};
    case Index::Kind::Add:
    case Index::Kind::Sub: {
      const auto a = linear(index.operands[0], axis), b = linear(index.operands[1], axis);
      if (!a || !b) return std::nullopt;
      if (index.kind == Index::Kind::Add) return Linear{a->factor + b->factor, a->rest + b->rest};
      return Linear{a->factor - b->factor, a->rest - b->rest};
    }
    case Index::Kind::Mul: {
      const auto a = linear(index.operands[0], axis), b = linear(index.operands[1], axis);
      if (!a || !b || a->factor != 0 || b->factor != 0) return std::nullopt;
      return Linear{0, a->rest * b->rest};
    }
    case Index::Kind::FloorDiv:
    case Index::Kind::Mod:
    case Index::Kind::Value:
      break;
  }
  return std::nullopt;
}

// A kernel, rebuilt over one half of an axis. `half` is its size, twice of which is the axis.
class Halves {
 public:
  Halves(const LoopProgram& program, const LoopKernel& kernel, LoopAxisId whole, LoopAxisId half)
      : program_(program), kernel_(kernel), arithmetic_(program.axes), whole_(whole), half_(half) {}

  // Nothing where it is not known for an element which half it lies in.
  std::optional<LoopKernel> run() {
    out_.name = kernel_.name;
    for (LoopAxisId axis : kernel_.parallel) out_.parallel.push_back(axis == whole_ ? half_ : axis);
    Stage stage;
    for (const Stage& from : kernel_.stages)
      for (const Store& store : from.after_stores)
        for (region_ = 0; region_ < 2; ++region_) {
          clones_.clear();
          Store to{store.buffer, {}, clone(store.value)};
          for (const Index& index : store.at) to.at.push_back(moved(index));
          stage.after_stores.push_back(std::move(to));
        }
    if (!known_) return std::nullopt;
    for (size_t v = 0; v < out_.values.size(); ++v) stage.after.push_back(static_cast<ValueId>(v));
    out_.stages = {stage};
    return out_;
  }

 private:
  ir::Size size_of_half() const { return program_.axes[static_cast<size_t>(half_)].size; }

  Index moved(const Index& index) const {
    return arithmetic_.rebuild(index, [&](const Index& leaf) {
      if (leaf.kind == Index::Kind::Axis && leaf.axis == whole_)
        return region_ == 0 ? axis_index(half_) : arithmetic_.add(axis_index(half_), size_index(size_of_half()));
      if (leaf.kind == Index::Kind::Value) return value_index(clones_.at(leaf.value));
      return leaf;
    });
  }

  // How often the half goes into a size, if it is a multiple of it.
  std::optional<int64_t> multiple(const ir::Size& size) const {
    const ir::Size half = size_of_half(), whole = program_.axes[static_cast<size_t>(whole_)].size;
    for (int64_t halves = -2; halves <= 2; ++halves)
      for (int64_t wholes = -1; wholes <= 1; ++wholes)
        if (size == ir::Size(halves) * half + ir::Size(wholes) * whole) return halves + 2 * wholes;
    return std::nullopt;
  }

  // a < b, or a <= b, where the axis decides.
  std::optional<bool> compared(const Linear& a, const Linear& b, bool or_equal) const {
    const int64_t factor = a.factor - b.factor;
    const std::optional<int64_t> n = multiple(b.rest - a.rest);
    if (!n) return std::nullopt;
    if (factor == 0) return or_equal ? 0 <= *n : 0 < *n;
    if (factor == 1) {  // axis < n halves
      if (*n >= 1) return true;
      return *n < 0 || !or_equal ? std::optional(false) : std::nullopt;
    }
    if (factor == -1) {  // axis > -n halves
      if (-*n >= 1) return false;
      return -*n < 0 || or_equal ? std::optional(true) : std::nullopt;
    }
    return std::nullopt;
  }

  const bool* truth(ValueId v) const {
    auto found = truths_.find(v);
    return found == truths_.end() ? nullptr : &found->second;
  }
  ValueId constant(bool value) {
    const ValueId id = add(Number{ir::Literal{static_cast<int64_t>(value)}}, ir::DType::Bool, "holds", false);
    truths_[id] = value;
    return id;
  }

  ValueId clone(ValueId v) {
    if (auto known = clones_.find(v); known != clones_.end()) return known->second;
    const Value& value = kernel_[v];
    for (ValueId operand : operands_of(value))
      if (!std::holds_alternative<Load>(value.what) && !std::holds_alternative<Map>(value.what)) clone(operand);
    return clones_[v] = copy(value);
  }
  ValueId copy(const Value& value) {
    if (const Load* load = std::get_if<Load>(&value.what)) return copy_load(value, *load);
    if (const Map* map = std::get_if<Map>(&value.what)) return copy_map(value, *map);
    if (const IndexValue* index = std::get_if<IndexValue>(&value.what))
      return add(IndexValue{moved(index->index)}, value.type, value.name, value.is_named);
    if (std::holds_alternative<Reduced>(value.what)) known_ = false;
    return add(value.what, value.type, value.name, value.is_named);
  }
  ValueId copy_load(const Value& value, const Load& load) {
    Load to = load;
    if (load.guard != kNoValue) {
      const ValueId guard = clone(load.guard), otherwise = clone(load.otherwise);
      if (const bool* holds = truth(guard)) {
        if (!*holds) return otherwise;
        to.guard = to.otherwise = kNoValue;
      } else {
        known_ = false;
        to.guard = guard;
        to.otherwise = otherwise;
      }
    }
    for (Index& index : to.at) {
      for (ValueId inside : values_of(index)) clone(inside);
      index = moved(index);
    }
    return add(to, value.type, value.name, value.is_named);
  }
  std::optional<Linear> position(ValueId v) const {
    const Value& value = out_[v];
    if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) return linear(index->index, half_);
    if (const Number* number = std::get_if<Number>(&value.what))
      if (const int64_t* whole = std::get_if<int64_t>(&number->literal.value)) return Linear{0, ir::Size(*whole)};
    return std::nullopt;
  }
  ValueId copy_map(const Value& value, const Map& map) {
    std::vector<ValueId> args;
    if (map.op == Op::Select) {
      args.push_back(clone(map.args[0]));
      if (const bool* holds = truth(args[0])) {
        const ValueId chosen = clone(map.args[*holds ? 1 : 2]);
        return out_[chosen].type == value.type ? chosen
                                               : add(Map{Op::Cast, {chosen}}, value.type, value.name, value.is_named);
      }
      for (size_t i : {1, 2}) args.push_back(clone(map.args[i]));
      return add(Map{map.op, args}, value.type, value.name, value.is_named);
    }
    for (ValueId arg : map.args) args.push_back(clone(arg));
    if (map.op == Op::Lt || map.op == Op::Le) {
      const auto a = position(args[0]), b = position(args[1]);
      if (a && b)
        if (const auto known = compared(*a, *b, map.op == Op::Le)) return constant(*known);
    }
    if (map.op == Op::And || map.op == Op::Or)
      for (size_t i : {0, 1})
        if (const bool* holds = truth(args[i])) return *holds == (map.op == Op::And) ? args[1 - i] : args[i];
    if (map.op == Op::Not)
      if (const bool* holds = truth(args[0])) return constant(!*holds);
    if (map.op == Op::Add)  // the other half's part of a sum
      for (size_t i : {0, 1})
        if (is_zero(args[i]) && out_[args[1 - i]].type == value.type) return args[1 - i];
    return add(Map{map.op, args}, value.type, value.name, value.is_named);
  }

  bool is_zero(ValueId v) const {
    const Map* map = std::get_if<Map>(&out_[v].what);
    if (map && map->op == Op::Cast) return is_zero(map->args[0]);
    const Number* number = std::get_if<Number>(&out_[v].what);
    return number && out_[v].type.floating() && number->literal.number() == 0;
  }

  // One value for everything that is equal.
  ValueId add(decltype(Value::what) what, ir::Type type, const std::string& name, bool is_named) {
    Value value{std::move(what), type, {}, name, {}, is_named};
    for (size_t v = 0; v < out_.values.size(); ++v)
      if (equal(out_.values[v], value)) return static_cast<ValueId>(v);
    std::vector<LoopAxisId> axes;
    auto note = [&](const Index& index) {
      for (LoopAxisId a : axes_of(index)) axes.push_back(a);
    };
    if (const Load* load = std::get_if<Load>(&value.what))
      for (const Index& index : load->at) note(index);
    if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) note(index->index);
    for (ValueId operand : operands_of(value))
      axes.insert(axes.end(), out_[operand].axes.begin(), out_[operand].axes.end());
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    value.axes = axes;
    auto taken = [&](const std::string& n) {
      return std::any_of(out_.values.begin(), out_.values.end(), [&](const Value& other) { return other.name == n; });
    };
    for (int n = 2; taken(value.name); ++n) value.name = name + "_" + std::to_string(n);
    out_.values.push_back(std::move(value));
    return static_cast<ValueId>(out_.values.size() - 1);
  }
  static bool equal(const Value& a, const Value& b) {
    if (!(a.type == b.type) || a.what.index() != b.what.index()) return false;
    if (const Load* x = std::get_if<Load>(&a.what)) {
      const Load& y = std::get<Load>(b.what);
      return x->buffer == y.buffer && x->at == y.at && x->guard == y.guard && x->otherwise == y.otherwise;
    }
    if (const Map* x = std::get_if<Map>(&a.what)) {
      const Map& y = std::get<Map>(b.what);
      return x->op == y.op && x->args == y.args;
    }
    if (const Number* x = std::get_if<Number>(&a.what)) return x->literal == std::get<Number>(b.what).literal;
    if (const Scalar* x = std::get_if<Scalar>(&a.what)) return x->name == std::get<Scalar>(b.what).name;
    if (const IndexValue* x = std::get_if<IndexValue>(&a.what)) return x->index == std::get<IndexValue>(b.what).index;
    return false;
  }

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  IndexArithmetic arithmetic_;
  LoopAxisId whole_, half_;
  int region_ = 0;
  bool known_ = true;
  LoopKernel out_;
  std::map<ValueId, ValueId> clones_;  // of the present region
  std::map<ValueId, bool> truths_;     // of values of the new kernel
};

// The axis that guards ask about, if all of the kernel is pointwise and the axis has two halves.
std::optional<ir::Size> half_of(const LoopProgram& program, LoopAxisId axis) {
  const ir::Size& size = program.axes[static_cast<size_t>(axis)].size;
  const ir::Size half = floor_div(size, ir::Size(2));
  if (size == ir::Size(2) * half) return half;
  for (const ir::SizeConstraint& c : program.constraints)
    if (c.kind != ir::SizeConstraint::Kind::Equal && c.left == size && c.right == ir::Size(2)) return half;
  return std::nullopt;
}

}  // namespace

LoopProgram split_halves(const LoopProgram& program) {
  LoopProgram out = program;
  for (LoopKernel& kernel : out.kernels) {
    const bool pointwise = std::all_of(kernel.stages.begin(), kernel.stages.end(), [](const Stage& stage) {
      return stage.loop.empty() && stage.accumulates.empty() && stage.stores.empty();
    });
    if (!pointwise) continue;
    for (LoopAxisId axis : kernel.parallel) {
      // Guards that ask about the axis, and stores of all of it.
      const bool guarded = std::any_of(kernel.values.begin(), kernel.values.end(), [&](const Value& value) {
        return value.type.boolean() && has(value.axes, axis);
      });
      const bool stored = std::all_of(kernel.stages.begin(), kernel.stages.end(), [&](const Stage& stage) {
        return std::all_of(stage.after_stores.begin(), stage.after_stores.end(), [&](const Store& store) {
          return std::any_of(store.at.begin(), store.at.end(), [&](const Index& i) { return i == axis_index(axis); });
        });
      });
      const std::optional<ir::Size> half = half_of(out, axis);
      if (!guarded || !stored || !half) continue;
      const LoopAxisId added = static_cast<LoopAxisId>(out.axes.size());
      std::string name = "half";
      while (std::any_of(out.axes.begin(), out.axes.end(), [&](const LoopAxis& a) { return a.name == name; }))
        name += "_";
      out.axes.push_back({name, *half, {}});
      std::optional<LoopKernel> split = Halves(out, kernel, axis, added).run();
      if (!split) {
        out.axes.pop_back();
        continue;
      }
      kernel = std::move(*split);
      break;
    }
  }
  return out;
}

}  // namespace kw::act
