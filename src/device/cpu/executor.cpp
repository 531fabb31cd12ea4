#include "device/cpu/executor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "device/cpu/settings.h"
#include "device/emulate/run.h"

namespace kw::device::cpu {
namespace {

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
  emulate::Attach attach = nullptr;   // of an emulated kernel
  const int* most_threads = nullptr;  // that it may be launched with, where it says so
  ReadSettings settings = nullptr;    // of another
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

  template <class Symbol>
  Symbol find_if_there(const std::string& library, const std::string& symbol) {
    std::string ignored;
    return find<Symbol>(library, symbol, ignored);
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
    if (ready.emulation) {
      out.most_threads =
          libraries.find_if_there<const int*>(kernel.library, emulate::most_threads_symbol(kernel.symbol));
    } else {
      out.settings = libraries.find_if_there<ReadSettings>(kernel.library, kSettingsSymbol);
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

struct Part {
  std::byte* memory;
  std::uint64_t count;
  const FillCall* of;
};

void* fill_part(void* argument) {
  const auto& [memory, count, of] = *static_cast<const Part*>(argument);
  if (of->element_bytes == 1) fill_elements<std::uint8_t>(memory, count, of->pattern);
  if (of->element_bytes == 2) fill_elements<std::uint16_t>(memory, count, of->pattern);
  if (of->element_bytes == 4) fill_elements<std::uint32_t>(memory, count, of->pattern);
  if (of->element_bytes == 8) fill_elements<std::uint64_t>(memory, count, of->pattern);
  return nullptr;
}

// As many threads as a kernel has; one alone would take longer for a large buffer than they all do to compute it.
std::size_t fillers(const FillCall& fill) {
  constexpr std::uint64_t kBytesOfEach = 4 << 20, kMost = 16;
  const char* threads = std::getenv("OMP_NUM_THREADS");
  const std::uint64_t there = threads != nullptr ? std::strtoull(threads, nullptr, 10) : 1;
  const std::uint64_t bytes = fill.count * static_cast<std::uint64_t>(fill.element_bytes);
  return std::max<std::uint64_t>(1, std::min({there, bytes / kBytesOfEach, kMost}));
}

void run_fill(const FillCall& fill, const Mapping& mapping) {
  const std::size_t count = fillers(fill);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t first = fill.count * i / count, end = fill.count * (i + 1) / count;
    const std::uint64_t offset = first * static_cast<std::uint64_t>(fill.element_bytes);
    parts.push_back({mapping.at(fill.offset) + offset, end - first, &fill});
  }
  pthread_attr_t little;
  ::pthread_attr_init(&little);
  ::pthread_attr_setstacksize(&little, std::size_t{128} << 10);  // counts as memory of the kernel
  std::vector<pthread_t> started;
  for (std::size_t i = 1; i < count; ++i)
    if (pthread_t thread{}; ::pthread_create(&thread, &little, fill_part, &parts[i]) == 0)
      started.push_back(thread);
    else
      fill_part(&parts[i]);
  ::pthread_attr_destroy(&little);
  fill_part(&parts[0]);
  for (const pthread_t thread : started) ::pthread_join(thread, nullptr);
}

void call_shim(const void* ready) {
  const auto& call = *static_cast<const ReadyCall*>(ready);
  call.shim(call.slots.data());
}

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

class CpuExecutor final : public Executor {
 public:
  void prepare(const Request& request, const Mapping& mapping, Answer& answer) override {
    mapping_ = &mapping;
    programs_.clear();
    before_ = {};
    for (const Program& program : request.programs)
      programs_.push_back(ready(program, mapping, libraries_, answer.error));
    if (request.timing.before) before_ = ready(*request.timing.before, mapping, libraries_, answer.error);
  }

  void run(int program, Answer& answer) override {
    run_calls(programs_[static_cast<std::size_t>(program)], program, answer, true);
  }
  void lead_in(Answer& answer) override { run_calls(before_, kBefore, answer, false); }

  std::int64_t time(int program, int calls, Answer& answer) override {
    const ReadyProgram& ready = programs_[static_cast<std::size_t>(program)];
    const std::int64_t begin = now();
    for (int i = 0; i < calls && answer.ok(); ++i) run_calls(ready, program, answer, false);
    return now() - begin;
  }

  void finish(const Request&, const Mapping&, Answer&) override {}  // kernels wrote to the arena itself

 private:
  // `watched`: what a call changes beside memory is a finding.
  void run_calls(const ReadyProgram& program, int index, Answer& answer, bool watched) const {
    situation.program = index;
    std::optional<emulate::Finding> finding;
    std::size_t i = 0;
    if (program.emulation) program.emulation->begin();
    for (; i < program.calls.size() && !finding; ++i) {
      situation.call = static_cast<int>(i);
      const ReadyCall& call = program.calls[i];
      if (call.attach != nullptr) {
        finding = too_many_threads(call);
        if (!finding) finding = program.emulation->launch(call.kernel, call.attach, call_shim, &call);
        if (finding) break;
      } else if (call.shim != nullptr) {
        finding = watched && call.settings != nullptr ? run_watched(call) : run_plainly(call);
        if (finding) break;
      } else {
        run_fill(call.fill, *mapping_);
        if (program.emulation) program.emulation->filled(call.fill);
      }
    }
    if (program.emulation && !finding) finding = program.emulation->end();
    situation.program = -1;
    situation.call = -1;
    if (!finding) return;
    answer.wrong = finding->name + ": " + finding->words;
    answer.program = index;
    answer.call = static_cast<int>(i);  // as many as there are: at the end
  }

  static std::optional<emulate::Finding> too_many_threads(const ReadyCall& call) {
    const auto [x, y, z] = call.kernel.launch->block;
    if (call.most_threads == nullptr || x * y * z <= *call.most_threads) return std::nullopt;
    return emulate::Finding{"too many threads", fmt::format("a launch of {}, where KW_KERNEL gives it at most {}",
                                                            x * y * z, *call.most_threads)};
  }

  static std::optional<emulate::Finding> run_plainly(const ReadyCall& call) {
    call.shim(call.slots.data());
    return std::nullopt;
  }

  static std::optional<emulate::Finding> run_watched(const ReadyCall& call) {
    Settings before{}, after{};
    call.settings(before.data());
    call.shim(call.slots.data());
    call.settings(after.data());
    const std::string changed = difference(before, after);
    if (changed.empty()) return std::nullopt;
    return emulate::Finding{"settings left changed", changed};
  }

  Libraries libraries_;
  const Mapping* mapping_ = nullptr;
  std::vector<ReadyProgram> programs_;
  ReadyProgram before_;
};

}  // namespace

std::unique_ptr<Executor> make_executor() { return std::make_unique<CpuExecutor>(); }

}  // namespace kw::device::cpu
