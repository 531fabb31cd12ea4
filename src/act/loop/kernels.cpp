#include "act/loop/kernels.h"

#include <algorithm>
#include <set>

#include "act/loop/index.h"

namespace kw::act {
namespace {

using Axes = std::vector<LoopAxisId>;
using ir::Op;

Axes unite(const Axes& a, const Axes& b) {
  Axes out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

bool intersects(const Axes& a, const Axes& b) {
  return std::any_of(a.begin(), a.end(), [&](LoopAxisId x) { return std::binary_search(b.begin(), b.end(), x); });
}

void collect_values(const Index& index, std::vector<ValueId>& out) {
  if (index.kind == Index::Kind::Value) out.push_back(index.value);
  for (const Index& operand : index.operands) collect_values(operand, out);
}

}  // namespace

std::vector<ValueId> operands_of(const Value& value) {
  std::vector<ValueId> out;
  if (const Load* load = std::get_if<Load>(&value.what)) {
    for (const Index& index : load->at) collect_values(index, out);
    if (load->guard != kNoValue) out.push_back(load->guard);
    if (load->otherwise != kNoValue) out.push_back(load->otherwise);
  } else if (const Map* map = std::get_if<Map>(&value.what)) {
    out = map->args;
  } else if (const Reduced* reduced = std::get_if<Reduced>(&value.what)) {
    out.push_back(reduced->arg);
  } else if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) {
    collect_values(index->index, out);
  }
  return out;
}

namespace {

class KernelPlanner {
 public:
  KernelPlanner(std::string name, const ir::Graph& pass, LoweredValues lowered) : in_(std::move(lowered)) {
    program_.name = std::move(name);
    program_.symbols = pass.symbols;
    program_.type_parameters = pass.type_parameters;
    program_.axes = in_.axes;
    program_.buffers = in_.buffers;
    program_.scalars = in_.scalars;
    for (size_t i = 0; i < in_.outputs.size(); ++i) remaining_.push_back(i);
  }

  LoopProgram run() {
    while (!remaining_.empty()) {
      std::vector<ValueId> ready = ready_reductions();
      if (ready.empty())
        pointwise_kernels();
      else
        reduction_kernel(ready);
    }
    return std::move(program_);
  }

 private:
  struct Group {  // reductions that can be stages of one kernel
    Axes over, parallel;
    std::map<ValueId, int> stage;  // of each reduction, from 1
  };

  const Value& at(ValueId v) const { return in_.values[static_cast<size_t>(v)]; }
  const Reduced* reduced(ValueId v) const { return std::get_if<Reduced>(&at(v).what); }

  // The unavailable reductions that a value needs directly (not those below them).
  const std::set<ValueId>& needs(ValueId v) {
    if (auto known = needs_.find(v); known != needs_.end()) return known->second;
    std::set<ValueId> out;
    if (reduced(v)) {
      if (!available_.contains(v)) out.insert(v);
    } else {
      for (ValueId operand : operands_of(at(v))) {
        const std::set<ValueId>& below = needs(operand);
        out.insert(below.begin(), below.end());
      }
    }
    return needs_.emplace(v, std::move(out)).first->second;
  }

  // Every unavailable reduction below the remaining outputs, in order.
  std::vector<ValueId> pending_reductions() {
    needs_.clear();
    std::set<ValueId> seen;
    std::vector<ValueId> work;
    for (size_t o : remaining_)
      for (ValueId r : needs(in_.outputs[o].value)) work.push_back(r);
    while (!work.empty()) {
      ValueId r = work.back();
      work.pop_back();
      if (!seen.insert(r).second) continue;
      for (ValueId below : needs(reduced(r)->arg)) work.push_back(below);
    }
    return {seen.begin(), seen.end()};
  }

  std::vector<ValueId> ready_reductions() {
    std::vector<ValueId> ready;
    for (ValueId r : pending_reductions())
      if (needs(reduced(r)->arg).empty()) ready.push_back(r);
    return ready;
  }

  // The reductions over `over` at `parallel` that follow from what is available and from each other.
  Group close(const Axes& over, const Axes& parallel) {
    Group group{over, parallel, {}};
    bool grown = true;
    while (grown) {
      grown = false;
      for (ValueId r : pending_) {
        if (group.stage.contains(r) || reduced(r)->over != over || at(r).axes != parallel) continue;
        int stage = 1;
        bool known = true;
        for (ValueId below : needs(reduced(r)->arg)) {
          auto member = group.stage.find(below);
          known &= member != group.stage.end();
          if (known) stage = std::max(stage, member->second + 1);
        }
        // Without parallel axes the reduction is of everything: its result is known only when the kernel is over.
        if (!known || (parallel.empty() && stage > 1)) continue;
        group.stage[r] = stage;
        grown = true;
      }
    }
    return group;
  }

  // How many stages must be over before the value can be computed in a kernel of this group; nullopt: never in it.
  std::optional<int> depth(ValueId v, const Group& group) {
    int depth = 0;
    for (ValueId r : needs(v)) {
      auto member = group.stage.find(r);
      if (member == group.stage.end()) return std::nullopt;
      depth = std::max(depth, member->second);
    }
    return depth;
  }

  Axes output_axes(const LoweredOutput& output) const {
    Axes axes = at(output.value).axes;
    for (const Index& index : output.at) axes = unite(axes, axes_of(index));
    return axes;
  }

  void reduction_kernel(const std::vector<ValueId>& ready) {
    pending_ = pending_reductions();
    std::optional<Group> best;
    size_t best_score = 0;
    for (ValueId r : ready) {
      Group group = close(reduced(r)->over, at(r).axes);
      size_t score = group.stage.size();
      for (size_t o : remaining_)
        if (depth(in_.outputs[o].value, group)) score += 4;
      if (!best || score > best_score) best = std::move(group), best_score = score;
    }
    emit(*best);
  }

  // ---- one kernel ----
  struct Draft {
    LoopKernel kernel;
    std::map<ValueId, ValueId> local;
    const Group* group = nullptr;
  };

  ValueId import(Draft& draft, ValueId v) {
    if (auto known = draft.local.find(v); known != draft.local.end()) return known->second;
    Value value = at(v);
    if (auto where = available_.find(v); where != available_.end()) {
      Load load{where->second, {}, kNoValue, kNoValue};
      for (LoopAxisId a : value.axes) load.at.push_back(axis_index(a));
      value.what = std::move(load);
    } else {
      std::visit([&](auto& what) { import_operands(draft, what); }, value.what);
    }
    value.name = unique_name(draft, value);
    draft.kernel.values.push_back(std::move(value));
    ValueId id = static_cast<ValueId>(draft.kernel.values.size() - 1);
    draft.local.emplace(v, id);
    return id;
  }
  void import_operands(Draft& draft, Load& load) {
    for (Index& index : load.at) import_index(draft, index);
    if (load.guard != kNoValue) load.guard = import(draft, load.guard);
    if (load.otherwise != kNoValue) load.otherwise = import(draft, load.otherwise);
  }
  void import_operands(Draft& draft, Map& map) {
    for (ValueId& arg : map.args) arg = import(draft, arg);
  }
  void import_operands(Draft& draft, Reduced& reduced) { reduced.arg = import(draft, reduced.arg); }
  void import_operands(Draft& draft, IndexValue& value) { import_index(draft, value.index); }
  void import_operands(Draft&, Number&) {}
  void import_operands(Draft&, Scalar&) {}
  void import_index(Draft& draft, Index& index) {
    if (index.kind == Index::Kind::Value) index.value = import(draft, index.value);
    for (Index& operand : index.operands) import_index(draft, operand);
  }

  std::string unique_name(const Draft& draft, const Value& value) const {
    std::string base = value.name;
    std::erase_if(base, [](unsigned char c) { return !std::isalnum(c) && c != '_'; });
    if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0])))
      base = "v" + std::to_string(draft.kernel.values.size()) + base;
    std::string name = base;
    auto taken = [&](const std::string& n) {
      return std::any_of(draft.kernel.values.begin(), draft.kernel.values.end(),
                         [&](const Value& v) { return v.name == n; });
    };
    for (int i = 2; taken(name); ++i) name = base + "_" + std::to_string(i);
    return name;
  }

  BufferId add_buffer(std::string name, ir::Type type, std::vector<ir::Size> shape) {
    auto taken = [&](const std::string& n) {
      return std::any_of(program_.buffers.begin(), program_.buffers.end(),
                         [&](const Buffer& b) { return b.name == n; });
    };
    std::string unique = name;
    for (int i = 2; taken(unique); ++i) unique = name + "_" + std::to_string(i);
    program_.buffers.push_back({Buffer::Role::Workspace, unique, type, std::move(shape)});
    return static_cast<BufferId>(program_.buffers.size() - 1);
  }

  std::vector<ir::Size> sizes(const Axes& axes) const {
    std::vector<ir::Size> out;
    for (LoopAxisId a : axes) out.push_back(program_.axes[static_cast<size_t>(a)].size);
    return out;
  }
  static std::vector<Index> indices(const Axes& axes) {
    std::vector<Index> out;
    for (LoopAxisId a : axes) out.push_back(axis_index(a));
    return out;
  }
  std::string value_name(ValueId v, std::string_view fallback) const {
    return at(v).name.empty() ? std::string(fallback) : at(v).name;
  }

  void emit(const Group& group) {
    Draft draft;
    draft.group = &group;
    draft.kernel.name =
        program_.name + (program_.kernels.empty() ? "" : "_" + std::to_string(program_.kernels.size() + 1));
    draft.kernel.parallel = group.parallel;
    Axes domain = unite(group.parallel, group.over);
    int last_stage = 0;
    for (const auto& [r, stage] : group.stage) last_stage = std::max(last_stage, stage);
    draft.kernel.stages.resize(static_cast<size_t>(last_stage) + 2);  // a preamble, the stages, a last pass for stores
    for (size_t s = 1; s < draft.kernel.stages.size(); ++s) draft.kernel.stages[s].loop = group.over;

    for (const auto& [r, stage] : group.stage)
      draft.kernel.stages[static_cast<size_t>(stage)].reductions.push_back(import(draft, r));

    // Outputs that this kernel can write.
    std::vector<size_t> later;
    for (size_t o : remaining_) {
      const LoweredOutput& output = in_.outputs[o];
      std::optional<int> d = depth(output.value, group);
      Axes axes = output_axes(output);
      bool element = axes == domain && (!group.parallel.empty() || d == 0);
      bool row = axes == group.parallel;
      if (!d || (!element && !row)) {
        later.push_back(o);
        continue;
      }
      Store store{output.buffer, output.at, import(draft, output.value)};
      if (row)
        draft.kernel.stages[static_cast<size_t>(std::max(*d, 0))].after_stores.push_back(std::move(store));
      else
        draft.kernel.stages[static_cast<size_t>(*d) + 1].stores.push_back(std::move(store));
    }
    remaining_ = std::move(later);

    // Sums over parallel axes that ride along.
    std::vector<std::pair<ValueId, BufferId>> riding;
    if (!group.parallel.empty())
      for (ValueId r : pending_) {
        const Reduced& side = *reduced(r);
        std::optional<int> d = depth(side.arg, group);
        bool rides = side.op == Op::Sum || side.op == Op::Mean;
        if (group.stage.contains(r) || !d || !rides || at(side.arg).axes != domain ||
            !intersects(side.over, group.parallel))
          continue;
        std::vector<ir::Size> shape = sizes(at(r).axes);
        shape.insert(shape.begin(), ir::Size::symbol(workers()));
        BufferId slices = add_buffer(value_name(r, "sum") + "_slices", opmath(at(r).type), std::move(shape));
        draft.kernel.stages[static_cast<size_t>(*d) + 1].accumulates.push_back(
            {slices, indices(at(r).axes), import(draft, side.arg)});
        riding.emplace_back(r, slices);
      }

    // Reduced values that later kernels need go through memory.
    std::vector<ValueId> pending_later;
    for (size_t o : remaining_)
      for (ValueId r : needs(in_.outputs[o].value)) pending_later.push_back(r);
    for (ValueId r : pending_)
      if (!group.stage.contains(r))
        for (ValueId below : needs(reduced(r)->arg)) pending_later.push_back(below);
    std::vector<std::pair<ValueId, BufferId>> written;
    for (const auto& [r, stage] : group.stage)
      if (std::find(pending_later.begin(), pending_later.end(), r) != pending_later.end()) {
        BufferId buffer = add_buffer(value_name(r, "reduced"), at(r).type, sizes(at(r).axes));
        draft.kernel.stages[static_cast<size_t>(stage)].after_stores.push_back(
            {buffer, indices(at(r).axes), import(draft, r)});
        written.emplace_back(r, buffer);
      }
    place_bodies(draft);
    program_.kernels.push_back(std::move(draft.kernel));
    for (auto [r, buffer] : written) available_[r] = buffer;
    for (const auto& [r, stage] : group.stage)
      if (!available_.contains(r)) finished_.insert(r);
    for (auto [r, slices] : riding) finish_slices(r, slices);
  }

  // The second kernel of a sum that rode along: adds the workers' slices, in their order.
  void finish_slices(ValueId r, BufferId slices) {
    const Value& value = at(r);
    LoopKernel kernel;
    kernel.name = program_.name + "_" + std::to_string(program_.kernels.size() + 1);
    kernel.parallel = value.axes;
    LoopAxisId worker = worker_axis();
    Load load{slices, {axis_index(worker)}, kNoValue, kNoValue};
    for (LoopAxisId a : value.axes) load.at.push_back(axis_index(a));
    ir::Type wide = opmath(value.type);
    Axes with_worker = unite(value.axes, {worker});
    kernel.values.push_back({std::move(load), wide, with_worker, "slice", {}});
    kernel.values.push_back({Reduced{Op::Sum, 0, {worker}}, wide, value.axes, "total", {}});
    ValueId result = 1;
    if (reduced(r)->op == Op::Mean) {
      ir::Size count(1);
      for (LoopAxisId a : reduced(r)->over) count = count * program_.axes[static_cast<size_t>(a)].size;
      kernel.values.push_back({IndexValue{size_index(count)}, ir::DType::I64, {}, "count", {}});
      kernel.values.push_back({Map{Op::Div, {result, 2}}, wide, value.axes, "mean", {}});
      result = 3;
    }
    if (!(wide == value.type)) {
      kernel.values.push_back({Map{Op::Cast, {result}}, value.type, value.axes, "rounded", {}});
      result = static_cast<ValueId>(kernel.values.size() - 1);
    }
    // Outputs that need nothing else are written here.
    Group none{{worker}, value.axes, {{r, 1}}};
    Draft draft;
    draft.kernel = std::move(kernel);
    draft.local[r] = result;
    draft.kernel.stages.resize(2);
    draft.kernel.stages[1].loop = {worker};
    draft.kernel.stages[1].reductions = {1};
    needs_.clear();
    std::vector<size_t> later;
    bool needed_later = false;
    for (size_t o : remaining_) {
      const LoweredOutput& output = in_.outputs[o];
      std::set<ValueId> needed = needs(output.value);
      if (needed == std::set<ValueId>{r} && output_axes(output) == value.axes) {
        draft.kernel.stages[1].after_stores.push_back({output.buffer, output.at, import(draft, output.value)});
        continue;
      }
      later.push_back(o);
    }
    remaining_ = std::move(later);
    for (ValueId p : pending_reductions()) needed_later |= p == r;
    for (size_t o : remaining_) needed_later |= needs(in_.outputs[o].value).contains(r);
    if (needed_later) {
      BufferId buffer = add_buffer(value_name(r, "total"), value.type, sizes(value.axes));
      draft.kernel.stages[1].after_stores.push_back({buffer, indices(value.axes), result});
      available_[r] = buffer;
    }
    place_bodies(draft);
    program_.kernels.push_back(std::move(draft.kernel));
    needs_.clear();
  }

  void pointwise_kernels() {
    needs_.clear();
    std::map<Axes, std::vector<size_t>> by_space;
    for (size_t o : remaining_) by_space[output_axes(in_.outputs[o])].push_back(o);
    for (const auto& [axes, outputs] : by_space) {
      Draft draft;
      draft.kernel.name =
          program_.name + (program_.kernels.empty() ? "" : "_" + std::to_string(program_.kernels.size() + 1));
      draft.kernel.parallel = axes;
      draft.kernel.stages.resize(1);
      for (size_t o : outputs) {
        const LoweredOutput& output = in_.outputs[o];
        draft.kernel.stages[0].after_stores.push_back({output.buffer, output.at, import(draft, output.value)});
      }
      place_bodies(draft);
      program_.kernels.push_back(std::move(draft.kernel));
    }
    remaining_.clear();
  }

  // Puts every value where it is computed: in the body of each stage whose roots need it and whose loop it depends on,
  // or once per parallel point, after the stage that it waits for. Stages that have nothing to do vanish.
  void place_bodies(Draft& draft) {
    LoopKernel& kernel = draft.kernel;
    std::vector<int> known_after(kernel.values.size(), 0);  // the stage after which a value can be computed
    for (size_t s = 0; s < kernel.stages.size(); ++s)
      for (ValueId r : kernel.stages[s].reductions) known_after[static_cast<size_t>(r)] = static_cast<int>(s);
    for (size_t v = 0; v < kernel.values.size(); ++v)
      if (!std::holds_alternative<Reduced>(kernel.values[v].what))
        for (ValueId operand : operands_of(kernel.values[v]))
          known_after[v] = std::max(known_after[v], known_after[static_cast<size_t>(operand)]);
    std::set<ValueId> once;
    for (Stage& stage : kernel.stages) {
      std::set<ValueId> body;
      auto visit = [&](auto&& self, ValueId v) -> void {
        const Value& value = kernel[v];
        if (std::holds_alternative<Number>(value.what) || std::holds_alternative<Scalar>(value.what)) return;
        if (std::holds_alternative<Reduced>(value.what)) return;
        bool looped = intersects(value.axes, stage.loop);
        if (!(looped ? body : once).insert(v).second) return;
        for (ValueId operand : operands_of(value)) self(self, operand);
      };
      for (ValueId r : stage.reductions) visit(visit, std::get<Reduced>(kernel[r].what).arg);
      for (const Store& store : stage.stores) visit(visit, store.value);
      for (const Accumulate& sum : stage.accumulates) visit(visit, sum.value);
      for (const Store& store : stage.after_stores) visit(visit, store.value);
      stage.body.assign(body.begin(), body.end());
    }
    for (ValueId v : once) kernel.stages[static_cast<size_t>(known_after[static_cast<size_t>(v)])].after.push_back(v);
    std::erase_if(kernel.stages, [](const Stage& s) {
      return s.reductions.empty() && s.stores.empty() && s.accumulates.empty() && s.after.empty() &&
             s.after_stores.empty();
    });
  }

  ir::SymbolId workers() {
    if (!workers_) {
      program_.symbols.push_back({"workers", std::nullopt});
      workers_ = static_cast<ir::SymbolId>(program_.symbols.size() - 1);
    }
    return *workers_;
  }
  LoopAxisId worker_axis() {
    if (!worker_axis_) {
      program_.axes.push_back({"worker", ir::Size::symbol(workers()), {}});
      worker_axis_ = static_cast<LoopAxisId>(program_.axes.size() - 1);
    }
    return *worker_axis_;
  }

  LoweredValues in_;
  LoopProgram program_;
  std::vector<size_t> remaining_;          // outputs not yet written
  std::map<ValueId, BufferId> available_;  // reduced values that are in memory
  std::set<ValueId> finished_;             // reduced values that no later kernel needs
  std::map<ValueId, std::set<ValueId>> needs_;
  std::vector<ValueId> pending_;
  std::optional<ir::SymbolId> workers_;
  std::optional<LoopAxisId> worker_axis_;
};

}  // namespace

Result<LoopProgram> make_program(std::string name, const ir::Graph& pass) {
  KW_TRY(LoweredValues lowered, lower_values(pass));
  return KernelPlanner(std::move(name), pass, std::move(lowered)).run();
}

}  // namespace kw::act
