#include "derivative_case.h"

#include <algorithm>

namespace kw::ir::test {

Sketch::Sketch(std::string name, Op op) {
  case_.name = std::move(name);
  case_.op = op;
  type_ = b.type_parameter("T", DType::F64);
}

AxisId Sketch::axis(const std::string& name, int64_t size) { return b.axis(name, Size::symbol(b.symbol(name, size))); }
AxisId Sketch::sized(const std::string& name, const Size& size) { return b.axis(name, size); }

NodeId Sketch::x(const std::string& name, std::vector<AxisId> dims, Range range) {
  Input input;
  input.name = name;
  input.type = type_;
  input.dims = std::move(dims);
  case_.ranges[name] = range;
  return b.input(std::move(input));
}

NodeId Sketch::fixed(const std::string& name, std::vector<AxisId> dims, std::vector<double> values) {
  NodeId node = x(name, std::move(dims));
  case_.fixed[name] = std::move(values);
  return node;
}

NodeId Sketch::integers(const std::string& name, std::vector<AxisId> dims, std::vector<double> values) {
  Input input;
  input.name = name;
  input.type = Type(DType::I64);
  input.dims = std::move(dims);
  case_.fixed[name] = std::move(values);
  return b.input(std::move(input));
}

Sketch& Sketch::out(const std::string& name, NodeId node) {
  b.output({name, node, b[node].axes, std::nullopt});
  return *this;
}

DerivativeCase Sketch::done() && {
  case_.graph = std::move(b).finish();
  return std::move(case_);
}

std::shared_ptr<const Combine> combine_of(const Sketch& sketch, Body body, std::vector<double> identity, Type type) {
  GraphBuilder b;
  b.graph().type_parameters = sketch.b.graph().type_parameters;
  std::vector<NodeId> sides[2];
  for (int side = 0; side < 2; ++side)
    for (size_t i = 0; i < identity.size(); ++i) {
      Input input;
      input.name = (side == 0 ? "l" : "r") + std::to_string(i);
      input.type = type;
      sides[side].push_back(b.input(std::move(input)));
    }
  std::vector<NodeId> out = body(b, sides[0], sides[1]);
  for (size_t i = 0; i < out.size(); ++i) b.output({"o" + std::to_string(i), out[i], {}, std::nullopt});
  return std::make_shared<const Combine>(
      Combine{std::make_shared<const Graph>(std::move(b).finish()), std::move(identity)});
}

std::vector<DerivativeCase> all_derivative_cases() {
  std::vector<DerivativeCase> out;
  for (auto make : {pointwise_cases, reduction_cases, scan_cases, indexed_cases, view_cases})
    for (DerivativeCase& c : make()) out.push_back(std::move(c));
  return out;
}

}  // namespace kw::ir::test
