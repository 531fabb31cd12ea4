#include "device/worker.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>

#include <cstring>

#include "base/text.h"
#include "device/request.h"
#include "device/worker_main.h"

namespace kw::device {
namespace {

constexpr std::size_t kMostOutput = 64 << 10;
constexpr std::chrono::seconds kEnd{30};
constexpr std::chrono::milliseconds kGrace{2000};  // for the worker's own clock to end a run first

int usable_cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

Request request_for(const std::vector<Program>& programs, const Arena& arena, const RunOptions& options,
                    const Limits& limits) {
  Request request;
  request.arena_bytes = arena.size();
  for (const Arena::Region& region : arena.regions())
    request.ranges.push_back({region.first_page, region.end_page, region.access == Arena::Access::Write,
                              region.at_start, region.offset, region.bytes});
  request.arena = arena.identity();
  if (options.gpu) {
    request.gpu = options.gpu->ordinal;
    request.driver = options.gpu->driver;
    request.exact = options.gpu->exact;
  }
  request.programs = programs;
  request.last = options.last;
  request.from_outside = options.from_outside;
  request.timed = options.timing.has_value();
  if (options.timing) request.timing = *options.timing;
  // Each thread of a team has a stack of its own, which counts as memory that a kernel has allocated.
  constexpr std::uint64_t kStack = std::uint64_t{10} << 20;
  request.time = limits.time;
  request.memory = limits.memory + kStack * static_cast<std::uint64_t>(limits.threads);
  // Should the engine itself die, nothing stops a kernel but this.
  const auto seconds = static_cast<std::uint64_t>(limits.time.count() / 1000 + 10);
  request.cpu_seconds = seconds * static_cast<std::uint64_t>(limits.threads);
  return request;
}

std::string kernel_name(const std::vector<Program>& programs, const Answer& answer) {
  if (answer.program < 0 || answer.call < 0 || static_cast<std::size_t>(answer.program) >= programs.size()) return {};
  const std::vector<Call>& calls = programs[static_cast<std::size_t>(answer.program)].calls;
  if (static_cast<std::size_t>(answer.call) >= calls.size()) return {};
  const Call& call = calls[static_cast<std::size_t>(answer.call)];
  if (const auto* kernel = std::get_if<KernelCall>(&call)) return kernel->kernel;
  return "fill of " + std::get<FillCall>(call).buffer;
}

std::string described(const std::string& kernel) { return kernel.empty() ? "the kernel" : kernel; }

Fault out_of_time(const std::string& kernel, const Limits& limits) {
  return {
      Fault::Kind::OutOfTime, kernel,
      fmt::format("{} did not end within {:g} s", described(kernel), static_cast<double>(limits.time.count()) / 1000)};
}

Fault fault_of_signal(const Answer& answer, const std::string& kernel, const Arena& arena, const Limits& limits,
                      const std::string& output) {
  const int signal = *answer.signal;
  if (signal == 0) return {Fault::Kind::Exited, kernel, described(kernel) + " ended its process"};
  if (signal == SIGALRM || signal == SIGXCPU) return out_of_time(kernel, limits);
  Fault fault{Fault::Kind::Crashed, kernel, {}};
  const std::string name = described(kernel);
  if (answer.in_arena) {
    const Arena::Place place = arena.place_of(answer.address);
    const bool inside = place.region != nullptr && place.inside();
    fault.kind = inside ? Fault::Kind::WroteToInput : Fault::Kind::Strayed;
    const char* verb = answer.write ? "wrote to" : "read";
    fault.message = inside ? fmt::format("{} wrote to {}, which it may only read", name, place.text())
                           : fmt::format("{} {} {}", name, verb, place.text());
    return fault;
  }
  if (signal == SIGABRT && output.find("bad_alloc") != std::string::npos) {
    fault.kind = Fault::Kind::OutOfMemory;
    fault.message = name + " asked for more memory than it may have";
    return fault;
  }
  fault.message = fmt::format("{} crashed: {}", name, ::strsignal(signal));
  for (const std::string& line : split_lines(output))  // a sanitizer's own word
    if (signal == SIGABRT && (line.find("runtime error: ") != std::string::npos ||
                              line.find("ERROR: AddressSanitizer: ") != std::string::npos)) {
      fault.message = fmt::format("{}: {}", name, trim(line));
      return fault;
    }
  if (signal == SIGSEGV || signal == SIGBUS) {
    fault.message += answer.address < 65536
                         ? fmt::format(" at address {:#x} (a null pointer: an allocation that failed?)", answer.address)
                         : fmt::format(" at address {:#x}, outside all buffers", answer.address);
  }
  return fault;
}

Fault fault_of_gpu(const Answer::GpuFault& gpu, const std::string& kernel) {
  constexpr int kIllegalAddress = 700, kOtherAddressSpace = 717, kFirstOfRunning = 700, kOutOfResources = 701;
  const std::string name = described(kernel);
  if (gpu.code == kIllegalAddress || gpu.code == kOtherAddressSpace)
    return {Fault::Kind::Strayed, kernel, name + " touched memory outside all buffers: " + gpu.text};
  if (gpu.code < kFirstOfRunning || gpu.code == kOutOfResources)
    return {Fault::Kind::NotLoadable, kernel, name + " cannot be launched: " + gpu.text};
  return {Fault::Kind::Crashed, kernel, name + " crashed: " + gpu.text};
}

// A byte of a buffer that is only read, or of what lies around a buffer.
Fault fault_of_stray(const Arena::Place& place) {
  if (place.region == nullptr || !place.inside()) return {Fault::Kind::Strayed, {}, "the kernel wrote " + place.text()};
  return {Fault::Kind::WroteToInput, {}, fmt::format("the kernel wrote to {}, which it may only read", place.text())};
}

// How long to wait for an answer: beyond the limit of the run itself, a GPU needs time for its context and for copies.
std::chrono::milliseconds patience(const Limits& limits, const Arena& arena, const RunOptions& options) {
  if (!options.gpu) return limits.time + kGrace;
  constexpr std::chrono::seconds kContext{60};
  return limits.time + kGrace + kContext + std::chrono::milliseconds(arena.size() >> 18);  // 256 MB a second
}

// From how the process ended, where the worker itself could say nothing.
Fault fault_of_end(const Finished& end, const Limits& limits) {
  if (end.timed_out) return out_of_time({}, limits);
  if (end.signal != 0)
    return {Fault::Kind::Crashed, {}, fmt::format("the kernel crashed: {}", ::strsignal(end.signal))};
  return {Fault::Kind::Exited, {}, fmt::format("the kernel ended its process with code {}", end.exit_code)};
}

}  // namespace

Worker::Worker(Limits limits, std::string program) : limits_(limits), program_(std::move(program)) {
  if (limits_.threads <= 0) limits_.threads = usable_cores();
}

Result<RunOutcome> Worker::run(const std::vector<Program>& programs, const Arena& arena, const RunOptions& options) {
  KW_ASSERT(arena.descriptor() >= 0, "the arena is allocated");
  const bool starts = !child_;
  if (starts) {
    Command command;
    command.argv = wrapper_;
    if (command_.empty())
      command.argv.insert(command.argv.end(), {program_, kWorkerCommand});
    else
      command.argv.insert(command.argv.end(), command_.begin(), command_.end());
    command.environment = {{"OMP_NUM_THREADS", std::to_string(limits_.threads)}, {"OMP_DYNAMIC", "false"}};
    command.environment.insert(command.environment.end(), environment_.begin(), environment_.end());
    KW_TRY(child_, Child::start(command));
  }
  const std::size_t said_before = child_->errors().size();
  const auto start = std::chrono::steady_clock::now();
  RunOutcome outcome;
  std::optional<Answer> answer;
  const int descriptors[] = {arena.descriptor()};
  if (child_->write_line(to_line(request_for(programs, arena, options, limits_)), descriptors)) {
    if (const auto line =
            child_->read_line(patience(limits_, arena, options) + (starts ? start_ : std::chrono::milliseconds(0))))
      answer = answer_from_line(*line);
    if (answer && answer->signal) static_cast<void>(child_->read_line(std::chrono::seconds(1)));  // until it has ended
  }
  outcome.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.output = child_->errors().substr(said_before);
  if (outcome.output.size() > kMostOutput) outcome.output.resize(kMostOutput);

  if (!answer) {
    child_->kill();
    outcome.fault = fault_of_end(child_->end(), limits_);
  } else if (answer->signal) {
    outcome.fault = fault_of_signal(*answer, kernel_name(programs, *answer), arena, limits_, outcome.output);
  } else if (!answer->wrong.empty()) {
    const std::string kernel = kernel_name(programs, *answer);
    outcome.fault = {Fault::Kind::Seen, kernel, (kernel.empty() ? "" : kernel + ": ") + answer->wrong};
  } else if (!answer->error.empty()) {
    outcome.fault = {Fault::Kind::NotLoadable, {}, "the kernel does not load: " + answer->error};
  } else if (!answer->unfit.empty()) {
    child_.reset();
    return missing_tool(answer->unfit, "use smaller shapes, or a GPU with nothing else on it");
  } else if (answer->gpu_fault) {
    outcome.fault = fault_of_gpu(*answer->gpu_fault, kernel_name(programs, *answer));
  } else if (answer->stray) {
    outcome.fault = fault_of_stray(arena.place_of(*answer->stray));
  } else if (answer->nanoseconds.size() != programs.size()) {
    outcome.fault = {Fault::Kind::Exited, {}, "the kernel answered in place of its worker"};
  } else {
    for (const auto& samples : answer->nanoseconds) {
      auto& seconds = outcome.seconds.emplace_back();
      for (const std::int64_t sample : samples) seconds.push_back(static_cast<double>(sample) * 1e-9);
    }
    if (const auto stray = arena.stray())
      outcome.fault = {Fault::Kind::Strayed, {}, "the kernel wrote " + stray->text()};
  }
  if (options.last && child_) static_cast<void>(child_->read_line(kEnd));  // until it, and who watches it, have ended
  if (outcome.fault || options.from_outside || options.last) child_.reset();
  return outcome;
}

}  // namespace kw::device
