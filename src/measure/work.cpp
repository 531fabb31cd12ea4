#include "measure/work.h"

#include <set>
#include <utility>
#include <vector>

namespace kw::measure {
namespace {

using ir::Op;

enum class Cost : uint8_t { Free, Simple, Special };

Cost cost_of(Op op) {
  switch (op) {
    case Op::StopGradient:
      return Cost::Free;
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Exp:
    case Op::Exp2:
    case Op::Expm1:
    case Op::Log:
    case Op::Log2:
    case Op::Log1p:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Tanh:
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Erf:
    case Op::Erfc:
    case Op::Erfinv:
    case Op::Sigmoid:
    case Op::Div:
    case Op::Pow:
    case Op::LogSumExp:
      return Cost::Special;
    default:
      break;
  }
  switch (info(op).kind) {
    case ir::OpKind::Pointwise:
    case ir::OpKind::Reduction:
      return Cost::Simple;
    default:
      return Cost::Free;  // leaves and views are addresses; what is left has no limit of this kind
  }
}

class Counter {
 public:
  Counter(const ir::Graph& graph, const Sizes& sizes) : graph_(graph), sizes_(sizes) {}

  Result<double> count(const std::vector<ir::AxisId>& axes) const {
    double n = 1;
    for (ir::AxisId axis : axes) {
      if (axis == ir::kUnit) continue;
      const ir::Size& size = graph_.axes[static_cast<size_t>(axis)].size;
      std::string missing;
      std::optional<int64_t> value = size.evaluate([&](ir::SymbolId s) -> std::optional<int64_t> {
        const std::string& name = graph_.symbols[static_cast<size_t>(s)].name;
        if (auto found = sizes_.find(name); found != sizes_.end()) return found->second;
        missing = name;
        return std::nullopt;
      });
      if (!value) return bad_input("the size " + (missing.empty() ? "of an axis" : missing) + " is not known");
      n *= static_cast<double>(*value);
    }
    return n;
  }

 private:
  const ir::Graph& graph_;
  const Sizes& sizes_;
};

}  // namespace

Result<Work> work_of(const ir::Graph& pass, const Sizes& sizes, const Types& types) {
  std::vector<ir::DType> binding;
  for (const ir::TypeParameter& parameter : pass.type_parameters) {
    auto given = types.find(parameter.name);
    binding.push_back(given == types.end() ? parameter.default_dtype : given->second);
  }
  std::vector<bool> used(pass.nodes.size(), false);
  for (const ir::Output& output : pass.outputs) used[static_cast<size_t>(output.node)] = true;
  for (size_t i = used.size(); i-- > 0;)
    if (used[i])
      for (ir::NodeId arg : pass.nodes[i].args) used[static_cast<size_t>(arg)] = true;

  const Counter counter(pass, sizes);
  Work work;
  for (const ir::Input& input : pass.inputs) {
    if (input.kind == ir::InputKind::Scalar || input.node == ir::kNoNode || !used[static_cast<size_t>(input.node)])
      continue;
    KW_TRY(const double n, counter.count(input.dims));
    work.read_bytes += n * info(input.type.bind(binding)).bytes;
  }
  std::set<std::pair<ir::NodeId, std::vector<ir::AxisId>>> written;
  for (const ir::Output& output : pass.outputs) {
    // Gradients that are one value, as of the terms of a sum, are one tensor.
    if (!written.emplace(output.node, output.dims).second) continue;
    KW_TRY(const double n, counter.count(output.dims));
    work.written_bytes += n * info(pass.nodes[static_cast<size_t>(output.node)].type.bind(binding)).bytes;
  }
  for (size_t i = 0; i < used.size(); ++i) {
    const ir::Node& node = pass.nodes[i];
    const Cost cost = cost_of(node.op);
    if (!used[i] || cost == Cost::Free) continue;
    // A reduction works on every element of what it reduces.
    const bool reduces = info(node.op).kind == ir::OpKind::Reduction;
    const ir::Node& domain = reduces ? pass.nodes[static_cast<size_t>(node.args[0])] : node;
    KW_TRY(const double n, counter.count(domain.axes));
    (cost == Cost::Simple ? work.simple : work.special) += n;
  }
  return work;
}

}  // namespace kw::measure
