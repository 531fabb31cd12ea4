#include "act/emit/cpu/emit.h"

#include <algorithm>

#include "act/emit/cpp/expand.h"
#include "act/emit/cpu/entries.h"
#include "act/emit/cpu/kernel_writer.h"
#include "act/loop/halves.h"
#include "act/pass_contract.h"
#include "base/text.h"

namespace kw::act::cpu {
namespace {

class PassEmitter {
 public:
  PassEmitter(const LoopProgram& program, const PassOptions& options)
      : program_(split_halves(program)), options_(options), types_(program_.type_parameters) {}

  Result<EmittedPass> run() {
    EmittedPass out;
    out.file = program_.name + ".cpp";
    out.pass.name = options_.pass;
    Lines kernels, entries;
    for (const LoopKernel& kernel : program_.kernels) {
      const LoopKernel expanded = cpp::expand_reductions(kernel);
      const KernelText text = write_kernel(program_, expanded, types_);
      EntryText entry = write_entries(program_, expanded, text, types_);
      if (!kernels.empty()) kernels.line("");
      kernels.append(text.lines);
      if (!entries.empty()) entries.line("");
      entries.append(entry.lines);
      kernel::Step step;
      step.entries = std::move(entry.entries);
      for (kernel::Entry& e : step.entries) {
        e.file = out.file;
        for (kernel::Argument& argument : e.arguments)
          if (argument.kind == kernel::Argument::Kind::Size) argument.of = with_workers(argument.of);
      }
      out.pass.steps.push_back(std::move(step));
    }
    for (const Buffer& b : program_.buffers)
      if (b.role == Buffer::Role::Workspace) out.pass.buffers.push_back(workspace(b));
    out.text = file_text(kernels, entries);
    return out;
  }

 private:
  // The slices of a sum that rides along: enough points for each, and never more of them than pay, but where each would
  // take so many points that the roundings on its way add up.
  std::string workers() const {
    for (const LoopKernel& kernel : program_.kernels)
      for (const Stage& stage : kernel.stages)
        if (!stage.accumulates.empty()) {
          ir::Size points(1);
          for (LoopAxisId axis : kernel.parallel) points = points * program_.axes[static_cast<size_t>(axis)].size;
          const std::string all = size_text(points, program_);
          return "max(1, max(min(" + std::to_string(options_.parameters.most_slices) + ", ceil_div(" + all + ", " +
                 std::to_string(options_.parameters.points_per_slice) + ")), ceil_div(" + all + ", " +
                 std::to_string(schedule::CpuParameters::kMostPointsPerSlice) + ")))";
        }
    return "1";
  }
  std::string with_workers(const std::string& size) const {
    if (!program_.workers) return size;
    return size == program_.symbols[static_cast<size_t>(*program_.workers)].name ? workers() : size;
  }

  kernel::Buffer workspace(const Buffer& b) const {
    kernel::Buffer out;
    out.name = b.name;
    out.role = kernel::Role::Workspace;
    out.type = type_text(b.type, program_.type_parameters);
    for (const ir::Size& size : b.shape) out.shape.push_back(with_workers(size_text(size, program_)));
    return out;
  }

  Lines includes(const std::string& code) const {
    auto mentions = [&](std::string_view word) { return code.find(word) != std::string::npos; };
    Lines out;
    if (mentions("INFINITY") || mentions("NAN")) out.line("#include <cmath>");
    out.line("#include <cstdint>");
    out.line("");
    struct Header {
      const char* file;
      std::vector<std::string_view> words;
    };
    const Header headers[] = {
        {"combine.h", {"kw::InOrder"}},
        {"element.h", {""}},
        {"math.h", {"kw::"}},
        {"random.h", {"kw::random"}},
        {"reduction.h", {"kw::maximum", "kw::minimum", "kw::sum_of", "kw::TileSum", "kw::Least", "kw::Greatest"}},
        {"row_buffer.h", {"kw::RowBuffer"}},
        {"stream.h", {"kw::OutputTile"}},
        {"tensor.h", {""}},
    };
    for (const Header& header : headers)
      if (std::any_of(header.words.begin(), header.words.end(), mentions))
        out.line("#include \"kw/" + std::string(header.file) + "\"");
    return out;
  }

  Lines constants(const std::string& code) const {
    const schedule::CpuParameters& p = options_.parameters;
    struct Constant {
      const char* name;
      int64_t value;
      const char* why;
    };
    const Constant all[] = {
        {"kTile", p.tile, "elements of the innermost axis at a time"},
        {"kChain", p.chain, "terms that one accumulator takes before it is added to a total"},
        {"kChunks", p.chunks, "of the iteration space, whatever the number of threads"},
        {"kParallelElements", p.parallel_elements, "fewer run on one thread"},
        {"kStreamBytes", p.stream_bytes, "larger outputs are written past the cache"},
    };
    std::vector<std::pair<std::string, std::string>> lines;
    size_t width = 0;
    for (const Constant& c : all) {
      if (code.find(c.name) == std::string::npos) continue;
      lines.emplace_back("constexpr int64_t " + std::string(c.name) + " = " + std::to_string(c.value) + ";", c.why);
      width = std::max(width, lines.back().first.size());
    }
    Lines out;
    for (const auto& [definition, why] : lines)
      out.line(definition + std::string(width - definition.size(), ' ') + "  // " + why);
    return out;
  }

  std::string file_text(const Lines& kernels, const Lines& entries) const {
    const std::string code = kernels.text() + entries.text();
    Lines out;
    auto part = [&](const Lines& lines) {
      if (lines.empty()) return;
      out.append(lines);
      out.line("");
    };
    for (const std::string& line : options_.comment) out.line(line.empty() ? "//" : "// " + line);
    part(includes(code));
    Lines aliases;
    for (const std::string& alias : types_.aliases()) aliases.line(alias);
    part(aliases);
    out.line("namespace {");
    out.line("");
    part(constants(code));
    part(wrapped(kernels));
    out.line("}  // namespace");
    out.line("");
    out.line("extern \"C\" {");
    out.line("");
    part(entries);
    out.line("}  // extern \"C\"");
    return out.text();
  }

  const LoopProgram program_;
  const PassOptions& options_;
  cpp::CppTypes types_;
};

}  // namespace

Result<EmittedPass> emit(const LoopProgram& program, const PassOptions& options) {
  return PassEmitter(program, options).run();
}

}  // namespace kw::act::cpu
