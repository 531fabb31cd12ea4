#include "act/emit/triton/emit.h"

#include <algorithm>

#include "act/emit/triton/kernel_writer.h"
#include "act/emit/words.h"
#include "act/loop/collapse.h"
#include "act/loop/halves.h"
#include "act/pass_contract.h"
#include "base/embedded.h"
#include "base/text.h"

namespace kw::act::triton {
namespace {

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
  // The last function of the file has nothing behind it.
  for (int blank = 0; !wanted.empty() && blank < 2; ++blank)
    if (const auto& all = out.all(); !(all.back().empty() && all[all.size() - 2].empty())) out.line("");
}

// One file as it grows.
struct File {
  std::string name;
  Lines kernels;
  std::set<std::string> functions;

  void take(const Written& written) {
    if (!kernels.empty()) {
      kernels.line("");
      kernels.line("");
    }
    kernels.append(written.lines);
    functions.insert(written.functions.begin(), written.functions.end());
  }
  std::string text(const std::vector<std::string>& comment) const {
    Lines text;
    for (const std::string& line : comment) text.line(line.empty() ? "#" : "# " + line);
    text.line("import triton");
    text.line("import triton.language as tl");
    text.line("");
    text.line("");
    return text.text() + code();
  }
  std::string code() const {
    Lines text;
    append_functions(functions, text);
    text.append(kernels);
    return python_wrapped(text).text();
  }
};

// Names for a program by itself: a tile has rows and columns, or is a run of elements. The sizes that a caller gives
// keep their names.
void name_tile(LoopProgram& dense) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(dense.symbols.begin(), dense.symbols.end(), [&](const auto& s) { return s.name == name; }) ||
           std::any_of(dense.buffers.begin(), dense.buffers.end(), [&](const Buffer& b) { return b.name == name; });
  };
  std::vector<LoopAxis*> axes;
  for (LoopAxis& axis : dense.axes)
    if (!(dense.workers && axis.size == ir::Size::symbol(*dense.workers))) axes.push_back(&axis);
  const auto name = [&](LoopAxis& axis, const std::string& merged, const std::string& single) {
    const bool is_merged = !axis.size.as_symbol() && !axis.size.constant();
    if (!taken(is_merged ? merged : single)) axis.name = is_merged ? merged : single;
  };
  if (axes.size() == 1) name(*axes[0], "elements", axes[0]->name);
  if (axes.size() == 2) {
    name(*axes[0], "rows", "row");
    name(*axes[1], "cols", "col");
  }
}

class PassEmitter {
 public:
  // `general`: none where only the fast kernels are wanted.
  PassEmitter(const LoopProgram& program, std::string pass, File& fast, File* general)
      : given_(split_halves(program)), fast_(fast), general_(general) {
    out_.name = std::move(pass);
  }

  Result<kernel::Pass> run() {
    LoopProgram dense = collapse(given_);
    if (general_ == nullptr) name_tile(dense);
    LoopProgram any = given_;
    for (LoopKernel& kernel : any.kernels) kernel.name += "_general";
    for (size_t k = 0; k < given_.kernels.size(); ++k) {
      KW_TRY(Written fast, write_kernel(dense, dense.kernels[k], Form::Fast));
      fast_.take(fast);
      if (!fast.workers.empty()) workers_ = fast.workers;
      if (general_ == nullptr) {
        add_steps(fast);
        continue;
      }
      KW_TRY(Written general, write_kernel(any, any.kernels[k], Form::General));
      general_->take(general);
      add_steps(fast, general);
    }
    name_workers();
    return std::move(out_);
  }

 private:
  void add_workspace(const Written& written) {
    for (const kernel::Buffer& part : written.workspace)
      if (std::find(out_.buffers.begin(), out_.buffers.end(), part) == out_.buffers.end()) out_.buffers.push_back(part);
  }
  void add_steps(Written& fast) {
    add_workspace(fast);
    for (kernel::Step& step : fast.steps) out_.steps.push_back(std::move(step));
  }
  // Both have the same steps, in the same order.
  void add_steps(Written& fast, Written& general) {
    KW_ASSERT(fast.steps.size() == general.steps.size(), "both forms of a kernel have the same steps");
    add_workspace(fast);
    add_workspace(general);
    for (size_t s = 0; s < fast.steps.size(); ++s) {
      kernel::Step step;
      step.entries.push_back(std::move(fast.steps[s].entries[0]));
      step.entries.push_back(std::move(general.steps[s].entries[0]));
      step.entries[0].file = fast_.name;
      step.entries[1].file = general_->name;
      out_.steps.push_back(std::move(step));
    }
  }

  // The loop form leaves open how many slices a sum has.
  void name_workers() {
    std::vector<kernel::Buffer> workspace;
    const std::string name = given_.workers ? given_.symbols[static_cast<size_t>(*given_.workers)].name : "workers";
    auto counted = [&](const std::string& size) {
      if (workers_.empty()) return size;
      return size == name ? workers_ : replace_word(size, name, "(" + workers_ + ")");
    };
    for (const Buffer& b : given_.buffers) {
      if (b.role != Buffer::Role::Workspace) continue;
      kernel::Buffer buffer{b.name, kernel::Role::Workspace, type_text(b.type, given_.type_parameters)};
      for (const ir::Size& size : b.shape) buffer.shape.push_back(counted(size_text(size, given_)));
      workspace.push_back(std::move(buffer));
    }
    out_.buffers.insert(out_.buffers.begin(), workspace.begin(), workspace.end());
    for (kernel::Step& step : out_.steps)
      for (kernel::Entry& entry : step.entries) {
        for (std::string& size : entry.launch.grid) size = counted(size);
        for (kernel::Argument& argument : entry.arguments)
          if (argument.kind == kernel::Argument::Kind::Size || argument.kind == kernel::Argument::Kind::Constant)
            argument.of = counted(argument.of);
        entry.launch.warps = counted(entry.launch.warps);
        for (std::string& guard : entry.guards) guard = counted(guard);
      }
    for (kernel::Buffer& b : out_.buffers)
      for (std::string& size : b.shape) size = counted(size);
  }

  LoopProgram given_;
  File& fast_;
  File* general_;
  kernel::Pass out_;
  std::string workers_;
};

}  // namespace

Result<Emitted> emit(const std::vector<PassOptions>& passes, const OpOptions& options) {
  File fast{options.name + ".py", {}, {}}, general{options.name + "_general.py", {}, {}};
  Emitted out;
  for (const PassOptions& pass : passes) {
    KW_TRY(kernel::Pass emitted, PassEmitter(*pass.program, pass.pass, fast, &general).run());
    out.passes.push_back(std::move(emitted));
  }
  out.files[fast.name] = fast.text(options.comment);
  out.files[general.name] = general.text(options.general_comment);
  return out;
}

Result<Dense> emit_dense(const std::vector<PassOptions>& passes) {
  File fast{"", {}, {}};
  Dense out;
  for (const PassOptions& pass : passes) {
    KW_TRY(kernel::Pass emitted, PassEmitter(*pass.program, pass.pass, fast, nullptr).run());
    out.passes.push_back(std::move(emitted));
  }
  out.text = fast.code();
  return out;
}

}  // namespace kw::act::triton
