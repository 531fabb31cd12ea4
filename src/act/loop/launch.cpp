#include "act/loop/launch.h"

#include <functional>

#include "ir/interpreter/sizes.h"

namespace kw::act {
namespace {

// The interface of the program as a graph without nodes, so that sizes are solved once for both forms.
ir::Graph interface_of(const LoopProgram& program) {
  ir::Graph graph;
  graph.name = program.name;
  graph.symbols = program.symbols;
  graph.constraints = program.constraints;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.role != Buffer::Role::Input) continue;
    ir::Input input;
    input.name = buffer.tensor;
    input.type = buffer.type;
    for (const ir::Size& size : buffer.collapsed ? buffer.collapsed->tensor_shape : buffer.shape) {
      input.dims.push_back(static_cast<ir::AxisId>(graph.axes.size()));
      graph.axes.push_back({buffer.name + std::to_string(graph.axes.size()), size});
    }
    graph.inputs.push_back(std::move(input));
  }
  for (size_t i = 0; i < program.scalars.size(); ++i) {
    ir::Input input;
    input.name = program.scalar_sources[i].input;
    input.kind = ir::InputKind::Scalar;
    input.type = program.scalars[i].second;
    input.default_value = program.scalar_sources[i].default_value;
    graph.inputs.push_back(std::move(input));
  }
  return graph;
}

using SizeVisitor = std::function<Status(const ir::Size&)>;

Status visit_sizes(const Index& index, const SizeVisitor& visit) {
  if (index.kind == Index::Kind::Size) KW_CHECK(visit(index.size));
  for (const Index& operand : index.operands) KW_CHECK(visit_sizes(operand, visit));
  return {};
}

Status visit_sizes(const LoopProgram& program, const SizeVisitor& visit) {
  for (const LoopAxis& axis : program.axes) KW_CHECK(visit(axis.size));
  for (const Buffer& buffer : program.buffers) {
    for (const ir::Size& size : buffer.shape) KW_CHECK(visit(size));
    if (buffer.collapsed)
      for (const ir::Size& size : buffer.collapsed->tensor_shape) KW_CHECK(visit(size));
  }
  for (const LoopKernel& kernel : program.kernels)
    for (const Value& value : kernel.values) {
      if (const Load* load = std::get_if<Load>(&value.what))
        for (const Index& index : load->at) KW_CHECK(visit_sizes(index, visit));
      if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) KW_CHECK(visit_sizes(index->index, visit));
      if (const Reduced* reduced = std::get_if<Reduced>(&value.what)) KW_CHECK(visit_sizes(reduced->position, visit));
    }
  return {};
}

}  // namespace

Result<Launch> Launch::of(const LoopProgram& program, const ir::Environment& call,
                          const LoopInterpretOptions& options) {
  ir::Graph graph = interface_of(program);
  ir::Environment given = call;
  if (program.workers) given.sizes[program.symbols[static_cast<size_t>(*program.workers)].name] = options.workers;
  KW_TRY(ir::interpreter::BoundSizes sizes, ir::interpreter::solve_sizes(graph, given));
  KW_CHECK(visit_sizes(program, [&](const ir::Size& size) -> Status {
    KW_TRY(int64_t value, sizes.value(graph, size));
    static_cast<void>(value);
    return {};
  }));
  Launch launch;
  launch.symbols_ = std::move(sizes.symbols);
  for (const ir::TypeParameter& parameter : program.type_parameters) {
    auto bound = options.types.find(parameter.name);
    launch.types_.push_back(bound == options.types.end() ? parameter.default_dtype : bound->second);
  }
  return launch;
}

int64_t Launch::value(const ir::Size& size) const {
  std::optional<int64_t> value = size.evaluate([this](ir::SymbolId id) { return symbols_[static_cast<size_t>(id)]; });
  KW_ASSERT(value, "a launch evaluates every size of its program");
  return *value;
}

std::vector<int64_t> Launch::values(const std::vector<ir::Size>& sizes) const {
  std::vector<int64_t> out;
  for (const ir::Size& size : sizes) out.push_back(value(size));
  return out;
}

}  // namespace kw::act
