#include "device/cuda/executor.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/file.h"
#include "device/cuda/device_memory.h"
#include "device/cuda/driver.h"

namespace kw::device::cuda {
namespace {

struct ReadyCall {
  CUfunction function = nullptr;  // nullptr: a fill
  kernel::LaunchShape launch;
  std::vector<std::uint64_t> values;  // of the arguments, each in the lowest bytes
  std::vector<void*> parameters;      // where they are
  FillCall fill;
  CUdeviceptr to = 0;
};
using ReadyProgram = std::vector<ReadyCall>;

class GpuExecutor final : public Executor {
 public:
  void prepare(const Request& request, const Mapping& mapping, Answer& answer) override {
    programs_.clear();
    before_.clear();
    if (!open(request, answer)) return;
    if (resident_.empty() || ranges_ != request.ranges) {
      arena_ = 0;
      resident_.clear();
      ranges_ = request.ranges;
      for (const Request::Range& range : request.ranges) {
        const CUresult result = resident_.emplace_back(*driver_, request.gpu).allocate(range, request.exact);
        if (result != CUDA_SUCCESS) return lacks(result, "memory for the buffers", answer);
      }
    }
    if (!request.timing.resident || arena_ != request.arena) {
      for (const FencedRange& fenced : resident_)
        if (const CUresult result = fenced.copy_in(mapping); result != CUDA_SUCCESS)
          return lacks(result, "the buffers' content", answer);
      arena_ = request.arena;
    }
    for (const Program& program : request.programs) programs_.push_back(ready(program, answer));
    if (request.timing.before) before_ = ready(*request.timing.before, answer);
  }

  void run(int program, Answer& answer) override {
    for (std::size_t i = 0; i < size_of(program) && answer.ok(); ++i) {
      situation.program = program;
      situation.call = static_cast<int>(i);
      check(call(programs_[static_cast<std::size_t>(program)][i]), answer);
      if (answer.ok()) check(driver_->synchronize(), answer);  // so that a fault is this call's
    }
    rest();
  }

  void lead_in(Answer& answer) override {
    situation.program = kBefore;
    for (std::size_t i = 0; i < before_.size() && answer.ok(); ++i) {
      situation.call = static_cast<int>(i);
      check(call(before_[i]), answer);
    }
    rest();
  }

  // By the GPU's own clock, between two events in the stream. What is before it still runs while these are queued, so
  // that the host's part of a launch is not in the figure.
  std::int64_t time(int program, int calls, Answer& answer) override {
    situation.program = program;
    situation.call = -1;
    check(driver_->event_record(begin_, nullptr), answer);
    for (int k = 0; k < calls && answer.ok(); ++k)
      for (const ReadyCall& one : programs_[static_cast<std::size_t>(program)])
        if (answer.ok()) check(call(one), answer);
    if (answer.ok()) check(driver_->event_record(end_, nullptr), answer);
    if (answer.ok()) check(driver_->event_synchronize(end_), answer);
    float milliseconds = 0;
    if (answer.ok()) check(driver_->event_elapsed(&milliseconds, begin_, end_), answer);
    rest();
    return std::llround(static_cast<double>(milliseconds) * 1e6);
  }

  void finish(const Request& request, const Mapping& mapping, Answer& answer) override {
    check(driver_->synchronize(), answer);
    if (request.timing.resident) return;
    for (const FencedRange& fenced : resident_) {
      if (!answer.ok()) return;
      check(fenced.copy_out(mapping), answer);
      std::optional<std::uint64_t> stray;
      if (answer.ok()) check(fenced.find_stray(mapping, stray), answer);
      if (stray) answer.stray = stray;
    }
  }

 private:
  static void rest() {
    situation.program = -1;
    situation.call = -1;
  }
  std::size_t size_of(int program) const { return programs_[static_cast<std::size_t>(program)].size(); }

  // What this machine lacks is no kernel's fault.
  void lacks(CUresult result, const char* what, Answer& answer) {
    resident_.clear();
    answer.unfit = fmt::format("the GPU refuses {}: {}", what, driver_->text(result));
  }

  bool open(const Request& request, Answer& answer) {
    if (context_ != nullptr) return true;
    driver_ = Driver::open(request.driver);
    if (!driver_) {
      answer.unfit = "the CUDA driver cannot be opened";
      return false;
    }
    CUdevice device = 0;
    CUresult result = driver_->init(0);
    if (result == CUDA_SUCCESS) result = driver_->device_get(&device, request.gpu);
    if (result == CUDA_SUCCESS) result = driver_->context_retain(&context_, device);
    if (result == CUDA_SUCCESS) result = driver_->context_set(context_);
    if (result == CUDA_SUCCESS) result = driver_->event_create(&begin_, 0);
    if (result == CUDA_SUCCESS) result = driver_->event_create(&end_, 0);
    if (result == CUDA_SUCCESS) return true;
    context_ = nullptr;
    lacks(result, "a context", answer);
    return false;
  }

  void check(CUresult result, Answer& answer) const {
    if (result == CUDA_SUCCESS || !answer.ok()) return;
    answer.gpu_fault = Answer::GpuFault{static_cast<int>(result), driver_->text(result)};
    answer.program = situation.program;
    answer.call = situation.call;
  }

  CUfunction function_of(const KernelCall& kernel, Answer& answer) {
    CUmodule& module = modules_[kernel.library];
    if (module == nullptr) {
      const auto image = read_file(kernel.library);
      if (!image) {
        answer.error = image.error().message;
        return nullptr;
      }
      if (const CUresult result = driver_->module_load(&module, image->c_str()); result != CUDA_SUCCESS) {
        module = nullptr;
        answer.error = kernel.library + ": " + driver_->text(result);
        return nullptr;
      }
    }
    CUfunction function = nullptr;
    if (const CUresult result = driver_->module_function(&function, module, kernel.symbol.c_str());
        result != CUDA_SUCCESS)
      answer.error = kernel.symbol + ": " + driver_->text(result);
    return function;
  }

  CUdeviceptr address_of(std::uint64_t offset, Answer& answer) const {
    for (const FencedRange& fenced : resident_)
      if (const CUdeviceptr found = fenced.at(offset); found != 0) return found;
    answer.error = fmt::format("no buffer is at {}", offset);
    return 0;
  }

  ReadyProgram ready(const Program& program, Answer& answer) {
    ReadyProgram calls;
    for (const Call& call : program.calls) {
      if (!answer.ok()) return {};
      ReadyCall& out = calls.emplace_back();
      if (const auto* fill = std::get_if<FillCall>(&call)) {
        out.fill = *fill;
        out.to = address_of(fill->offset, answer);
        continue;
      }
      const auto& kernel = std::get<KernelCall>(call);
      if (!kernel.launch) {
        answer.error = kernel.symbol + " has no launch, and is no kernel of a GPU";
        return {};
      }
      out.launch = *kernel.launch;
      out.function = function_of(kernel, answer);
      if (out.function == nullptr) return {};
      for (const Slot& slot : kernel.slots) {
        if (const auto* buffer = std::get_if<BufferSlot>(&slot))
          out.values.push_back(address_of(buffer->offset, answer));
        if (const auto* bits = std::get_if<BitsSlot>(&slot)) out.values.push_back(bits->bits);
      }
      if (out.launch.shared_bytes == 0) continue;
      // More than 48 KiB must be asked for; more than this GPU has is refused here.
      check(driver_->function_set(out.function, kFunctionMaxDynamicShared, static_cast<int>(out.launch.shared_bytes)),
            answer);
      if (answer.gpu_fault)
        answer.gpu_fault->text =
            fmt::format("{} bytes of dynamic shared memory: {}", out.launch.shared_bytes, answer.gpu_fault->text);
    }
    for (ReadyCall& call : calls)
      for (std::uint64_t& value : call.values) call.parameters.push_back(&value);
    return calls;
  }

  CUresult call(const ReadyCall& one) const {
    if (one.function == nullptr) return fill(one);
    const auto unsigned_of = [](std::int64_t value) { return static_cast<unsigned>(value); };
    const auto& [grid, block, shared] = one.launch;
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return CUDA_SUCCESS;  // nothing to do, which a launch cannot say
    return driver_->launch(one.function, unsigned_of(grid[0]), unsigned_of(grid[1]), unsigned_of(grid[2]),
                           unsigned_of(block[0]), unsigned_of(block[1]), unsigned_of(block[2]), unsigned_of(shared),
                           nullptr, const_cast<void**>(one.parameters.data()), nullptr);
  }

  CUresult fill(const ReadyCall& one) const {
    const FillCall& fill = one.fill;
    if (fill.count == 0) return CUDA_SUCCESS;
    const auto low = static_cast<unsigned>(fill.pattern), high = static_cast<unsigned>(fill.pattern >> 32);
    switch (fill.element_bytes) {
      case 1:
        return driver_->fill8(one.to, static_cast<unsigned char>(low), fill.count);
      case 2:
        return driver_->fill16(one.to, static_cast<unsigned short>(low), fill.count);
      case 4:
        return driver_->fill32(one.to, low, fill.count);
      default:
        if (low == high) return driver_->fill32(one.to, low, 2 * fill.count);
        // Each half by itself: one word in every two.
        if (const CUresult result = driver_->fill32_rows(one.to, 8, low, 1, fill.count); result != CUDA_SUCCESS)
          return result;
        return driver_->fill32_rows(one.to + 4, 8, high, 1, fill.count);
    }
  }

  std::optional<Driver> driver_;
  CUcontext context_ = nullptr;
  CUevent begin_ = nullptr, end_ = nullptr;
  std::map<std::string, CUmodule> modules_;
  std::uint64_t arena_ = 0;  // whose content the GPU has; 0: no one's
  std::vector<Request::Range> ranges_;
  std::vector<FencedRange> resident_;
  std::vector<ReadyProgram> programs_;
  ReadyProgram before_;
};

}  // namespace

std::unique_ptr<Executor> make_executor() { return std::make_unique<GpuExecutor>(); }

}  // namespace kw::device::cuda
