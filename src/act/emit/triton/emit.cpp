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

bool needs_dense(const Written& written) {
  const std::vector<std::string>& guards = written.steps[0].entries[0].guards;
  return std::any_of(guards.begin(), guards.end(), [](const std::string& g) { return g.starts_with("dense("); });
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
  for (const Buffer& b : given.buffers) {
    if (b.role != Buffer::Role::Workspace) continue;
    kernel::Buffer workspace{b.name, kernel::Role::Workspace, type_text(b.type, given.type_parameters)};
    for (const ir::Size& size : b.shape) workspace.shape.push_back(with_workers(size_text(size, given)));
    out.pass.buffers.push_back(std::move(workspace));
  }
  Lines kernels;
  std::set<std::string> functions;
  auto take = [&](const Written& written) {
    if (!kernels.empty()) {
      kernels.line("");
      kernels.line("");
    }
    kernels.append(written.lines);
    functions.insert(written.functions.begin(), written.functions.end());
    for (const kernel::Buffer& part : written.workspace)
      if (std::find(out.pass.buffers.begin(), out.pass.buffers.end(), part) == out.pass.buffers.end())
        out.pass.buffers.push_back(part);
  };
  // Dense tensors, with neighbouring axes walked as one, come first; the second form is for any strides.
  LoopProgram dense = collapse(given), strided = given;
  const bool two =
      std::any_of(dense.buffers.begin(), dense.buffers.end(), [](const Buffer& b) { return b.collapsed.has_value(); });
  for (LoopKernel& kernel : strided.kernels) kernel.name += "_strided";
  for (size_t k = 0; k < given.kernels.size(); ++k) {
    KW_TRY(Written written, write_kernel(two ? dense : given, (two ? dense : given).kernels[k]));
    take(written);
    if (needs_dense(written)) {
      KW_TRY(Written general, write_kernel(strided, strided.kernels[k]));
      take(general);
      for (size_t s = 0; s < written.steps.size(); ++s)
        for (kernel::Entry& entry : general.steps[s].entries) written.steps[s].entries.push_back(std::move(entry));
    }
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
