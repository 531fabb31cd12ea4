#include "act/emit/cuda/emit.h"

#include <algorithm>

#include "act/emit/cpp/expand.h"
#include "act/emit/cuda/entries.h"
#include "act/emit/cuda/hoist_factors.h"
#include "act/emit/cuda/kernel_writer.h"
#include "act/emit/cuda/split_sums.h"
#include "act/loop/halves.h"
#include "act/pass_contract.h"
#include "base/text.h"

namespace kw::act::cuda {
namespace {

class PassEmitter {
 public:
  PassEmitter(const LoopProgram& program, const PassOptions& options)
      : program_(hoist_factors(split_sums(split_halves(program)))),
        options_(options),
        types_(program_.type_parameters) {}

  static schedule::CudaKernelFacts facts_of(const KernelText& text) {
    return {.held = text.held,
            .narrow_held = text.narrow_live,
            .loads = text.loads,
            .truths = text.truths,
            .busy = text.busy,
            .at_once = text.at_once,
            .stages = text.stages,
            .in_parts = text.plan.in_parts,
            .made = text.made,
            .beside = std::ssize(text.beside),
            .column_sums = text.column_sums,
            .work = text.work,
            .scalar_sums = text.other_sums};
  }
  Result<EmittedPass> run() {
    KW_CHECK(supported());
    EmittedPass out;
    out.file = program_.name + ".cu";
    out.pass.name = options_.pass;
    std::vector<LoopKernel> kernels;
    std::vector<KernelText> texts;
    std::vector<schedule::CudaParameters> parameters;
    int accumulating = 0;
    for (const LoopKernel& kernel : program_.kernels) {
      kernels.push_back(cpp::expand_reductions(kernel));
      texts.push_back(write_kernel(program_, kernels.back(), types_));
      KW_TRY(
          schedule::CudaParameters p,
          schedule::with_moves(schedule::start_parameters(options_.machine, facts_of(texts.back())), options_.moves));
      parameters.push_back(p);
      if (texts.back().plan.accumulates && accumulating++ == 0)
        workers_ = workers_of(program_, kernels.back(), texts.back(), p);
    }
    if (accumulating > 1) workers_.blocks.clear();  // all have the same number
    Lines code;
    for (size_t k = 0; k < kernels.size(); ++k) {
      const bool accumulates = texts[k].plan.accumulates;
      const Workers workers = accumulates ? workers_ : Workers{slices()};
      EntryText entry = write_entries(program_, kernels[k], texts[k], types_, parameters[k], workers);
      if (accumulates && program_.atomic) {
        out.atomic = true;
        for (const kernel::Step& fill : cleared(program_, kernels[k])) out.pass.steps.push_back(fill);
      }
      if (!code.empty()) code.line("");
      code.append(texts[k].lines);
      code.line("");
      code.append(entry.lines);
      kernel::Step step;
      step.entries = std::move(entry.entries);
      for (kernel::Entry& e : step.entries) {
        e.file = out.file;
        with_workers(e, workers.most);
      }
      if (accumulates && !workers.blocks.empty()) slices_ = "blocks(" + std::to_string(out.pass.steps.size()) + ")";
      out.pass.steps.push_back(std::move(step));
    }
    for (const Buffer& b : program_.buffers)
      if (b.role == Buffer::Role::Workspace) out.pass.buffers.push_back(workspace(b));
    out.text = file_text(code);
    return out;
  }

 private:
  Status supported() const {
    auto refuse = [](const std::string& what, const char* rule) {
      return bad_input(what + " is not generated for cuda yet: rule " + rule);
    };
    for (const LoopKernel& kernel : program_.kernels)
      for (const Value& value : kernel.values) {
        if (const Map* map = std::get_if<Map>(&value.what); map && map->op == ir::Op::Random)
          return refuse("a random number", "random");
      }
    return {};
  }

  // How many slices there are: where they are added to atomically, one.
  std::string slices() const { return program_.atomic ? "1" : slices_.empty() ? workers_.most : slices_; }
  static std::vector<kernel::Step> cleared(const LoopProgram& program, const LoopKernel& kernel) {
    std::vector<kernel::Step> steps;
    for (const Stage& stage : kernel.stages)
      for (const Accumulate& sum : stage.accumulates)
        steps.push_back({kernel::Step::Kind::Fill, {}, program.buffers[static_cast<size_t>(sum.buffer)].name, 0});
    return steps;
  }

  std::string with_workers(const std::string& size, const std::string& workers) const {
    if (!program_.workers) return size;
    const std::string& name = program_.symbols[static_cast<size_t>(*program_.workers)].name;
    // A size of its own, or a part of an expression of sizes.
    std::string out;
    for (size_t i = 0; i < size.size();) {
      size_t end = i;
      auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      while (end < size.size() && is_word(size[end])) ++end;
      const std::string word = size.substr(i, end - i);
      if (word.empty()) {
        out += size[i++];
      } else {
        out += word == name ? workers : word;
        i = end;
      }
    }
    return out;
  }
  void with_workers(kernel::Entry& e, const std::string& workers) const {
    for (kernel::Argument& argument : e.arguments)
      if (argument.kind == kernel::Argument::Kind::Size) argument.of = with_workers(argument.of, workers);
    for (std::string& guard : e.guards) guard = with_workers(guard, workers);
    e.launch.grid[0] = with_workers(e.launch.grid[0], workers);
    e.launch.block[0] = with_workers(e.launch.block[0], workers);
    e.launch.shared_bytes = with_workers(e.launch.shared_bytes, workers);
  }

  kernel::Buffer workspace(const Buffer& b) const {
    kernel::Buffer out;
    out.name = b.name;
    out.role = kernel::Role::Workspace;
    out.type = type_text(b.type, program_.type_parameters);
    for (const ir::Size& size : b.shape)
      out.shape.push_back(with_workers(size_text(size, program_), program_.atomic ? "1" : workers_.most));
    return out;
  }

  std::string file_text(const Lines& code) const {
    Lines out;
    for (const std::string& line : options_.comment) out.line(line.empty() ? "//" : "// " + line);
    const std::string text = code.text();
    if (text.find("kw::InOrder") != std::string::npos) out.line("#include \"kw/combine.h\"");
    for (const char* header : {"element.h", "math.h", "memory.h", "reduction.h", "row.h", "tensor.h", "thread.h"})
      out.line("#include \"kw/" + std::string(header) + "\"");
    out.line("");
    const std::vector<std::string> aliases = types_.aliases();
    for (const std::string& alias : aliases) out.line(alias);
    if (!aliases.empty()) out.line("");
    out.append(wrapped(code));
    return out.text();
  }

  const LoopProgram program_;
  const PassOptions& options_;
  cpp::CppTypes types_;
  Workers workers_;
  std::string slices_;  // as those see them that come after the kernel which writes them
};

}  // namespace

Result<EmittedPass> emit(const LoopProgram& program, const PassOptions& options) {
  return PassEmitter(program, options).run();
}

}  // namespace kw::act::cuda
