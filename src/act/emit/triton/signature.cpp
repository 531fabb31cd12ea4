// A function's parameters, and how they are given: the entry of the manifest.
#include <algorithm>

#include "act/emit/access.h"
#include "act/emit/triton/writer.h"
#include "act/emit/words.h"
#include "act/pass_contract.h"

namespace kw::act::triton {
namespace {

using Argument = kernel::Argument;

}  // namespace

// Where a dimension of a buffer is several of its tensor, dense among themselves, the last has its stride.
int Writer::tensor_dimension(BufferId id, size_t dimension) const {
  const auto& collapsed = buffer(id).collapsed;
  return collapsed ? collapsed->dims[dimension].back() : static_cast<int>(dimension);
}

// Of the fast form: every tensor is dense, and no type parameter is fp64.
std::vector<std::string> Writer::form_guards() const {
  std::vector<std::string> guards;
  if (form_ == Form::General) return guards;
  uint16_t narrow = 0;
  for (BufferId id : used_) {
    const Buffer& b = buffer(id);
    const bool scalar = b.collapsed ? b.collapsed->tensor_shape.empty() : b.shape.empty();
    if (b.role != Buffer::Role::Workspace && !scalar) guards.push_back("dense(" + b.name + ")");
    if (b.type.concrete() || (b.type.params() & ~narrow) == 0) continue;
    narrow |= b.type.params();
    guards.push_back("bytes(" + b.name + ") < 8");
  }
  return guards;
}

void Writer::finish_function(Skeleton& skeleton, const std::string& name, const LaunchPlan& plan,
                             const std::vector<std::string>& writes, const std::vector<std::string>& reads,
                             const std::vector<std::pair<std::string, std::string>>& sizes) {
  std::vector<std::string> parameters;
  kernel::Entry entry;
  entry.symbol = name;
  for (BufferId id : used_) {
    parameters.push_back(buffer(id).name);
    entry.arguments.push_back({written_.contains(id) ? Argument::Kind::Write : Argument::Kind::Read, buffer(id).name});
  }
  for (const auto* names : {&reads, &writes})
    for (const std::string& part : *names) {
      parameters.push_back(part);
      entry.arguments.push_back({names == &reads ? Argument::Kind::Read : Argument::Kind::Write, part});
    }
  for (const auto& [id, dimension] : strides_) {
    parameters.push_back(buffer(id).name + "_stride_" + std::to_string(dimension));
    entry.arguments.push_back({Argument::Kind::Stride, buffer(id).name, tensor_dimension(id, dimension), "i64", ""});
  }
  const std::string text = skeleton.words();
  for (const cpp::SizeParameter& size : names_.sizes()) {
    if (!mentions(text, size.name)) continue;
    parameters.push_back(size.name);
    entry.arguments.push_back({Argument::Kind::Size, size_text(size.size, program_), 0, "i64", ""});
  }
  for (const auto& [size, expression] : sizes) {
    if (!mentions(text, size)) continue;
    parameters.push_back(size);
    entry.arguments.push_back({Argument::Kind::Size, expression, 0, "i64", ""});
  }
  for (const auto& [scalar, type] : program_.scalars) {
    if (!mentions(text, scalar)) continue;
    const Kind kind = Expressions::kind_of(type);
    const bool wide = form_ == Form::General;
    parameters.push_back(scalar + (kind == Kind::Float ? wide ? ": tl.float64" : ": tl.float32" : ""));
    entry.arguments.push_back({Argument::Kind::Scalar, scalar, 0,
                               kind == Kind::Float ? wide ? "f64" : "f32"
                               : kind == Kind::Int ? "i64"
                                                   : "bool",
                               ""});
  }
  for (const auto& [constant, value] : plan.constants) {
    parameters.push_back(constant + ": tl.constexpr");
    entry.arguments.push_back({Argument::Kind::Constant, value, 0, "", constant});
  }
  skeleton.name("kernel", name).list("parameters", parameters);
  out_.lines.append(skeleton.fill());
  for (size_t d = 0; d < plan.grid.size(); ++d) entry.launch.grid[d] = plan.grid[d];
  entry.launch.warps = plan.warps;
  entry.guards = form_guards();
  entry.guards.insert(entry.guards.end(), plan.guards.begin(), plan.guards.end());
  kernel::Step step;
  step.entries.push_back(std::move(entry));
  out_.steps.push_back(std::move(step));
}

}  // namespace kw::act::triton
