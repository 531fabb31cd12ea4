#include "device/cpu/executor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
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
