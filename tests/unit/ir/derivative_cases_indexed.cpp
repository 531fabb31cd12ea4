#include "derivative_case.h"

namespace kw::ir::test {
namespace {

DerivativeCase gather(bool batched) {
  Sketch s(batched ? "gather with a batch" : "gather by repeated indices", Op::Gather);
  AxisId rows = s.axis("rows", 2), vocabulary = s.axis("vocabulary", 4), picks = s.axis("picks", 3);
  NodeId x = s.x("x", {rows, vocabulary});
  NodeId index =
      batched ? s.integers("index", {rows, picks}, {3, 0, 3, 1, 2, 1}) : s.integers("index", {picks}, {3, 0, 3});
  s.out("y", s.make(Op::Gather, {x, index}, AxisList{{vocabulary}}));
  return std::move(s).done();
}

DerivativeCase gather_along_itself() {
  Sketch s("gather that permutes its own axis", Op::Gather);
  AxisId rows = s.axis("rows", 2), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows, cols}), index = s.integers("index", {cols}, {2, 2, 0, 1});
  s.out("y", s.make(Op::Gather, {x, index}, AxisList{{cols}}));
  return std::move(s).done();
}

DerivativeCase scatter(Op op, bool batched, bool value_is_vector) {
  Sketch s(std::string(info(op).name) + (batched ? " with a batch" : "") + (value_is_vector ? " of a vector" : ""), op);
  AxisId rows = s.axis("rows", 2), places = s.axis("places", 4), picks = s.axis("picks", 3);
  NodeId base = s.x("base", {rows, places});
  NodeId index =
      batched ? s.integers("index", {rows, picks}, {3, 0, 3, 1, 2, 1}) : s.integers("index", {picks}, {3, 0, 3});
  NodeId value = value_is_vector ? s.x("value", {picks}) : s.x("value", {rows, picks});
  s.out("y", s.make(op, {base, index, value}, AxisList{{places}}));
  return std::move(s).done();
}

DerivativeCase scatter_by_a_matrix(Op op) {
  Sketch s(std::string(info(op).name) + " by a matrix of indices", op);
  AxisId places = s.axis("places", 4), picks = s.axis("picks", 2), more = s.axis("more", 3);
  NodeId base = s.x("base", {places}), index = s.integers("index", {picks, more}, {3, 0, 3, 1, 0, 1});
  NodeId value = s.x("value", {picks, more});
  s.out("y", s.make(op, {base, index, value}, AxisList{{places}}));
  return std::move(s).done();
}

DerivativeCase segment(Op op) {
  Sketch s(std::string(info(op).name) + " with an empty run", op);
  AxisId rows = s.axis("rows", 6), cols = s.axis("cols", 2), segments = s.axis("segments", 4);
  AxisId edges = s.sized("edges", s.size(segments) + Size(1));
  NodeId x = s.x("x", {rows, cols}), offsets = s.integers("offsets", {edges}, {0, 2, 2, 5, 6});
  NodeId y = s.make(op, {x, offsets}, SegmentAttr{rows, segments, edges});
  // An empty run's extremum is infinite: it must not reach the loss.
  NodeId bounded = s.make(Op::Max, {s.make(Op::Min, {y, s.b.constant(50.0)}), s.b.constant(-50.0)});
  s.out("y", op == Op::SegmentSum ? y : bounded);
  return std::move(s).done();
}

DerivativeCase sort(bool descending) {
  Sketch s(descending ? "sort, descending" : "sort", Op::Sort);
  AxisId rows = s.axis("rows", 2), cols = s.axis("cols", 5);
  NodeId x = s.x("x", {rows, cols});
  s.out("y", s.make(Op::Sort, {x}, SortAttr{cols, descending}));
  return std::move(s).done();
}

DerivativeCase top_k(bool largest) {
  Sketch s(largest ? "the largest k" : "the smallest k", Op::TopK);
  AxisId rows = s.axis("rows", 2), cols = s.axis("cols", 5), k = s.sized("k", Size(2));
  NodeId x = s.x("x", {rows, cols});
  s.out("y", s.make(Op::TopK, {x}, TopKAttr{cols, k, largest}));
  return std::move(s).done();
}

}  // namespace

std::vector<DerivativeCase> indexed_cases() {
  std::vector<DerivativeCase> out;
  out.push_back(gather(false));
  out.push_back(gather(true));
  out.push_back(gather_along_itself());
  for (Op op : {Op::ScatterAdd, Op::ScatterSet}) {
    out.push_back(scatter(op, false, false));
    out.push_back(scatter(op, true, false));
    out.push_back(scatter(op, false, true));
    out.push_back(scatter_by_a_matrix(op));
  }
  for (Op op : {Op::SegmentSum, Op::SegmentMax, Op::SegmentMin}) out.push_back(segment(op));
  for (bool flag : {false, true}) {
    out.push_back(sort(flag));
    out.push_back(top_k(flag));
  }
  return out;
}

}  // namespace kw::ir::test
