// What every step of a run shares: the graph, its sizes, the storage order of axes and the buffers.
#pragma once

#include <string>

#include "ir/interpreter/meaning.h"

namespace kw::ir::interpreter {

struct Context {
  const Graph& graph;
  const InterpretOptions& options;
  BoundSizes sizes;
  std::vector<int32_t> rank;  // by AxisId: buffers are row-major by ascending rank
  BufferPool pool;
  std::map<NodeId, Array*> places;  // outputs that are computed where the caller gets them

  bool rounded() const { return options.semantics == Semantics::Rounded; }
  bool tracks_bounds() const { return rounded() && options.track_bounds; }
  int64_t size(AxisId axis) const;
  std::vector<AxisId> ordered(std::vector<AxisId> axes) const;  // by rank
  int64_t count(std::span<const AxisId> axes) const;
  // A new value of a node, where the interface wants it if the node is an output stored in the interface's order.
  Store allocate(NodeId id);
  Store allocate_in_order(const std::vector<AxisId>& axes, Array* place = nullptr);
  std::vector<int64_t> sizes_of(std::span<const AxisId> axes) const;
  // The view copied into a new buffer whose axes are `axes`, in this order; broadcast axes are written out.
  Store dense(const View& view, const std::vector<AxisId>& axes);
  SumModel sum_model(DType type) const;

  // The type that a node computes its results to; Real and type parameters are F64 in real semantics.
  DType dtype(const Node& node) const;
  // "gather (line 3)" for messages.
  std::string describe(NodeId id) const;
  Failure error(NodeId id, std::string message) const;  // with the node's place in the source
};

std::vector<int64_t> strides_of(const View& view, std::span<const AxisId> axes);

// A walk over `axes` with one stream per view.
Walk walk(const Context& context, std::span<const AxisId> axes, std::span<const View* const> views);

// The storage order of the graph's axes: the interface's own order where it can be followed.
std::vector<int32_t> rank_axes(const Graph& graph);

}  // namespace kw::ir::interpreter
