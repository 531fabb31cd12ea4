// One op to be differentiated: a small graph with the range that each of its inputs is sampled from. A case serves the
// finite-difference test, the completeness test and the planted-row test alike.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/interpreter/interpreter.h"

namespace kw::ir::test {

struct Range {
  double low = -2;
  double high = 2;
};

struct DerivativeCase {
  std::string name;
  Op op;  // whose row it proves
  Graph graph;
  std::map<std::string, Range> ranges;               // of floating inputs
  std::map<std::string, std::vector<double>> fixed;  // values of integer inputs, and of inputs at special points
};

// Writes a case. Floating inputs are of type T, sizes are symbols with the given hint.
class Sketch {
 public:
  Sketch(std::string name, Op op);
  GraphBuilder b;

  AxisId axis(const std::string& name, int64_t size);       // of a new symbol
  AxisId sized(const std::string& name, const Size& size);  // of a size made from others
  Size size(AxisId axis) const { return b.graph().axis(axis).size; }
  NodeId x(const std::string& name, std::vector<AxisId> dims, Range range = {});
  NodeId fixed(const std::string& name, std::vector<AxisId> dims, std::vector<double> values);  // floating
  NodeId integers(const std::string& name, std::vector<AxisId> dims, std::vector<double> values);
  NodeId make(Op op, std::vector<NodeId> args, Attr attr = {}) { return b.make(op, std::move(args), std::move(attr)); }
  Sketch& out(const std::string& name, NodeId node);
  DerivativeCase done() &&;
  Type type() const { return type_; }

 private:
  DerivativeCase case_;
  Type type_;
};

// (left…, right…) → the combined tuple, each of the given type.
using Body = std::vector<NodeId> (*)(GraphBuilder&, std::vector<NodeId> left, std::vector<NodeId> right);
std::shared_ptr<const Combine> combine_of(const Sketch& sketch, Body body, std::vector<double> identity, Type type);
inline std::shared_ptr<const Combine> combine_of(const Sketch& sketch, Body body, std::vector<double> identity) {
  return combine_of(sketch, body, std::move(identity), sketch.type());
}

std::vector<DerivativeCase> pointwise_cases();
std::vector<DerivativeCase> reduction_cases();
std::vector<DerivativeCase> scan_cases();
std::vector<DerivativeCase> indexed_cases();
std::vector<DerivativeCase> view_cases();
std::vector<DerivativeCase> all_derivative_cases();

}  // namespace kw::ir::test
