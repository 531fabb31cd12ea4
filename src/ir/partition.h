// What the backward takes from the forward: which values are saved, which are computed again. It is the minimum cut of
// the joint graph by the bytes that saving moves:
//
//   an input of the op        1 × its bytes: it is in memory anyway and is read once more
//   an output of the op       1 × its bytes, likewise
//   anything else             2 × its bytes: written by the forward, read by the backward
//   numbers and sizes         nothing: they are arguments of both passes
//
// Only what costs no further pass over memory is computed again: pointwise ops and views. A reduction, a scan, an
// order, a contraction or an indexed op would have to run over its whole operand before the backward can start, so its
// result is saved if it is needed (in rms_norm rstd[rows], not the sum of squares again), and so are random numbers,
// unless the options let the counter-based generator run a second time.
//
// Of cuts with equal bytes the one that writes fewer tensors is taken: it holds less memory between the passes, and a
// forward whose gradient no one wants does nothing in vain. Of these the one with fewer tensors, and of these the one
// nearest the backward, which computes the least again (rstd rather than the mean that it comes from). The result does
// not depend on the order of nodes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace kw::ir {

enum class SavedAs : uint8_t { Input, Output, Intermediate };

struct SavedValue {
  NodeId node;
  SavedAs as;
  int64_t bytes;     // of the value, at the sizes of the options
  std::string name;  // of the input or output; of the value where the source named it, else saved_name.h's
};

struct Partition {
  int forward_output_count;
  std::vector<SavedValue> saved;   // ascending by node
  std::vector<NodeId> recomputed;  // ascending: what the backward computes again from what is saved
  int64_t moved_bytes;             // what the cut costs, by the prices above
};

struct PartitionOptions {
  // Sizes to count with; by default the symbols' hints, and `default_size` for a symbol without one.
  std::function<std::optional<int64_t>(SymbolId)> size_of;
  int64_t default_size = 1024;
  std::map<std::string, DType> types;  // of type parameters, by name; by default their own defaults
  bool recompute_random = false;
};

// `joint` is what `differentiate` made (simplified or not): its first `forward_output_count` outputs are the forward's.
Partition partition(const Graph& joint, int forward_output_count, const PartitionOptions& options = {});

// The forward pass: the joint graph's forward outputs, then the saved intermediates.
Graph forward_with_saved(const Graph& joint, const Partition& partition);
// The backward pass: inputs are the saved values, the scalars and cotangents that are needed; outputs are the
// gradients.
Graph backward_graph(const Graph& joint, const Partition& partition);

// The bytes of a node's value at the sizes of the options.
int64_t bytes_of(const Graph& graph, NodeId node, const PartitionOptions& options = {});
// Whether the backward may compute this op again.
bool is_recomputable(const Graph& graph, NodeId node, const PartitionOptions& options = {});

}  // namespace kw::ir
