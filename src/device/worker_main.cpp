#include "device/worker_main.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "device/channel.h"
#include "device/cpu/executor.h"
#include "device/cuda/executor.h"
#include "device/cuda/nvrtc_main.h"
#include "device/executor.h"
#include "device/request.h"

namespace kw::device {

Situation situation;

namespace {

constexpr rlim_t kMostOutput = rlim_t{16} << 20;

// Called in a signal handler: text by hand, nothing allocated.
struct HandText {
  std::array<char, 256> text;
  std::size_t size = 0;
  void add(const char* words) {
    while (*words != '\0' && size < text.size()) text[size++] = *words++;
  }
  void add(std::uint64_t number) {
    std::array<char, 20> digits;
    std::size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0 && size < text.size()) text[size++] = digits[--count];
  }
  void add_signed(int number) {
    if (number < 0) add("-");
    add(static_cast<std::uint64_t>(number < 0 ? -number : number));
  }
};

void report(int signal, std::uint64_t address, bool in_arena, bool write) {
  HandText line;
  line.add("{\"signal\":");
  line.add_signed(signal);
  line.add(",\"address\":");
  line.add(address);
  line.add(",\"in_arena\":");
  line.add_signed(in_arena);
  line.add(",\"write\":");
  line.add_signed(write);
  line.add(",\"program\":");
  line.add_signed(situation.program);
  line.add(",\"call\":");
  line.add_signed(situation.call);
  line.add("}\n");
  const ssize_t ignored = ::write(situation.channel, line.text.data(), line.size);
  static_cast<void>(ignored);
}

void report_exit() {
  if (situation.call >= 0) report(0, 0, false, false);
}

void report_signal(int signal, siginfo_t* info, void* context) {
  bool write = false;
#if defined(__x86_64__)
  write = (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;  // of a page fault: the access
#else
  static_cast<void>(context);
#endif
  const bool has_address = signal == SIGSEGV || signal == SIGBUS;
  auto address = has_address ? reinterpret_cast<std::uint64_t>(info->si_addr) : 0;
  const auto base = reinterpret_cast<std::uint64_t>(situation.arena);
  const bool in_arena = has_address && base != 0 && address >= base && address - base < situation.arena_bytes;
  if (in_arena) address -= base;
  report(signal, address, in_arena, write);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void watch_signals() {
  static std::array<char, 1 << 16> stack;  // a stack that has overflowed cannot hold the handler's own frame
  const stack_t alternative{stack.data(), 0, stack.size()};
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = report_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXCPU, SIGXFSZ})
    ::sigaction(signal, &action, nullptr);
}

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// Private writable memory of this process, in bytes.
std::uint64_t private_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmData:")) return std::strtoull(line.c_str() + 7, nullptr, 10) * 1024;
  return 0;
}

// A final limit cannot be raised again, by a kernel either.
void set_limit(int resource, std::uint64_t value, bool final = false) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
  if (final) limit.rlim_max = std::min(limit.rlim_max, limit.rlim_cur + 1);  // at the last second the system kills
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void set_alarm(std::chrono::milliseconds time) {
  const itimerval timer{{0, 0}, {time.count() / 1000, time.count() % 1000 * 1000}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void limit(const Request& request) {
  const bool final = request.from_outside;
  // A kernel on a GPU cannot allocate here, and its driver may.
  if (request.gpu < 0) set_limit(RLIMIT_DATA, private_memory() + request.memory, final);
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  set_limit(RLIMIT_CPU, static_cast<std::uint64_t>(used.tv_sec) + request.cpu_seconds, final);
  set_alarm(request.time);
}

void lift_limits() {
  set_alarm(std::chrono::milliseconds(0));
  set_limit(RLIMIT_DATA, RLIM_INFINITY);
  set_limit(RLIMIT_CPU, RLIM_INFINITY);
}

// Each program once, without a clock of the device's own: a fault is then known to be of one call.
void run_once(const Request& request, Executor& executor, Answer& answer) {
  for (int p = 0; p < static_cast<int>(request.programs.size()) && answer.ok(); ++p) {
    const std::int64_t begin = now();
    executor.run(p, answer);
    answer.nanoseconds.push_back({now() - begin});
  }
}

void run_timed(const Request& request, Executor& executor, Answer& answer) {
  const int count = static_cast<int>(request.programs.size());
  answer.nanoseconds.resize(request.programs.size());
  for (auto& samples : answer.nanoseconds)
    samples.reserve(static_cast<std::size_t>(std::clamp(request.timing.samples, 0, 1 << 16)));
  for (int i = 0; i < request.timing.warm_up; ++i)
    for (int p = 0; p < count && answer.ok(); ++p) executor.run(p, answer);
  const std::int64_t start = now(), budget = request.timing.budget.count() * 1'000'000;
  for (int i = 0; i < request.timing.samples; ++i) {
    if (budget > 0 && i > 0 && now() - start > budget) break;
    for (int j = 0; j < count; ++j) {
      const int p = i % 2 == 0 ? j : count - 1 - j;
      if (request.timing.before) executor.lead_in(answer);
      if (!answer.ok()) return;
      const int calls = std::max(request.timing.calls_per_sample, 1);
      const std::int64_t taken = executor.time(p, calls, answer);
      if (!answer.ok()) return;
      answer.nanoseconds[static_cast<std::size_t>(p)].push_back(taken / calls);
    }
  }
}

Answer run_request(const Request& request, const Mapping& mapping, Executor& executor) {
  Answer answer;
  if (!mapping.ok()) {
    answer.error = "the shared memory cannot be mapped";
    return answer;
  }
  if (request.gpu < 0) limit(request);  // what a library does as it is loaded is limited too
  executor.prepare(request, mapping, answer);
  if (answer.ok()) {
    limit(request);
    if (request.timed) {
      run_timed(request, executor, answer);
    } else {
      run_once(request, executor, answer);
    }
  }
  lift_limits();
  if (answer.ok()) executor.finish(request, mapping, answer);
  return answer;
}

int serve() {
  Channel channel;
  if (!channel.ok()) return 1;
  situation.channel = channel.descriptor();
  watch_signals();
  std::atexit(report_exit);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, kMostOutput);
  const std::unique_ptr<Executor> processor = cpu::make_executor(), gpu = cuda::make_executor();
  std::string line;
  int descriptor = -1;
  while (channel.next(line, descriptor)) {
    const Request request = request_from_line(line);
    Answer answer;
    {
      const Mapping mapping(descriptor, request);
      answer = run_request(request, mapping, request.gpu >= 0 ? *gpu : *processor);
    }
    if (!channel.send(to_line(answer))) return 1;
    if (request.last) break;
  }
  return 0;
}

}  // namespace

std::optional<int> worker_main(int argc, char** argv) {
  if (argc != 2) return std::nullopt;
  if (std::strcmp(argv[1], kWorkerCommand) == 0) return serve();
  if (std::strcmp(argv[1], cuda::kNvrtcCommand) == 0) return cuda::serve_nvrtc();
  return std::nullopt;
}

}  // namespace kw::device
