#include "device/worker_main.h"

#include <dlfcn.h>
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
#include <map>
#include <memory>
#include <string>

#include "device/channel.h"
#include "device/cuda/nvrtc_main.h"
#include "device/emulate/run.h"
#include "device/request.h"

namespace kw::device {
namespace {

constexpr rlim_t kMostOutput = rlim_t{16} << 20;

// What a signal handler can see. The numbers change as programs run.
struct Situation {
  int channel = -1;
  std::byte* arena = nullptr;
  std::uint64_t arena_bytes = 0;
  volatile int program = -1;
  volatile int call = -1;
};
Situation situation;

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

// The arena as kernels see it: fences cannot be touched, inputs cannot be written.
class Mapping {
 public:
  Mapping(int descriptor, const Request& request) : bytes_(request.arena_bytes) {
    void* memory = ::mmap(nullptr, bytes_, PROT_NONE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    ::close(descriptor);
    if (memory == MAP_FAILED) return;
    memory_ = static_cast<std::byte*>(memory);
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    for (const Request::Range& range : request.ranges) {
      const std::uint64_t first = range.first / page * page, end = (range.end + page - 1) / page * page;
      ::mprotect(memory_ + first, end - first, PROT_READ | (range.writable ? PROT_WRITE : 0));
    }
    situation.arena = memory_;
    situation.arena_bytes = bytes_;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    situation.arena = nullptr;
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
  }
  std::byte* at(std::uint64_t offset) const { return memory_ + offset; }
  bool ok() const { return memory_ != nullptr; }

 private:
  std::byte* memory_ = nullptr;
  std::uint64_t bytes_;
};

// A value as a shim takes it.
union RawSlot {
  void* pointer;
  std::int64_t whole;
  double real;
};
static_assert(sizeof(RawSlot) == 8);

using Shim = void (*)(const RawSlot*);

struct ReadyCall {
  Shim shim = nullptr;
  std::vector<RawSlot> slots;
  FillCall fill;
  emulate::Attach attach = nullptr;  // of an emulated kernel
  KernelCall kernel;
};
struct ReadyProgram {
  std::vector<ReadyCall> calls;
  std::unique_ptr<emulate::Run> emulation;
};

class Libraries {
 public:
  // Nullptr, and why, if there is no such symbol.
  template <class Function>
  Function find(const std::string& library, const std::string& symbol, std::string& error) {
    void*& handle = handles_[library];
    if (handle == nullptr) handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* found = handle != nullptr ? ::dlsym(handle, symbol.c_str()) : nullptr;
    if (found == nullptr) {
      const char* why = ::dlerror();
      error = why != nullptr ? why : "the symbol is null";
    }
    return reinterpret_cast<Function>(found);
  }

 private:
  std::map<std::string, void*> handles_;
};

ReadyProgram ready(const Program& program, const Mapping& mapping, Libraries& libraries, std::string& error) {
  ReadyProgram ready;
  if (program.emulation) ready.emulation = std::make_unique<emulate::Run>(*program.emulation, mapping.at(0));
  for (const Call& call : program.calls) {
    ReadyCall& out = ready.calls.emplace_back();
    if (const auto* fill = std::get_if<FillCall>(&call)) {
      out.fill = *fill;
      continue;
    }
    const auto& kernel = std::get<KernelCall>(call);
    out.shim = libraries.find<Shim>(kernel.library, kernel.symbol, error);
    if (out.shim == nullptr) return {};
    if (ready.emulation) {
      out.attach = libraries.find<emulate::Attach>(kernel.library, emulate::kAttachSymbol, error);
      if (out.attach == nullptr) return {};
      out.kernel = kernel;
    }
    for (const Slot& slot : kernel.slots) {
      RawSlot raw{};
      if (const auto* buffer = std::get_if<BufferSlot>(&slot)) raw.pointer = mapping.at(buffer->offset);
      if (const auto* whole = std::get_if<std::int64_t>(&slot)) raw.whole = *whole;
      if (const auto* real = std::get_if<double>(&slot)) raw.real = *real;
      out.slots.push_back(raw);
    }
  }
  return ready;
}

template <class Element>
void fill_elements(std::byte* memory, std::uint64_t count, std::uint64_t pattern) {
  auto* elements = reinterpret_cast<Element*>(memory);
  std::fill(elements, elements + count, static_cast<Element>(pattern));
}

void run_fill(const FillCall& fill, const Mapping& mapping) {
  std::byte* memory = mapping.at(fill.offset);
  if (fill.element_bytes == 1) fill_elements<std::uint8_t>(memory, fill.count, fill.pattern);
  if (fill.element_bytes == 2) fill_elements<std::uint16_t>(memory, fill.count, fill.pattern);
  if (fill.element_bytes == 4) fill_elements<std::uint32_t>(memory, fill.count, fill.pattern);
  if (fill.element_bytes == 8) fill_elements<std::uint64_t>(memory, fill.count, fill.pattern);
}

void call_shim(const void* ready) {
  const auto& call = *static_cast<const ReadyCall*>(ready);
  call.shim(call.slots.data());
}

// The call at which the emulation saw something wrong; calls.size(): at the end.
struct Wrong {
  int program = 0, call = 0;
  emulate::Finding finding;
};

std::optional<Wrong> run(const ReadyProgram& program, int index, const Mapping& mapping) {
  situation.program = index;
  std::optional<emulate::Finding> finding;
  std::size_t i = 0;
  if (program.emulation) program.emulation->begin();
  for (; i < program.calls.size() && !finding; ++i) {
    situation.call = static_cast<int>(i);
    const ReadyCall& call = program.calls[i];
    if (call.attach != nullptr) {
      finding = program.emulation->launch(call.kernel, call.attach, call_shim, &call);
      if (finding) break;
    } else if (call.shim != nullptr) {
      call.shim(call.slots.data());
    } else {
      run_fill(call.fill, mapping);
      if (program.emulation) program.emulation->filled(call.fill);
    }
  }
  if (program.emulation && !finding) finding = program.emulation->end();
  situation.program = -1;
  situation.call = -1;
  if (!finding) return std::nullopt;
  return Wrong{index, static_cast<int>(i), std::move(*finding)};
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

void set_soft_limit(int resource, std::uint64_t value) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void set_alarm(std::chrono::milliseconds time) {
  const itimerval timer{{0, 0}, {time.count() / 1000, time.count() % 1000 * 1000}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void limit_run(const Request& request) {
  set_soft_limit(RLIMIT_DATA, private_memory() + request.memory);
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  set_soft_limit(RLIMIT_CPU, static_cast<std::uint64_t>(used.tv_sec) + request.cpu_seconds);
  set_alarm(request.time);
}

Answer run_request(const Request& request, const Mapping& mapping, Libraries& libraries) {
  Answer answer;
  if (!mapping.ok()) {
    answer.error = "the shared memory cannot be mapped";
    return answer;
  }
  std::vector<ReadyProgram> programs;
  for (const Program& program : request.programs) programs.push_back(ready(program, mapping, libraries, answer.error));
  ReadyProgram before;
  if (request.timing.before) before = ready(*request.timing.before, mapping, libraries, answer.error);
  if (!answer.error.empty()) return answer;

  limit_run(request);
  const std::size_t count = programs.size();
  answer.nanoseconds.resize(count);
  for (auto& samples : answer.nanoseconds)
    samples.reserve(static_cast<std::size_t>(std::clamp(request.timing.samples, 0, 1 << 16)));
  std::optional<Wrong> wrong;
  const auto run_one = [&](const ReadyProgram& program, int index) {
    if (!wrong) wrong = run(program, index, mapping);
  };
  for (int i = 0; i < request.timing.warm_up; ++i)
    for (std::size_t p = 0; p < count; ++p) run_one(programs[p], static_cast<int>(p));
  const std::int64_t start = now(), budget = request.timing.budget.count() * 1'000'000;
  for (int i = 0; i < request.timing.samples; ++i) {
    if (budget > 0 && i > 0 && now() - start > budget) break;
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t p = i % 2 == 0 ? j : count - 1 - j;
      if (request.timing.before) run_one(before, -2);
      const std::int64_t begin = now();
      for (int k = 0; k < request.timing.calls_per_sample; ++k) run_one(programs[p], static_cast<int>(p));
      answer.nanoseconds[p].push_back((now() - begin) / std::max(request.timing.calls_per_sample, 1));
    }
  }
  if (wrong) {
    answer.wrong = wrong->finding.name + ": " + wrong->finding.words;
    answer.program = wrong->program;
    answer.call = wrong->call;
  }
  set_alarm(std::chrono::milliseconds(0));
  set_soft_limit(RLIMIT_DATA, RLIM_INFINITY);
  set_soft_limit(RLIMIT_CPU, RLIM_INFINITY);
  return answer;
}

int serve() {
  Channel channel;
  if (!channel.ok()) return 1;
  situation.channel = channel.descriptor();
  watch_signals();
  std::atexit(report_exit);
  set_soft_limit(RLIMIT_CORE, 0);
  set_soft_limit(RLIMIT_FSIZE, kMostOutput);
  Libraries libraries;
  std::string line;
  int descriptor = -1;
  while (channel.next(line, descriptor)) {
    const Request request = request_from_line(line);
    Answer answer;
    {
      const Mapping mapping(descriptor, request);
      answer = run_request(request, mapping, libraries);
    }
    if (!channel.send(to_line(answer))) return 1;
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
