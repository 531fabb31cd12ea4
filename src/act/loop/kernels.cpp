#include "act/loop/kernels.h"

#include <algorithm>
#include <set>

#include "act/loop/draft.h"
#include "act/loop/index.h"
#include "act/loop/shorter_forms.h"

namespace kw::act {
namespace {

using ir::Op;

Axes unite(const Axes& a, const Axes& b) {
  Axes out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

bool intersects(const Axes& a, const Axes& b) {
  return std::any_of(a.begin(), a.end(), [&](LoopAxisId x) { return std::binary_search(b.begin(), b.end(), x); });
}

bool includes(const Axes& all, const Axes& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

std::vector<Index> indices(const Axes& axes) {
  std::vector<Index> out;
  for (LoopAxisId a : axes) out.push_back(axis_index(a));
  return out;
}

// A reduction that a value waits for; `in_memory` where it is read back at another point than the value's own.
struct Need {
  ValueId reduction;
  bool in_memory;
  auto operator<=>(const Need&) const = default;
};

class KernelPlanner {
 public:
  KernelPlanner(std::string name, const ir::Graph& pass, LoweredValues lowered, const ProgramOptions& options)
      : in_(std::move(lowered)), options_(options) {
    program_.plain = options.plain;
    program_.atomic = options.atomic;
    program_.name = std::move(name);
    for (ir::Symbol symbol : pass.symbols) {
      symbol.name = symbol_names_.take(symbol.name, "size");
      program_.symbols.push_back(std::move(symbol));
    }
    program_.type_parameters = pass.type_parameters;
    program_.axes = in_.axes;
    program_.buffers = in_.buffers;
    program_.scalars = in_.scalars;
    program_.scalar_sources = in_.scalar_sources;
    program_.constraints = pass.constraints;
    program_.combines = in_.combines;
    for (const LoopAxis& axis : program_.axes) axis_names_.take(axis.name, "");
    for (const Buffer& buffer : program_.buffers) buffer_names_.take(buffer.name, "");
    for (const auto& [scalar, type] : program_.scalars) buffer_names_.take(scalar, "");
    for (size_t i = 0; i < in_.outputs.size(); ++i) remaining_.push_back(i);
  }

  LoopProgram run() {
    while (!remaining_.empty()) {
      needs_.clear();
      pending_ = pending_reductions();
      if (pending_.empty())
        pointwise_kernels();
      else
        reduction_kernel();
    }
    return std::move(program_);
  }

 private:
  struct Group {  // reductions that can be stages of one kernel
    Axes over, parallel;
    std::map<ValueId, int> stage;  // of each reduction, from 1
    Axes domain() const { return unite(parallel, over); }
  };
  struct Riding {  // a sum over parallel axes, and where its slices are
    ValueId reduction;
    BufferId slices;
  };

  const Value& at(ValueId v) const { return in_.values[static_cast<size_t>(v)]; }
  const Reduced* reduced(ValueId v) const { return std::get_if<Reduced>(&at(v).what); }

  // ---- what waits for what ----
  // The reductions not yet in memory that a value needs directly (not those below them).
  const std::set<Need>& needs(ValueId v) {
    if (auto known = needs_.find(v); known != needs_.end()) return known->second;
    std::set<Need> out;
    if (reduced(v)) {
      if (!in_memory_.contains(v)) out.insert({v, false});
    } else {
      if (const Load* load = std::get_if<Load>(&at(v).what))
        if (auto held = in_.read_back.find(load->buffer); held != in_.read_back.end())
          if (!in_memory_.contains(held->second)) out.insert({held->second, true});
      for (ValueId operand : operands_of(at(v))) {
        const std::set<Need>& below = needs(operand);
        out.insert(below.begin(), below.end());
      }
    }
    return needs_.emplace(v, std::move(out)).first->second;
  }
  std::set<Need> needs_of_reduction(ValueId r) {
    std::set<Need> out;
    for (ValueId operand : operands_of(at(r))) {
      const std::set<Need>& below = needs(operand);
      out.insert(below.begin(), below.end());
    }
    return out;
  }

  // Every reduction below the remaining outputs that is not in memory, ascending; `known` are taken as computed.
  std::set<ValueId> pending_reductions(const std::set<ValueId>& known = {}) {
    std::set<ValueId> seen;
    std::vector<Need> work;
    auto push = [&](const std::set<Need>& more) { work.insert(work.end(), more.begin(), more.end()); };
    for (size_t o : remaining_) push(needs(in_.outputs[o].value));
    while (!work.empty()) {
      ValueId r = work.back().reduction;
      work.pop_back();
      if (seen.insert(r).second && !known.contains(r)) push(needs_of_reduction(r));
    }
    return seen;
  }

  // The reductions over `over` at `parallel` that follow from what is in memory and from each other.
  Group close(const Axes& over, const Axes& parallel) {
    Group group{over, parallel, {}};
    bool grown = true;
    while (grown) {
      grown = false;
      for (ValueId r : pending_) {
        if (group.stage.contains(r) || reduced(r)->over != over || at(r).axes != parallel) continue;
        std::optional<int> waits = depth(needs_of_reduction(r), group);
        // Without parallel axes the reduction is of everything: its result is known only when the kernel is over.
        if (!waits || ((parallel.empty() || options_.cut) && *waits > 0)) continue;
        group.stage[r] = *waits + 1;
        grown = true;
      }
    }
    return group;
  }

  // How many stages must be over before what has these needs can be computed in a kernel of the group; nullopt: never.
  static std::optional<int> depth(const std::set<Need>& needs, const Group& group) {
    int depth = 0;
    for (const Need& need : needs) {
      auto member = group.stage.find(need.reduction);
      if (need.in_memory || member == group.stage.end()) return std::nullopt;
      depth = std::max(depth, member->second);
    }
    return depth;
  }

  Axes output_axes(const LoweredOutput& output) const {
    Axes axes = at(output.value).axes;
    for (const Index& index : output.at) axes = unite(axes, axes_of(index));
    return axes;
  }

  // ---- a kernel with stages ----
  // Of the groups that can start, the one that settles most: reductions and above all outputs, with those of the sums
  // that ride along. Of equals the one along contiguous memory.
  void reduction_kernel() {
    std::optional<Group> best;
    size_t best_score = 0;
    for (ValueId r : pending_) {
      if (!needs_of_reduction(r).empty()) continue;
      Group group = close(reduced(r)->over, at(r).axes);
      Group settled = group;
      for (ValueId side : pending_)
        if (rides(side, group)) settled.stage[side] = 1;
      size_t outputs = 0;
      for (size_t o : remaining_) outputs += depth(needs(in_.outputs[o].value), settled).has_value();
      const size_t score = 8 * outputs + 2 * settled.stage.size() + is_contiguous(group);
      if (!best || score > best_score) best = std::move(group), best_score = score;
    }
    KW_ASSERT(best, "reductions wait for each other in a circle, which a graph has not");
    emit(*best);
  }

  // Whether the kernel loops along the last axis, which lies together in memory.
  static bool is_contiguous(const Group& group) { return group.over.back() == group.domain().back(); }

  // Whether a sum can be taken along the way: one over the kernel's parallel axes, of what it computes anyway. Each
  // worker has a slice of its own, so the sum has to be much smaller than what is summed: it runs over everything, or,
  // in a kernel along rows, over all parallel axes or over axes of both kinds.
  bool rides(ValueId r, const Group& group) {
    if (options_.cut || !options_.ride) return false;
    const Reduced& side = *reduced(r);
    if (group.parallel.empty() || group.stage.contains(r) || (side.op != Op::Sum && side.op != Op::Mean)) return false;
    const Axes domain = group.domain();
    if (at(side.arg).axes != domain || !includes(domain, side.over)) return false;
    if (!depth(needs_of_reduction(r), group)) return false;
    if (side.over == domain) return true;
    return is_contiguous(group) && (includes(side.over, group.parallel) ||
                                    (intersects(side.over, group.parallel) && intersects(side.over, group.over)));
  }

  void emit(const Group& group) {
    KernelDraft draft(next_kernel_name(), in_.values, in_memory_);
    LoopKernel& kernel = draft.kernel;
    kernel.parallel = group.parallel;
    size_t last_stage = 0;
    for (const auto& [r, stage] : group.stage) last_stage = std::max(last_stage, static_cast<size_t>(stage));
    kernel.stages.resize(last_stage + 2);  // a preamble, the stages, a last pass for stores
    for (size_t s = 1; s < kernel.stages.size(); ++s) kernel.stages[s].loop = group.over;
    for (const auto& [r, stage] : group.stage)
      kernel.stages[static_cast<size_t>(stage)].reductions.push_back(draft.import(r));

    std::map<ValueId, BufferId> written;
    store_outputs(draft, group, written);
    std::vector<Riding> riding = accumulate(draft, group);

    // Reduced values that later kernels need go through memory.
    std::set<ValueId> computed;
    for (const auto& [r, stage] : group.stage) computed.insert(r);
    for (const Riding& ride : riding) computed.insert(ride.reduction);
    const std::set<ValueId> later = pending_reductions(computed);
    for (const auto& [r, stage] : group.stage) {
      if (!later.contains(r)) continue;
      std::optional<BufferId> buffer = read_back_buffer(r);
      if (!buffer && written.contains(r)) continue;
      if (!buffer) buffer = add_buffer(at(r).name, "reduced", stored_type(at(r).type), sizes(at(r).axes));
      kernel.stages[static_cast<size_t>(stage)].after_stores.push_back({*buffer, indices(at(r).axes), draft.import(r)});
      written[r] = *buffer;
    }
    program_.kernels.push_back(std::move(draft).finish());
    for (auto [r, buffer] : written) in_memory_[r] = buffer;
    add_slices(riding);
  }

  // The outputs that this kernel can write: those over all its axes, and those over its parallel axes.
  void store_outputs(KernelDraft& draft, const Group& group, std::map<ValueId, BufferId>& written) {
    std::vector<size_t> later;
    for (size_t o : remaining_) {
      const LoweredOutput& output = in_.outputs[o];
      std::optional<int> d = depth(needs(output.value), group);
      const Axes axes = output_axes(output);
      const bool per_element = !options_.cut && axes == group.domain() && (!group.parallel.empty() || d == 0);
      const bool per_point = axes == group.parallel;
      if (!d || (!per_element && !per_point)) {
        later.push_back(o);
        continue;
      }
      Store store{output.buffer, output.at, draft.import(output.value)};
      auto stage = static_cast<size_t>(*d);
      if (per_point)
        draft.kernel.stages[stage].after_stores.push_back(std::move(store));
      else
        draft.kernel.stages[stage + 1].stores.push_back(std::move(store));
      if (group.stage.contains(output.value) && output.at == indices(at(output.value).axes))
        written.emplace(output.value, output.buffer);
    }
    remaining_ = std::move(later);
  }

  std::vector<Riding> accumulate(KernelDraft& draft, const Group& group) {
    std::vector<Riding> riding;
    for (ValueId r : pending_) {
      if (!rides(r, group)) continue;
      std::vector<ir::Size> shape = sizes(at(r).axes);
      shape.insert(shape.begin(), ir::Size::symbol(workers()));
      BufferId slices = add_buffer(sum_name(r) + "_slices", "", opmath(stored_type(at(r).type)), std::move(shape));
      const auto stage = static_cast<size_t>(*depth(needs_of_reduction(r), group)) + 1;
      draft.kernel.stages[stage].accumulates.push_back({slices, indices(at(r).axes), draft.import(reduced(r)->arg)});
      riding.push_back({r, slices});
    }
    return riding;
  }

  // The second kernels of sums that rode along, one for each shape: they add the workers' slices, in their order.
  void add_slices(const std::vector<Riding>& riding) {
    std::map<Axes, std::vector<Riding>> by_axes;
    for (const Riding& ride : riding) by_axes[at(ride.reduction).axes].push_back(ride);
    for (const auto& [axes, rides] : by_axes) {
      needs_.clear();
      KernelDraft draft(next_kernel_name(), in_.values, in_memory_);
      draft.kernel.parallel = axes;
      draft.kernel.stages.resize(2);
      draft.kernel.stages[1].loop = {worker_axis()};
      Group group{{worker_axis()}, axes, {}};
      for (const Riding& ride : rides) {
        add_slice_sum(draft, ride);
        group.stage[ride.reduction] = 1;
      }
      std::map<ValueId, BufferId> written;
      store_outputs(draft, group, written);
      const std::set<ValueId> later = pending_reductions();
      for (const Riding& ride : rides) {
        const ValueId r = ride.reduction;
        if (!later.contains(r)) continue;
        std::optional<BufferId> buffer = read_back_buffer(r);
        if (!buffer && written.contains(r)) continue;
        if (!buffer) buffer = add_buffer(at(r).name, "total", stored_type(at(r).type), sizes(axes));
        draft.kernel.stages[1].after_stores.push_back({*buffer, indices(axes), draft.import(r)});
        written[r] = *buffer;
      }
      program_.kernels.push_back(std::move(draft).finish());
      for (auto [r, buffer] : written) in_memory_[r] = buffer;
    }
  }

  void add_slice_sum(KernelDraft& draft, const Riding& ride) {
    const Value& value = at(ride.reduction);
    const ir::Type wide = opmath(stored_type(value.type));
    const std::string name = sum_name(ride.reduction);
    Load load{ride.slices, {axis_index(worker_axis())}, kNoValue, kNoValue};
    for (LoopAxisId a : value.axes) load.at.push_back(axis_index(a));
    ValueId slice = draft.add({std::move(load), wide, unite(value.axes, {worker_axis()}), name + "_slice", {}});
    ValueId result =
        draft.add({Reduced{Op::Sum, slice, {worker_axis()}}, wide, value.axes, name + "_total", value.origin});
    draft.kernel.stages[1].reductions.push_back(result);
    if (reduced(ride.reduction)->op == Op::Mean) {
      ir::Size count(1);
      for (LoopAxisId a : reduced(ride.reduction)->over) count = count * program_.axes[static_cast<size_t>(a)].size;
      ValueId divisor = draft.add({IndexValue{size_index(count)}, ir::DType::Int, {}, "count", {}});
      result = draft.add({Map{Op::Div, {result, divisor}}, wide, value.axes, name + "_mean", value.origin});
    }
    if (!(wide == value.type))
      result = draft.add({Map{Op::Cast, {result}}, value.type, value.axes, name + "_rounded", value.origin});
    draft.stand_in(ride.reduction, result);
  }

  // ---- kernels without stages ----
  void pointwise_kernels() {
    std::map<std::pair<Axes, size_t>, std::vector<size_t>> by_space;
    for (size_t o : remaining_) by_space[{output_axes(in_.outputs[o]), options_.cut ? o : 0}].push_back(o);
    for (const auto& [space, outputs] : by_space) {
      const Axes& axes = space.first;
      KernelDraft draft(next_kernel_name(), in_.values, in_memory_);
      draft.kernel.parallel = axes;
      draft.kernel.stages.resize(1);
      for (size_t o : outputs) {
        const LoweredOutput& output = in_.outputs[o];
        draft.kernel.stages[0].after_stores.push_back({output.buffer, output.at, draft.import(output.value)});
      }
      program_.kernels.push_back(std::move(draft).finish());
    }
    remaining_.clear();
  }

  // ---- buffers and names ----
  std::string next_kernel_name() const {
    return program_.name + (program_.kernels.empty() ? "" : "_" + std::to_string(program_.kernels.size() + 1));
  }

  BufferId add_buffer(const std::string& name, const char* fallback, ir::Type type, std::vector<ir::Size> shape) {
    program_.buffers.push_back({Buffer::Role::Workspace, buffer_names_.take(name, fallback), type, std::move(shape)});
    return static_cast<BufferId>(program_.buffers.size() - 1);
  }

  // What a sum is called: its own name, or that of the output that it becomes when it is cast.
  std::string sum_name(ValueId r) const {
    if (!at(r).name.empty()) return at(r).name;
    for (const LoweredOutput& output : in_.outputs) {
      const Map* map = std::get_if<Map>(&at(output.value).what);
      if (map && map->op == Op::Cast && map->args[0] == r) return at(output.value).name;
    }
    return "sum";
  }

  std::optional<BufferId> read_back_buffer(ValueId r) const {
    for (const auto& [buffer, held] : in_.read_back)
      if (held == r) return buffer;
    return std::nullopt;
  }

  std::vector<ir::Size> sizes(const Axes& axes) const {
    std::vector<ir::Size> out;
    for (LoopAxisId a : axes) out.push_back(program_.axes[static_cast<size_t>(a)].size);
    return out;
  }

  ir::SymbolId workers() {
    if (!program_.workers) {
      program_.symbols.push_back({symbol_names_.take("workers", ""), std::nullopt});
      program_.workers = static_cast<ir::SymbolId>(program_.symbols.size() - 1);
    }
    return *program_.workers;
  }
  LoopAxisId worker_axis() {
    if (!worker_axis_) {
      program_.axes.push_back({axis_names_.take("worker", ""), ir::Size::symbol(workers()), {}});
      worker_axis_ = static_cast<LoopAxisId>(program_.axes.size() - 1);
    }
    return *worker_axis_;
  }

  LoweredValues in_;
  const ProgramOptions options_;
  LoopProgram program_;
  Identifiers symbol_names_, axis_names_, buffer_names_;
  std::vector<size_t> remaining_;          // outputs not yet written
  std::set<ValueId> pending_;              // reductions that they wait for
  std::map<ValueId, BufferId> in_memory_;  // reduced values that earlier kernels wrote
  std::map<ValueId, std::set<Need>> needs_;
  std::optional<LoopAxisId> worker_axis_;
};

}  // namespace

Result<LoopProgram> make_program(std::string name, const ir::Graph& math, const ProgramOptions& options) {
  const ir::Graph pass = in_shorter_forms(math);
  KW_TRY(LoweredValues lowered, lower_values(pass));
  return KernelPlanner(std::move(name), pass, std::move(lowered), options).run();
}

}  // namespace kw::act
