#include "ir/interpreter/group.h"

#include <algorithm>

#include "ir/interpreter/tiling.h"

namespace kw::ir::interpreter {
namespace {

// What a step reads: the tile of an earlier step, or a complete value from outside.
struct Source {
  bool outside = false;
  size_t index = 0;  // of the slot, or of the outside value
};

struct Step {
  NodeId node = kNoNode;
  std::vector<Source> operands;
  std::vector<Conversion> conversions;
  size_t slot = 0;
  Store* stored = nullptr;
};

struct FoldStep {
  NodeId node = kNoNode;
  Source operand;
  const FoldMode* mode = nullptr;
  Store result;
  std::shared_ptr<double[]> states;
  size_t stream = 0;
};

struct Outside {
  View view;
  std::vector<double> scratch;  // where a strided tile is laid out
};

// Where a slot's current tile lies.
struct SlotTile {
  double* values = nullptr;
  double* bounds = nullptr;
};

class GroupRun {
 public:
  GroupRun(Context& context, const Plan& plan, const Group& group, std::vector<View>& values)
      : context_(context), plan_(plan), group_(group), values_(values), bounds_(context.tracks_bounds()) {}

  Status run() {
    for (NodeId id : group_.pointwise) add_step(id);
    for (NodeId id : group_.folds) add_fold(id);
    const Tiling tiling = make_tiling();
    make_scratch();
    tiling.for_each([&](const Tile& tile) { run_tile(tiling, tile); });
    if (divided_by_zero_ != kNoNode) return context_.error(divided_by_zero_, "integer division by zero");
    for (Step& step : steps_)
      if (step.stored) at(step.node) = step.stored->view;
    for (FoldStep& fold : folds_) finish(fold);
    return {};
  }

 private:
  View& at(NodeId id) { return values_[static_cast<size_t>(id)]; }

  Source source_of(NodeId arg) {
    const NodeId id = plan_.source[static_cast<size_t>(arg)];
    if (auto slot = slots_.find(id); slot != slots_.end()) return {false, slot->second};
    auto [where, is_new] = outside_of_.try_emplace(id, outside_.size());
    if (is_new) outside_.push_back({at(id), {}});
    return {true, where->second};
  }

  void add_step(NodeId id) {
    const Node& node = context_.graph[id];
    Step step{.node = id, .operands = {}, .conversions = {}, .slot = steps_.size(), .stored = nullptr};
    if (node.op == Op::Input) {  // the tensor that the caller gave stands where the rounded one will
      step.operands.push_back({true, outside_.size()});
      step.conversions.push_back({});
      outside_.push_back({at(id), {}});
    }
    for (size_t i = 0; i < node.args.size(); ++i) {
      step.operands.push_back(source_of(node.args[i]));
      step.conversions.push_back(conversion_of(context_, node, i));
    }
    if (plan_.stored[static_cast<size_t>(id)]) {
      stores_.push_back(std::make_unique<Store>(context_.allocate(id)));
      step.stored = stores_.back().get();
    }
    slots_[id] = step.slot;
    steps_.push_back(std::move(step));
  }

  void add_fold(NodeId id) {
    const Node& node = context_.graph[id];
    FoldStep fold;
    fold.node = id;
    fold.operand = source_of(node.args[0]);
    const Folding& folding = *meaning_of(node.op, context_.options).folding;
    fold.mode = context_.rounded() ? &folding.rounded : &folding.real;
    fold.result = context_.allocate(id);
    fold.states = context_.pool.take(fold.result.count * fold.mode->width);
    fold.mode->start(fold.states.get(), fold.result.count);
    folds_.push_back(std::move(fold));
  }

  Tiling make_tiling() {
    std::vector<std::vector<int64_t>> strides;
    for (const Outside& outside : outside_) strides.push_back(strides_of(outside.view, group_.space));
    for (FoldStep& fold : folds_) {
      fold.stream = strides.size();
      strides.push_back(strides_of(fold.result.view, group_.space));
    }
    return Tiling(context_.sizes_of(group_.space), strides);
  }

  // The step after which nothing in the group reads a slot.
  std::vector<size_t> last_readers() const {
    std::vector<size_t> last(steps_.size());
    for (size_t s = 0; s < steps_.size(); ++s) {
      last[s] = s;
      for (const Source& operand : steps_[s].operands)
        if (!operand.outside) last[operand.index] = s;
    }
    for (const FoldStep& fold : folds_)
      if (!fold.operand.outside) last[fold.operand.index] = steps_.size();
    return last;
  }

  // Tiles that are not stored share scratch as their lives allow: a long chain stays in the cache.
  void make_scratch() {
    const size_t width = kTileElements * (bounds_ ? 2 : 1);
    const std::vector<size_t> last = last_readers();
    std::vector<size_t> place(steps_.size()), free;
    size_t places = 0;
    for (size_t s = 0; s < steps_.size(); ++s) {
      if (!steps_[s].stored) {
        if (free.empty()) free.push_back(places++);
        place[s] = free.back();
        free.pop_back();
      }
      std::vector<size_t> ended{s};
      for (const Source& operand : steps_[s].operands)
        if (!operand.outside && std::find(ended.begin(), ended.end(), operand.index) == ended.end())
          ended.push_back(operand.index);
      for (size_t slot : ended)
        if (!steps_[slot].stored && last[slot] == s) free.push_back(place[slot]);
    }
    scratch_.resize((places + converted_.size()) * width);
    auto tile_at = [&](size_t at) {
      double* first = scratch_.data() + at * width;
      return SlotTile{first, bounds_ ? first + kTileElements : nullptr};
    };
    tiles_.resize(steps_.size());
    for (size_t s = 0; s < steps_.size(); ++s)
      if (!steps_[s].stored) tiles_[s] = tile_at(place[s]);
    for (size_t i = 0; i < converted_.size(); ++i) converted_[i] = tile_at(places + i);
    for (Outside& outside : outside_) outside.scratch.resize(2 * kTileElements);
  }

  TileOperand read(const Source& source) const {
    if (source.outside) return outside_tiles_[source.index];
    const SlotTile& tile = tiles_[source.index];
    return {tile.values, tile.bounds, 1};
  }

  void lay_out_outside(const Tiling& tiling, const Tile& tile) {
    outside_tiles_.resize(outside_.size());
    for (size_t i = 0; i < outside_.size(); ++i) {
      const View& view = outside_[i].view;
      const double* values = view.values + tile.offsets[i];
      const double* bounds = bounds_ && view.bounds ? view.bounds + tile.offsets[i] : nullptr;
      TileOperand& operand = outside_tiles_[i];
      operand = {values, bounds, tiling.access(i) == Access::Uniform ? 0 : 1};
      if (tiling.access(i) != Access::Strided) continue;
      double* scratch = outside_[i].scratch.data();
      copy_tile(values, tiling.strides(i), tile.sizes, scratch);
      operand.values = scratch;
      if (!bounds) continue;
      copy_tile(bounds, tiling.strides(i), tile.sizes, scratch + kTileElements);
      operand.bounds = scratch + kTileElements;
    }
  }

  TileOperand converted(const TileOperand& operand, const Conversion& conversion, size_t position, int64_t n) const {
    const SlotTile& to = converted_[position];
    const int64_t count = operand.step ? n : 1;
    std::copy_n(operand.values, count, to.values);
    if (to.bounds && operand.bounds)
      std::copy_n(operand.bounds, count, to.bounds);
    else if (to.bounds)
      std::fill_n(to.bounds, count, 0.0);
    convert(conversion, to.values, to.bounds, count);
    return {to.values, to.bounds, operand.step};
  }

  void run_tile(const Tiling& tiling, const Tile& tile) {
    lay_out_outside(tiling, tile);
    for (const Step& step : steps_) {
      const Node& node = context_.graph[step.node];
      PointwiseCall call;
      for (size_t i = 0; i < step.operands.size(); ++i) {
        call.in[i] = read(step.operands[i]);
        if (step.conversions[i].to != DType::None) call.in[i] = converted(call.in[i], step.conversions[i], i, tile.n);
      }
      if (step.stored) {
        tiles_[step.slot].values = step.stored->values + tile.begin;
        tiles_[step.slot].bounds = bounds_ ? step.stored->bounds + tile.begin : nullptr;
      }
      call.out = tiles_[step.slot].values;
      call.spreads = tiles_[step.slot].bounds;
      call.n = tile.n;
      evaluate_pointwise(context_, node, plan_.products[static_cast<size_t>(step.node)], call);
      if (call.divided_by_zero && divided_by_zero_ == kNoNode) divided_by_zero_ = step.node;
    }
    for (const FoldStep& fold : folds_) run_fold(tiling, tile, fold);
  }

  void run_fold(const Tiling& tiling, const Tile& tile, const FoldStep& fold) const {
    TileOperand operand = read(fold.operand);
    const SlotTile& spread_out = converted_[0];
    if (operand.step == 0) {
      std::fill_n(spread_out.values, tile.n, *operand.values);
      if (operand.bounds) std::fill_n(spread_out.bounds, tile.n, *operand.bounds);
      operand = {spread_out.values, operand.bounds ? spread_out.bounds : nullptr, 1};
    }
    auto fold_run = [&](int64_t first, int64_t n, int64_t to, int64_t stride) {
      fold.mode->fold({fold.states.get() + to * fold.mode->width, stride, operand.values + first,
                       operand.bounds ? operand.bounds + first : nullptr, n});
    };
    const int64_t to = tile.offsets[fold.stream];
    switch (tiling.access(fold.stream)) {
      case Access::Uniform:
        return fold_run(0, tile.n, to, 0);
      case Access::Dense:
        return fold_run(0, tile.n, to, 1);
      case Access::Strided:
        break;
    }
    const std::vector<int64_t>& strides = tiling.strides(fold.stream);
    const int64_t last = tile.sizes.back();
    std::vector<int64_t> outer_sizes(tile.sizes.begin(), tile.sizes.end() - 1);
    std::vector<int64_t> outer_strides(strides.begin(), strides.end() - 1);
    int64_t first = 0;
    for (Walk w(std::move(outer_sizes), {std::move(outer_strides)}); !w.done(); w.next(), first += last)
      fold_run(first, last, to + w.offset(0), strides.back());
  }

  void finish(FoldStep& fold) {
    const Node& node = context_.graph[fold.node];
    FoldResult result{};
    result.states = fold.states.get();
    result.values = fold.result.values;
    result.spreads = fold.result.bounds;
    result.outputs = fold.result.count;
    result.terms = context_.count(group_.space) / std::max<int64_t>(fold.result.count, 1);
    result.model = context_.sum_model(context_.dtype(node));
    fold.mode->finish(result);
    finish_values(context_, node, meaning_of(node.op, context_.options).exactness, result.values, result.spreads,
                  result.outputs);
    at(fold.node) = fold.result.view;
  }

  Context& context_;
  const Plan& plan_;
  const Group& group_;
  std::vector<View>& values_;
  const bool bounds_;
  std::vector<Step> steps_;
  std::vector<FoldStep> folds_;
  std::vector<Outside> outside_;
  std::vector<std::unique_ptr<Store>> stores_;
  std::map<NodeId, size_t> slots_, outside_of_;
  std::vector<double> scratch_;
  std::vector<SlotTile> tiles_;
  std::array<SlotTile, 3> converted_;
  std::vector<TileOperand> outside_tiles_;
  NodeId divided_by_zero_ = kNoNode;
};

}  // namespace

Status run_group(Context& context, const Plan& plan, const Group& group, std::vector<View>& values) {
  return GroupRun(context, plan, group, values).run();
}

}  // namespace kw::ir::interpreter
