// A random graph while it grows: the values that ops may draw on, each with the range that it lies in.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "ir/random/dice.h"
#include "ir/random/random_graph.h"

namespace kw::ir::random {

struct Drawn {
  NodeId node = kNoNode;
  double low = 0, high = 0;
  int reductions = 0;  // on the longest way from an input
  double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

class Draft {
 public:
  Draft(uint64_t seed, const RandomGraphOptions& options);

  GraphBuilder b;
  Dice dice;
  const RandomGraphOptions& options;
  // While an op is drawn that the seed wants: which time it is. Element types, reduced positions and whether numbers
  // are integers then take turns.
  std::optional<int> visit;
  const std::vector<AxisId>& axes() const { return axes_; }  // of the inputs

  // ---- drawing operands: nothing if no value fits ----
  using Filter = std::function<bool(const Drawn&)>;
  std::optional<Drawn> draw(const Filter& filter);
  std::optional<Drawn> floating();
  std::optional<Drawn> integer();
  std::optional<Drawn> boolean();
  std::optional<Drawn> number();  // floating or integer
  // Of this rank or more: what has fewer axes is broadcast.
  std::optional<Drawn> with_axis(std::optional<Drawn> (Draft::*kind)(), size_t rank = 1);
  bool fits(const std::vector<AxisId>& axes) const;  // neither too many axes nor too many elements

  // ---- growing ----
  Drawn make(Op op, std::vector<Drawn> args, Attr attr, double low, double high);
  Drawn constant(double value) { return {b.constant(value), value, value}; }
  Drawn whole_number(int64_t value) { return {b.integer(value), double(value), double(value)}; }
  void keep(Drawn value);  // from now on it may be drawn; scaled down first if it is large

  // ---- guards ----
  Drawn within(Drawn x, double low, double high);  // a floating value brought into the range
  Drawn integer_within(Drawn x, int64_t low, int64_t high);
  Drawn cast(Drawn x, Type type);
  void make_promotable(Drawn& a, Drawn& b);  // fp8 promotes with nothing
  Drawn without_ties(Drawn x, AxisId axis);  // where gradients are to be compared
  Drawn index_into(AxisId axis);             // an integer value in range
  Drawn offsets_of(AxisId rows, AxisId offsets, AxisId segments);

  // ---- axes ----
  const Size& size(AxisId axis) const { return b.graph().axis(axis).size; }
  int64_t extent(AxisId axis) const { return *b.graph().hinted(size(axis)); }
  AxisId new_axis(Size size) { return b.axis("k" + std::to_string(++new_axes_), std::move(size)); }
  AxisId some_axis(const Drawn& x) { return dice.pick(b[x.node].axes); }
  const std::vector<AxisId>& axes_of(const Drawn& x) const { return b[x.node].axes; }
  Type type_of(const Drawn& x) const { return b[x.node].type; }

  Graph finish();

 private:
  std::optional<Drawn> of_type(DType type, const Filter& castable);
  void make_axes();
  void make_inputs();

  uint64_t seed_;
  std::vector<AxisId> axes_;
  std::vector<Drawn> pool_;
  std::vector<Drawn> indices_;  // integer inputs to index with
  int new_axes_ = 0;
};

// The range of a type's values that ops keep to.
std::pair<double, double> range_of(DType type);
DType bound_type(const Graph& graph, Type type);  // with type parameters at their defaults

}  // namespace kw::ir::random
