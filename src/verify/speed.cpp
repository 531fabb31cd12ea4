#include "verify/speed.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "kernel/lifetime.h"
#include "verify/elements.h"
#include "verify/repeating.h"

namespace kw::verify {
namespace {

// Ordinary values: positive, so that no root or logarithm of them is undefined, and not all alike.
void fill(device::Arena& arena, const std::string& name, const kernel::Tensor& tensor) {
  const std::span<std::byte> bytes = arena.bytes(name);
  const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
  constexpr std::size_t kPattern = 4096;  // elements; the rest repeats them
  const std::size_t count = bytes.size() / size, first = std::min(count, kPattern);
  for (std::size_t i = 0; i < first; ++i) {
    const double unit = static_cast<double>(Hash64().add(static_cast<std::uint64_t>(i)).value() % 1024) / 1024;
    write_element(bytes.data() + i * size, tensor.dtype, ir::is_floating(tensor.dtype) ? 0.5 + unit : 1);
  }
  for (std::size_t i = first; i < count; i += first) {
    const std::size_t n = std::min(first, count - i) * size;
    std::copy_n(bytes.data(), n, bytes.data() + i * size);
  }
}

const ir::Graph* graph_of(const Subject& subject, const std::string& pass) {
  if (pass == "forward") return subject.approved_forward ? &*subject.approved_forward : &subject.forward;
  return subject.approved_backward ? &*subject.approved_backward : nullptr;
}

// What a call is given that the oracle does not know.
Result<kernel::Facts> place_anything(const Subject& subject, const kernel::Pass& pass, const kernel::TypeBinding& types,
                                     const measure::Sizes& sizes, const kernel::Machine& machine,
                                     device::Arena& arena) {
  kernel::Facts facts;
  facts.sizes = sizes;
  facts.machine = machine;
  for (const kernel::Scalar& scalar : subject.manifest.scalars) {
    KW_TRY(facts.scalars[scalar.name], default_of(subject, scalar));
  }
  for (const kernel::Buffer& buffer : pass.buffers) {
    KW_TRY(const kernel::Tensor tensor, kernel::describe(buffer, types, facts));
    facts.tensors[buffer.name] = tensor;
    const bool read_only = buffer.role == kernel::Role::Input;
    if (!buffer.alias.empty()) {
      KW_CHECK(arena.add_alias(buffer.name, buffer.alias));
      continue;
    }
    KW_CHECK(arena.add(buffer.name, tensor, read_only ? device::Arena::Access::Read : device::Arena::Access::Write));
  }
  return facts;
}

// Overwrites all that a pass writes: what a sample does not write, or compute, is not what an earlier one left there.
std::vector<device::Call> poison(const kernel::Pass& pass, const device::Arena& arena) {
  std::vector<device::Call> calls;
  for (const device::Arena::Region& region : arena.regions()) {
    const kernel::Buffer* buffer = pass.find(region.name);
    if (buffer == nullptr || buffer->role == kernel::Role::Input) continue;
    const int size = ir::info(region.tensor.dtype).bytes;
    calls.push_back(device::FillCall{region.name, region.offset, region.bytes / static_cast<std::uint64_t>(size), size,
                                     ~std::uint64_t{0} >> (64 - 8 * size)});
  }
  return calls;
}

std::optional<Finding> as_timed(std::optional<Finding> finding) {
  if (finding) finding->message = "as it was timed, " + finding->message;
  return finding;
}

// The passes of a subject, timed one after the other.
class Timer {
 public:
  Timer(const Subject& subject, device::Device& device, const device::CompiledSet& kernels, const SpeedOptions& options)
      : subject_(subject), device_(device), kernels_(kernels), options_(options) {}

  Result<Speeds> run(measure::Sizes sizes) {
    for (const kernel::Pass& pass : subject_.manifest.passes)
      for (const kernel::Buffer& buffer : pass.buffers)
        if (!buffer.alias.empty() && pass.find(buffer.alias)->role == kernel::Role::Input)
          return bad_input("a pass that overwrites its input is not timed");
    KW_TRY(const measure::Plain plain, measure::Plain::make(device_));
    KW_TRY(const measure::Plain::Rates rates, plain.rates());
    KW_CHECK(shrink(sizes));
    Speeds speeds;
    know_answers(sizes, speeds.unknown);
    for (const kernel::Pass& pass : subject_.manifest.passes) {
      const ir::Graph* graph = graph_of(subject_, pass.name);
      if (!graph) continue;
      KW_TRY(const measure::Work work, measure::work_of(*graph, sizes, kernels_.types));
      Result<PassSpeed> speed = speed_of(plain, rates, pass, sizes, work, speeds.finding);
      if (!speed && speed.error().kind == ErrorKind::GateFailed)
        speeds.finding = as_timed(Finding{Gate::Runs, pass.name + ": " + speed.error().message});
      if (speeds.finding) break;
      if (!speed) return Failure(speed.error());
      speeds.passes.push_back(*std::move(speed));
    }
    if (trials_.empty()) return speeds;
    speeds.elements = trials_.back().elements();
    std::vector<std::string> left;
    for (const ir::Output& output : subject_.math().outputs)
      if (!trials_.back().compared().contains(output.name)) left.push_back(output.name);
    speeds.unknown = join(left, ", ");
    return speeds;
  }

 private:
  // Until no pass moves more than it may: along the first size that the passes share, rows or a batch, which no row's
  // length depends on.
  Status shrink(measure::Sizes& sizes) const {
    for (const kernel::Pass& pass : subject_.manifest.passes) {
      const ir::Graph* graph = graph_of(subject_, pass.name);
      if (!graph || subject_.manifest.sizes.empty()) continue;
      const auto first = sizes.find(subject_.manifest.sizes.front());
      while (first != sizes.end() && first->second > 1) {
        KW_TRY(const measure::Work work, measure::work_of(*graph, sizes, kernels_.types));
        if (work.bytes() <= options_.most_bytes) break;
        first->second /= 2;
      }
    }
    return {};
  }

  // Two sets of inputs: one is timed, then both are compared.
  void know_answers(const measure::Sizes& sizes, std::string& unknown) {
    if (subject_.manifest.passes.size() > 1 && !subject_.joint) {
      unknown = "nothing is known of the gradients";
      return;
    }
    const std::optional<RepeatingCall> call = repeating_call(subject_, kernels_.types, sizes);
    if (!call) unknown = "it repeats along no axis that is long enough";
    for (int i = 0; call && i < 2; ++i) {
      auto trial = RepeatingTrial::make(subject_, *call, kernels_.types, options_.seed + static_cast<std::uint64_t>(i));
      if (!trial) {
        unknown = trial.error().message;
        trials_.clear();
        return;
      }
      trials_.push_back(*std::move(trial));
    }
  }

  Result<PassSpeed> speed_of(const measure::Plain& plain, const measure::Plain::Rates& rates, const kernel::Pass& pass,
                             const measure::Sizes& sizes, const measure::Work& work, std::optional<Finding>& finding) {
    device::Arena arena;
    KW_TRY(kernel::Facts facts, trials_.empty()
                                    ? place_anything(subject_, pass, kernels_.types, sizes, device_.machine(), arena)
                                    : trials_[0].place(pass, device_.machine(), arena));
    KW_CHECK(plain.add_buffers(arena, work));
    KW_CHECK(arena.allocate());
    const auto placed = arena.tensors();
    for (const kernel::Buffer& buffer : pass.buffers) facts.tensors[buffer.name] = placed.at(buffer.name);
    if (!trials_.empty()) trials_[0].fill(pass, facts, arena);
    for (const kernel::Buffer& buffer : pass.buffers)
      if (trials_.empty() && buffer.role == kernel::Role::Input) fill(arena, buffer.name, facts.tensors[buffer.name]);
    KW_TRY(const device::Program program, device_.prepare(pass, kernels_, facts));
    PassSpeed out{pass.name, sizes, {}};
    KW_TRY(const kernel::MemoryUse memory, kernel::memory_use(pass, kernels_.types, facts));
    out.bytes = memory.peak();
    measure::ShareOptions how{options_.stop, {}, subject_.from_outside};
    how.stop.seed = Hash64().add(options_.seed).add(pass.name).value();
    if (subject_.from_outside) how.before = poison(pass, arena);
    KW_TRY(out.share, measure::share_of(device_, plain, rates, program, arena, work, how));
    KW_TRY(device::Timing timing, measure::evicted(plain, arena, poison(pass, arena)));
    if (subject_.from_outside) {
      // Nothing ran after its last sample.
      if (!trials_.empty()) finding = as_timed(trials_[0].compare(pass, facts, arena));
      measure::Estimate& said = out.share.kernel.time;
      const auto confirmed = measure::confirmed(device_, program, how.before, arena, said, how.stop.seed);
      if (!confirmed && confirmed.error().kind != ErrorKind::GateFailed) return Failure(confirmed.error());
      if (confirmed)
        said = *confirmed;
      else if (!finding)
        finding = as_timed(Finding{Gate::Runs, pass.name + ": " + confirmed.error().message});
      // What one clock confirmed of another it has seen do its work, as the samples have.
      if (!finding && !trials_.empty()) finding = as_timed(trials_[0].compare(pass, facts, arena));
    }
    for (RepeatingTrial& trial : trials_) {
      if (finding) break;
      KW_TRY(finding, answer(trial, pass, facts, program, timing, arena));
    }
    return out;
  }

  Result<std::optional<Finding>> answer(RepeatingTrial& trial, const kernel::Pass& pass, const kernel::Facts& facts,
                                        const device::Program& program, const device::Timing& timing,
                                        device::Arena& arena) const {
    trial.fill(pass, facts, arena);
    device::RunOptions options;
    options.from_outside = subject_.from_outside;
    // How many there are is drawn, so that no kernel can know which is the last.
    const std::uint64_t drawn =
        Hash64().add(options_.seed).add(pass.name).add(static_cast<std::uint64_t>(&trial - trials_.data())).value();
    options.timing = timing;
    options.timing->samples = 2 + static_cast<int>(drawn % 8);
    options.timing->budget = options_.stop.budget;
    KW_TRY(const device::RunOutcome ran, device_.run({program}, arena, options));
    if (ran.fault) return as_timed(finding_of(*ran.fault, pass.name));
    std::optional<Finding> finding = as_timed(trial.compare(pass, facts, arena));
    trial.carry(pass, facts, arena);
    return finding;
  }

  const Subject& subject_;
  device::Device& device_;
  const device::CompiledSet& kernels_;
  const SpeedOptions& options_;
  std::vector<RepeatingTrial> trials_;  // none where nothing repeats
};

}  // namespace

Result<Speeds> speeds_of(const Subject& subject, device::Device& device, const device::CompiledSet& kernels,
                         measure::Sizes sizes, const SpeedOptions& options) {
  return Timer(subject, device, kernels, options).run(std::move(sizes));
}

void add(const Speeds& speeds, Report& report) {
  for (const PassSpeed& speed : speeds.passes) report.speeds.push_back(row_of(speed));
  if (speeds.finding) return fail(report, *speeds.finding, "");
  if (speeds.elements == 0 && speeds.unknown.empty()) return;
  report.verdicts[static_cast<std::size_t>(Gate::Error)].line +=
      speeds.elements == 0 ? "; not compared as it was timed: " + speeds.unknown
                           : fmt::format("; {} as it was timed{}", rounded_count(speeds.elements),
                                         speeds.unknown.empty() ? "" : ", where nothing is known of " + speeds.unknown);
}

SpeedRow row_of(const PassSpeed& speed) {
  const measure::Share& s = speed.share;
  SpeedRow row{speed.pass, "", s.memory_bound() ? "memory" : "arithmetic"};
  for (const auto& [name, size] : speed.sizes)
    row.sizes += fmt::format("{}{}={}", row.sizes.empty() ? "" : " ", name, size);
  row.milliseconds = 1e3 * s.kernel.time.median;
  row.width = s.kernel.time.width();
  row.limit_milliseconds = 1e3 * s.limit();
  row.share = s.share();
  row.bytes = speed.bytes;
  return row;
}

}  // namespace kw::verify
