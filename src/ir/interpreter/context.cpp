#include "ir/interpreter/context.h"

#include <algorithm>

#include "base/text.h"

namespace kw::ir::interpreter {

int64_t Context::size(AxisId axis) const {
  const std::optional<int64_t>& n = sizes.axes[static_cast<size_t>(axis)];
  KW_ASSERT(n.has_value(), "an axis that a needed node has was given its size");
  return *n;
}

std::vector<AxisId> Context::ordered(std::vector<AxisId> axes) const {
  std::sort(axes.begin(), axes.end(),
            [this](AxisId a, AxisId b) { return rank[static_cast<size_t>(a)] < rank[static_cast<size_t>(b)]; });
  return axes;
}

std::vector<int64_t> Context::sizes_of(std::span<const AxisId> axes) const {
  std::vector<int64_t> out;
  for (AxisId axis : axes) out.push_back(size(axis));
  return out;
}

int64_t Context::count(std::span<const AxisId> axes) const {
  int64_t n = 1;
  for (AxisId axis : axes) n *= size(axis);
  return n;
}

Store Context::allocate_in_order(const std::vector<AxisId>& axes, Array* place) {
  Store store;
  store.count = count(axes);
  store.view.axes = axes;
  store.view.strides.resize(axes.size());
  int64_t stride = 1;
  for (size_t d = axes.size(); d-- > 0;) {
    store.view.strides[d] = stride;
    stride *= size(axes[d]);
  }
  if (place) {
    place->values.resize(static_cast<size_t>(store.count));
    if (tracks_bounds()) place->bounds.resize(static_cast<size_t>(store.count));
    store.values = place->values.data();
    if (tracks_bounds()) store.bounds = place->bounds.data();
  } else {
    std::shared_ptr<double[]> buffer = pool.take(tracks_bounds() ? 2 * store.count : store.count);
    store.values = buffer.get();
    if (tracks_bounds()) store.bounds = store.values + store.count;
    store.view.owner = std::move(buffer);
  }
  store.view.values = store.values;
  store.view.bounds = store.bounds;
  return store;
}

Store Context::allocate(NodeId id) {
  auto place = places.find(id);
  return allocate_in_order(ordered(graph[id].axes), place == places.end() ? nullptr : place->second);
}

Store Context::dense(const View& view, const std::vector<AxisId>& axes) {
  Store store = allocate_in_order(axes);
  int64_t to = 0;
  if (axes.empty()) {
    if (store.count) store.values[0] = view.values[0];
    if (store.bounds) store.bounds[0] = view.bounds ? view.bounds[0] : 0;
    return store;
  }
  const int64_t n = size(axes.back()), step = view.stride(axes.back());
  const std::span<const AxisId> outer(axes.data(), axes.size() - 1);
  const View* views[] = {&view};
  if (n == 0) return store;
  for (Walk w = walk(*this, outer, views); !w.done(); w.next(), to += n) {
    const double* from = view.values + w.offset(0);
    for (int64_t i = 0; i < n; ++i) store.values[to + i] = from[i * step];
    if (!store.bounds) continue;
    const double* bound = view.bounds ? view.bounds + w.offset(0) : nullptr;
    for (int64_t i = 0; i < n; ++i) store.bounds[to + i] = bound ? bound[i * step] : 0;
  }
  return store;
}

SumModel Context::sum_model(DType type) const {
  const DType computed = opmath(type);
  const bool limited = rounded() && is_floating(computed);
  return {rounded() ? unit_roundoff(computed) : 0, options.longest_serial_chain,
          limited ? info(computed).max_finite : kInfinity, limited ? ulp(computed, 0) : 0};
}

DType Context::dtype(const Node& node) const {
  if (!node.type.concrete()) return DType::F64;
  return node.type.floor();
}

std::string Context::describe(NodeId id) const {
  auto name = graph.names.find(id);
  const std::string op(info(graph[id].op).name);
  return name == graph.names.end() ? op : name->second + " = " + op + "(...)";
}

Failure Context::error(NodeId id, std::string message) const {
  std::optional<Place> place;
  const size_t i = static_cast<size_t>(id);
  if (i < graph.origins.size() && graph.origins[i].line > 0) {
    const Origin& origin = graph.origins[i];
    const size_t file = static_cast<size_t>(origin.file);
    place = Place{file < graph.source_files.size() ? graph.source_files[file] : "", origin.line, origin.column, 0};
  }
  return bad_input(describe(id) + ": " + std::move(message), std::move(place));
}

std::vector<int64_t> strides_of(const View& view, std::span<const AxisId> axes) {
  std::vector<int64_t> out;
  for (AxisId axis : axes) out.push_back(view.stride(axis));
  return out;
}

Walk walk(const Context& context, std::span<const AxisId> axes, std::span<const View* const> views) {
  std::vector<std::vector<int64_t>> strides;
  for (const View* view : views) strides.push_back(strides_of(*view, axes));
  return Walk(context.sizes_of(axes), std::move(strides));
}

namespace {

class AxisOrder {
 public:
  bool has(AxisId axis) const { return std::find(order_.begin(), order_.end(), axis) != order_.end(); }
  // Places those of the sequence that have no place yet next to those that have.
  void follow(std::span<const AxisId> sequence) {
    for (size_t i = 0; i < sequence.size(); ++i) {
      if (sequence[i] == kUnit || has(sequence[i])) continue;
      auto at = order_.end();
      if (i > 0 && has(sequence[i - 1])) {
        at = std::find(order_.begin(), order_.end(), sequence[i - 1]) + 1;
      } else {
        for (size_t j = i + 1; j < sequence.size(); ++j)
          if (has(sequence[j])) {
            at = std::find(order_.begin(), order_.end(), sequence[j]);
            break;
          }
      }
      order_.insert(at, sequence[i]);
    }
  }
  const std::vector<AxisId>& order() const { return order_; }

 private:
  std::vector<AxisId> order_;
};

std::vector<AxisId> without_units(const std::vector<AxisId>& dims) {
  std::vector<AxisId> axes;
  for (AxisId a : dims)
    if (a != kUnit) axes.push_back(a);
  return axes;
}

// Axes that a view makes stand where the axis that they come from stands.
void follow_views(const Graph& graph, AxisOrder& order) {
  for (const Node& node : graph.nodes) {
    if (auto* split = std::get_if<SplitAttr>(&node.attr))
      order.follow(std::vector<AxisId>{split->whole, split->outer, split->inner});
    else if (auto* slice = std::get_if<SliceAttr>(&node.attr))
      order.follow(std::vector<AxisId>{slice->from, slice->to});
    else if (auto* window = std::get_if<WindowAttr>(&node.attr))
      order.follow(std::vector<AxisId>{window->axis, window->out, window->tap});
    else if (auto* rename = std::get_if<RenameAttr>(&node.attr))
      for (auto [from, to] : rename->pairs) order.follow(std::vector<AxisId>{from, to});
    else if (auto* concat = std::get_if<ConcatAttr>(&node.attr))
      for (AxisId from : concat->from) order.follow(std::vector<AxisId>{from, concat->to});
    else if (auto* top = std::get_if<TopKAttr>(&node.attr))
      order.follow(std::vector<AxisId>{top->axis, top->to});
    else if (auto* segment = std::get_if<SegmentAttr>(&node.attr))
      order.follow(std::vector<AxisId>{segment->rows, segment->segments});
    order.follow(node.axes);
  }
}

}  // namespace

std::vector<int32_t> rank_axes(const Graph& graph) {
  AxisOrder order;
  std::vector<std::vector<AxisId>> sequences;
  for (const Input& input : graph.inputs) sequences.push_back(without_units(input.dims));
  for (const Output& output : graph.outputs) sequences.push_back(without_units(output.dims));
  std::stable_sort(sequences.begin(), sequences.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const auto& sequence : sequences) order.follow(sequence);
  follow_views(graph, order);
  std::vector<int32_t> rank(graph.axes.size(), static_cast<int32_t>(graph.axes.size()));
  for (size_t i = 0; i < order.order().size(); ++i)
    rank[static_cast<size_t>(order.order()[i])] = static_cast<int32_t>(i);
  return rank;
}

}  // namespace kw::ir::interpreter
