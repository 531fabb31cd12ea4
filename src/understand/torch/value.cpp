#include "understand/torch/value.h"

#include "base/text.h"

namespace kw::understand {
namespace {

std::string type_text(const ir::Graph& graph, ir::Type type) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < graph.type_parameters.size(); ++i)
    if (type.params() & (1u << i)) parts.push_back(graph.type_parameters[i].name);
  if (type.floor() != ir::DType::None) parts.emplace_back(ir::info(type.floor()).name);
  return parts.empty() ? "?" : join(parts, "|");
}

std::string dims_text(const ir::Graph& graph, const std::vector<ir::AxisId>& dims) {
  std::vector<std::string> parts;
  for (ir::AxisId axis : dims) parts.push_back(axis == ir::kUnit ? "1" : graph.size_text(graph.axis(axis).size));
  return "[" + join(parts, ", ") + "]";
}

struct Describe {
  const ir::Graph& graph;
  std::string operator()(const NoneValue&) const { return "None"; }
  std::string operator()(bool b) const { return b ? "True" : "False"; }
  std::string operator()(const ir::Size& s) const { return "int " + graph.size_text(s); }
  std::string operator()(double d) const { return "float " + number_text(d); }
  std::string operator()(const ScalarValue& v) const {
    return v.known ? "number " + number_text(*v.known) : "a number";
  }
  std::string operator()(const std::string& s) const { return "'" + s + "'"; }
  std::string operator()(const DTypeValue& d) const { return "dtype " + type_text(graph, d.type); }
  std::string operator()(const DeviceValue&) const { return "a device"; }
  std::string operator()(const EllipsisValue&) const { return "..."; }
  std::string operator()(const TensorValue& t) const {
    return "tensor " + type_text(graph, graph[t.node].type) + dims_text(graph, t.dims);
  }
  std::string operator()(const SliceValue&) const { return "a slice"; }
  std::string operator()(const SequenceValue& s) const {
    std::vector<std::string> parts;
    for (const Value& item : s.items) parts.push_back(describe(item, graph));
    return (s.is_tuple ? "(" : "[") + join(parts, ", ") + (s.is_tuple ? ")" : "]");
  }
  std::string operator()(const DictValue&) const { return "a dict"; }
  std::string operator()(const std::shared_ptr<Object>& o) const { return o->describe(); }
};

}  // namespace

std::string describe(const Value& value, const ir::Graph& graph) { return std::visit(Describe{graph}, value.data); }

}  // namespace kw::understand
