#include "act/emit/triton/emit.h"

#include <algorithm>

#include "act/emit/triton/kernel_writer.h"
#include "act/loop/collapse.h"
#include "act/pass_contract.h"
#include "base/embedded.h"
#include "base/text.h"

namespace kw::act::triton {
namespace {

// The slices of a sum that rides along: some for each multiprocessor, each over at least a few points.
std::string workers_of(const LoopProgram& program) {
  for (const LoopKernel& kernel : program.kernels)
    for (const Stage& stage : kernel.stages)
      if (!stage.accumulates.empty()) {
        ir::Size points(1);
        for (LoopAxisId axis : kernel.parallel) points = points * program.axes[static_cast<size_t>(axis)].size;
        return "max(1, min(2*multiprocessors, ceil_div(" + size_text(points, program) + ", 4)))";
      }
  return "1";
}

// The functions of runtime/triton/math.py that are asked for, in its order.
void append_functions(const std::set<std::string>& wanted, Lines& out) {
  bool copies = false;
  for (const std::string& line : split_lines(embedded::file("runtime/triton/math.py"))) {
    if (line.starts_with("# function ")) {
      copies = wanted.contains(line.substr(11));
      continue;
    }
    if (copies) out.line(line);
  }
}

}  // namespace

Result<EmittedPass> emit(const LoopProgram& given, const PassOptions& options) {
  EmittedPass out;
  out.file = given.name + ".py";
  out.pass.name = options.pass;
  const std::string workers = workers_of(given);
  auto with_workers = [&](const std::string& size) {
    return given.workers && size == given.symbols[static_cast<size_t>(*given.workers)].name ? workers : size;
  };
  Lines kernels;
  std::set<std::string> functions;
  std::vector<kernel::Buffer> parts;
  for (const LoopKernel& kernel : given.kernels) {
    KW_TRY(Written written, write_kernel(given, kernel));
    if (!kernels.empty()) {
      kernels.line("");
      kernels.line("");
    }
    kernels.append(written.lines);
    functions.insert(written.functions.begin(), written.functions.end());
    parts.insert(parts.end(), written.workspace.begin(), written.workspace.end());
    for (kernel::Step& step : written.steps) {
      for (kernel::Entry& entry : step.entries) {
        entry.file = out.file;
        for (std::string& size : entry.launch.grid) size = with_workers(size);
        for (kernel::Argument& argument : entry.arguments)
          if (argument.kind == kernel::Argument::Kind::Size) argument.of = with_workers(argument.of);
      }
      out.pass.steps.push_back(std::move(step));
    }
  }
  for (const Buffer& b : given.buffers) {
    if (b.role != Buffer::Role::Workspace) continue;
    kernel::Buffer workspace{b.name, kernel::Role::Workspace, type_text(b.type, given.type_parameters)};
    for (const ir::Size& size : b.shape) workspace.shape.push_back(with_workers(size_text(size, given)));
    out.pass.buffers.push_back(std::move(workspace));
  }
  out.pass.buffers.insert(out.pass.buffers.end(), parts.begin(), parts.end());
  Lines text;
  for (const std::string& line : options.comment) text.line(line.empty() ? "#" : "# " + line);
  text.line("import triton");
  text.line("import triton.language as tl");
  text.line("");
  text.line("");
  append_functions(functions, text);
  text.append(kernels);
  out.text = text.text();
  return out;
}

}  // namespace kw::act::triton
