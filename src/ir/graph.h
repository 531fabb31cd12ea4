// The math of an op as an immutable graph of primitives.
//
// A `Node` is an op on earlier nodes; nodes stand in topological order and equal nodes are one node (hash-consing, done
// by `GraphBuilder`). A tensor's axes are identities, not positions: a pointwise op on [rows, cols] and [cols] needs no
// broadcast, and a transposition is only another order at the interface. A node's axes are therefore a set, kept
// ascending; no node has an axis twice (a product of a tensor with itself renames). Positions exist at the interface
// alone
// (`Input::dims`, `Output::dims`), where a dimension of size one that has no axis is `kUnit`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/op.h"
#include "ir/size.h"
#include "ir/type.h"

namespace kw::ir {

using NodeId = int32_t;
using AxisId = int32_t;
inline constexpr AxisId kUnit = -1;  // a dimension of size one without an axis
inline constexpr NodeId kNoNode = -1;

// ---- attributes: a small closed variant ---------------------------------------------------------------------------
struct Literal {  // Const: bool → Bool, int64 → Int, double → Real
  std::variant<bool, int64_t, double> value;
  double number() const;
  friend bool operator==(const Literal& a, const Literal& b);  // to the bit, so NaN equals itself and -0 is not 0
};
struct InputRef {  // Input: index into Graph::inputs
  int32_t index;
  friend bool operator==(const InputRef&, const InputRef&) = default;
};
struct SizeAttr {  // SizeOf
  Size size;
  friend bool operator==(const SizeAttr&, const SizeAttr&) = default;
};
struct AxisList {  // reductions and Contract: ascending set; Random: ordered; Iota, Gather, Scatter: one; Broadcast:
                   // added axes
  std::vector<AxisId> axes;
  friend bool operator==(const AxisList&, const AxisList&) = default;
};
struct CastAttr {
  Type type;
  friend bool operator==(const CastAttr&, const CastAttr&) = default;
};
struct RenameAttr {  // simultaneous, ascending by `from`
  std::vector<std::pair<AxisId, AxisId>> pairs;
  friend bool operator==(const RenameAttr&, const RenameAttr&) = default;
};
struct SliceAttr {  // Slice: to[i] = from[start + i*step].  Pad: to[start + i*step] = from[i], elsewhere the fill.
  AxisId from;
  AxisId to;
  Size start;
  int64_t step = 1;  // Slice: any but 0 (-1 reverses); Pad: positive
  friend bool operator==(const SliceAttr&, const SliceAttr&) = default;
};
struct ConcatAttr {  // operand i has axis from[i], which becomes part of `to`
  std::vector<AxisId> from;
  AxisId to;
  friend bool operator==(const ConcatAttr&, const ConcatAttr&) = default;
};
struct SplitAttr {  // whole = outer * size(inner) + inner
  AxisId whole;
  AxisId outer;
  AxisId inner;
  friend bool operator==(const SplitAttr&, const SplitAttr&) = default;
};
// Window: y[out, tap] = x[p / input_dilation] where p = out*stride + tap*dilation - pad_before, if p is a multiple of
// input_dilation and inside, else the fill. Fold is its transpose: x[i] = Σ y[out, tap] over the same pairs.
struct WindowAttr {
  AxisId axis;
  AxisId out;
  AxisId tap;
  int64_t stride = 1;
  int64_t dilation = 1;
  Size pad_before;
  int64_t input_dilation = 1;
  friend bool operator==(const WindowAttr&, const WindowAttr&) = default;
};
struct SegmentAttr {  // rows: the axis cut into runs; segments: one per run; offsets: the offsets' axis, of size
                      // segments + 1
  AxisId rows;
  AxisId segments;
  AxisId offsets;
  friend bool operator==(const SegmentAttr&, const SegmentAttr&) = default;
};
struct ScanAttr {
  AxisId axis;
  bool reverse = false;
  bool exclusive = false;
  friend bool operator==(const ScanAttr&, const ScanAttr&) = default;
};
struct SortAttr {
  AxisId axis;
  bool descending = false;
  friend bool operator==(const SortAttr&, const SortAttr&) = default;
};
struct TopKAttr {
  AxisId axis;
  AxisId to;  // of size k
  bool largest = true;
  friend bool operator==(const TopKAttr&, const TopKAttr&) = default;
};

struct InferenceRules;  // infer.h
class Graph;
// An associative combine of k-tuples: `body` has 2k rank-0 inputs (left tuple, then right tuple) and k outputs;
// `identity` is its neutral tuple. A Reduce or Scan over it yields part `part` of the combined tuple.
struct Combine {
  std::shared_ptr<const Graph> body;
  std::vector<double> identity;
  int arity() const { return static_cast<int>(identity.size()); }
};
struct CombineAttr {
  std::shared_ptr<const Combine> combine;
  int part = 0;
  AxisId axis = kUnit;
  bool reverse = false;
  bool exclusive = false;
  friend bool operator==(const CombineAttr& a, const CombineAttr& b);  // by the combine's content
};

using Attr = std::variant<std::monostate, Literal, InputRef, SizeAttr, AxisList, CastAttr, RenameAttr, SliceAttr,
                          ConcatAttr, SplitAttr, WindowAttr, SegmentAttr, ScanAttr, SortAttr, TopKAttr, CombineAttr>;

// ---- node, axis, interface -----------------------------------------------------------------------------------------
struct Node {
  Op op;
  Type type;
  std::vector<AxisId> axes;  // ascending
  std::vector<NodeId> args;  // earlier nodes
  Attr attr;
  template <class T>
  const T& as() const {
    return std::get<T>(attr);
  }
};

struct Axis {
  std::string name;  // for display only
  Size size;
};

struct Symbol {
  std::string name;             // for display and for binding by name
  std::optional<int64_t> hint;  // the size at the user's own shape
};

struct TypeParameter {
  std::string name;     // "T"
  DType default_dtype;  // the user's own
};

enum class InputKind : uint8_t { Tensor, Parameter, Buffer, Scalar };

struct Input {
  std::string name;
  InputKind kind = InputKind::Tensor;
  Type type;                             // Scalar: weak Real, Int or Bool
  std::vector<AxisId> dims;              // positional; kUnit for a size-one dimension
  std::optional<Literal> default_value;  // of a Scalar
  bool differentiable = true;            // a floating tensor whose gradient is wanted
  NodeId node = kNoNode;
};

struct Output {
  std::string name;
  NodeId node = kNoNode;
  std::vector<AxisId> dims;            // positional; as a set exactly the node's axes, plus kUnit entries
  std::optional<std::string> updates;  // the buffer that takes this value (batch norm's running mean), if any
};

// A fact about sizes that the reader relied on: `left == right` (or `left % right == 0`), with the source's reason.
struct SizeConstraint {
  enum class Kind : uint8_t { Equal, Divisible } kind;
  Size left;
  Size right;
};

// Where in the user's source a node came from; line 0 if nowhere.
struct Origin {
  int32_t file = 0;  // index into Graph::source_files
  int32_t line = 0;
  int32_t column = 0;
};

class Graph {
 public:
  std::string name = "op";
  std::vector<Symbol> symbols;
  std::vector<Axis> axes;
  std::vector<TypeParameter> type_parameters;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<SizeConstraint> constraints;
  std::vector<Node> nodes;
  std::map<NodeId, std::string> names;  // values that the source named: for display
  std::vector<Origin> origins;          // parallel to nodes
  std::vector<std::string> source_files;

  const Node& operator[](NodeId id) const { return nodes[static_cast<size_t>(id)]; }
  const Axis& axis(AxisId id) const { return axes[static_cast<size_t>(id)]; }
  std::string size_text(const Size& size) const;
  const Input* find_input(std::string_view name) const;
  // Value of a size under the symbols' hints, if all are known.
  std::optional<int64_t> hinted(const Size& size) const;
};

// Builds a graph node by node. `make` infers axes and type and returns the equal node if one exists. Rules that only a
// reader's input can violate give an error (`try_make`); `make` asserts.
class GraphBuilder {
 public:
  GraphBuilder() = default;
  explicit GraphBuilder(const InferenceRules& rules) : rules_(&rules) {}
  explicit GraphBuilder(Graph start);  // goes on with a graph's nodes; its outputs are kept

  SymbolId symbol(std::string name, std::optional<int64_t> hint = std::nullopt);
  AxisId axis(std::string name, Size size);
  // The same axis for the same key: views that split, window or slice the same way get the same new axis, so that equal
  // expressions stay equal.
  AxisId axis_like(AxisId model, std::string_view key, Size size);
  Type type_parameter(std::string name, DType default_dtype);
  NodeId input(Input input);  // sets Input::node; asserts that the name is new
  void output(Output output);
  void constrain(SizeConstraint constraint);

  Result<NodeId> try_make(Op op, std::vector<NodeId> args, Attr attr = {});
  NodeId make(Op op, std::vector<NodeId> args, Attr attr = {});

  // Shorthands for what passes write most.
  NodeId constant(double value) { return make(Op::Const, {}, Literal{value}); }
  NodeId integer(int64_t value) { return make(Op::Const, {}, Literal{value}); }
  NodeId boolean(bool value) { return make(Op::Const, {}, Literal{value}); }
  NodeId size_of(const Size& size) { return make(Op::SizeOf, {}, SizeAttr{size}); }
  NodeId cast(NodeId x, Type type);  // x itself if it has that type already
  // Sum, ReduceMax, …; x itself for no axes. Axes that x does not depend on are broadcast first.
  NodeId reduce(Op op, NodeId x, std::vector<AxisId> axes);
  NodeId broadcast(NodeId x, std::vector<AxisId> axes);  // adds those that x lacks
  NodeId rename(NodeId x, std::vector<std::pair<AxisId, AxisId>> pairs);

  void set_origin(Origin origin) { origin_ = origin; }  // of the nodes made from now on
  void set_name(NodeId node, std::string name);         // display name; the first stays
  const Graph& graph() const { return graph_; }
  Graph& graph() { return graph_; }
  const Node& operator[](NodeId id) const { return graph_[id]; }
  Graph finish() &&;  // drops what no output needs; ids are renumbered, inputs stay

 private:
  size_t hash(const Node& node) const;
  Graph graph_;
  const InferenceRules* rules_ = nullptr;  // null: the rules
  Origin origin_;
  std::unordered_multimap<size_t, NodeId> interned_;
  std::map<std::pair<AxisId, std::string>, AxisId> derived_axes_;
};

// Copies the sub-graph below `roots` into `builder`; `replace` maps old nodes to new ones (start it with the inputs'
// images, it is extended with everything copied). Axes and symbols must mean the same in both graphs.
void copy_nodes(const Graph& from, std::span<const NodeId> roots, GraphBuilder& builder,
                std::map<NodeId, NodeId>& replace);

// The graph with its type parameters bound, by name; those not named take their default. Every type is concrete after
// it.
Graph bind_types(const Graph& graph, const std::map<std::string, DType>& bindings = {});

bool equal(const Attr& a, const Attr& b);
size_t hash_of(const Attr& attr);

}  // namespace kw::ir
