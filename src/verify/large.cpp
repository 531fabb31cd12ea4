#include "verify/large.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "verify/shapes.h"

namespace kw::verify {

using kernel::Buffer;
using kernel::Tensor;

std::optional<RepeatingCall> large_call(const Subject& subject, const kernel::TypeBinding& types,
                                        const LargeWish& wish) {
  kernel::Sizes own;
  for (const ir::Symbol& symbol : subject.math().symbols) own[symbol.name] = symbol.hint.value_or(1);
  std::optional<RepeatingCall> best;
  for (Repetition& one : repetitions(subject, types, own)) {
    const std::int64_t period = longest_period(subject, one.call);
    if (period == 0) continue;
    std::int64_t size = std::max({wish.bytes / one.widest + 1, wish.elements / one.longest + 1, 2 * period + 1});
    kernel::Sizes sizes = one.call.sizes;
    const auto admitted = [&](std::int64_t wanted) {
      sizes[one.call.symbol] = size = wanted;
      return admits(subject, sizes, wish.most_elements);
    };
    // Odd where the math allows it: what goes by eights, or by tiles, leaves something over.
    if (!admitted(size | 1) && !admitted(size & ~std::int64_t{1})) continue;
    std::optional<RepeatingCall> call = sized(subject, types, std::move(one.call), size, period);
    if (call && (!best || call->outputs.size() > best->outputs.size())) best = std::move(call);
  }
  return best;
}

Result<std::int64_t> bytes_of(const Subject& subject, const RepeatingCall& call, const kernel::TypeBinding& types,
                              const kernel::Machine& machine) {
  std::int64_t most = 0, kept = 0;
  for (const kernel::Pass& pass : subject.manifest.passes) {
    kernel::Facts facts;
    facts.machine = machine;
    facts.sizes = call.sizes;
    std::int64_t all = 0;
    for (const Buffer& buffer : pass.buffers) {
      if (!buffer.alias.empty()) continue;
      KW_TRY(const Tensor tensor, kernel::describe(buffer, types, facts));
      facts.tensors[buffer.name] = tensor;
      const std::int64_t bytes = count_of(tensor.shape) * ir::info(tensor.dtype).bytes;
      all += bytes;
      if (wanted_later(subject, pass, buffer)) kept += bytes;
    }
    most = std::max(most, all);
  }
  return most + kept;
}

std::int64_t available_memory() {
  std::int64_t least = 0;
  if (const auto text = read_text("/proc/meminfo"))
    for (const std::string& line : split_lines(*text))
      if (line.starts_with("MemAvailable:"))
        least = 1024 * parse_integer(trim(replace_all(line.substr(13), "kB", ""))).value_or(0);
  // A container may have less than its machine.
  const auto limit = read_text("/sys/fs/cgroup/memory.max"), used = read_text("/sys/fs/cgroup/memory.current");
  if (limit && used) {
    const auto most = parse_integer(trim(*limit)), now = parse_integer(trim(*used));
    if (most && now) least = std::min(least, *most - *now);
  }
  return least;
}

Result<LargeOutcome> run_large(const Subject& subject, const RepeatingCall& call, const kernel::TypeBinding& types,
                               const device::CompiledSet& kernels, device::Device& device, std::uint64_t seed) {
  LargeOutcome outcome;
  KW_TRY(RepeatingTrial trial, RepeatingTrial::make(subject, call, types, seed));
  for (const kernel::Pass& pass : subject.manifest.passes) {
    device::Arena arena;
    KW_TRY(kernel::Facts facts, trial.place(pass, device.machine(), arena));
    KW_CHECK(arena.allocate());
    facts.tensors = arena.tensors();
    trial.fill(pass, facts, arena);
    const auto program = device.prepare(pass, kernels, facts);
    if (!program && program.error().kind == ErrorKind::GateFailed) {
      outcome.findings.push_back({Gate::Builds, program.error().message});
      break;
    }
    if (!program) {
      outcome.refused = program.error().message;
      break;
    }
    for (const device::Call& one : program->calls)
      if (const auto* kernel = std::get_if<device::KernelCall>(&one)) outcome.called.insert(kernel->kernel);
    device::RunOptions options;
    options.from_outside = subject.from_outside;
    KW_TRY(const device::RunOutcome ran, device.run({*program}, arena, options));
    if (ran.fault) {
      outcome.findings.push_back(finding_of(*ran.fault, pass.name));
      break;
    }
    if (std::optional<Finding> finding = trial.compare(pass, facts, arena)) {
      outcome.findings.push_back(std::move(*finding));
      break;
    }
    trial.carry(pass, facts, arena);
  }
  outcome.elements = trial.elements();
  return outcome;
}

}  // namespace kw::verify
