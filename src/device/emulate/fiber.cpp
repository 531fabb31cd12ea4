#include "device/emulate/fiber.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

// Saves what a function must keep on the stack that runs, and goes on with another. Elsewhere than on x86-64 the C
// library does it, with a system call each time.
#if defined(__x86_64__)
extern "C" void kw_switch_stack(void** save, void* to);
asm(R"(
.text
.p2align 4
.hidden kw_switch_stack
.globl kw_switch_stack
.type kw_switch_stack, @function
kw_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size kw_switch_stack, .-kw_switch_stack
)");
#endif

namespace kw::device::emulate {
namespace {

constexpr std::size_t kPage = 4096;
Fibers* entering = nullptr;  // whose fiber begins: a new stack has no arguments

// Stacks that no fiber uses, for those to come: a process runs many small grids, and to map a thousand stacks for each
// takes longer than most of them run. All are of one size, since a process has the sanitizer or has it not.
std::vector<std::byte*>& idle_stacks() {
  static auto* const stacks = new std::vector<std::byte*>();  // never destroyed: a grid may end later than statics do
  return *stacks;
}

std::byte* take_stack(std::size_t bytes) {
  std::vector<std::byte*>& idle = idle_stacks();
  if (!idle.empty()) {
    std::byte* const taken = idle.back();
    idle.pop_back();
    return taken;
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  KW_ASSERT(memory != MAP_FAILED, "there is memory for the stacks of a block");
  ::mprotect(memory, kPage, PROT_NONE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

struct Fibers::Stack {
  std::byte* memory = nullptr;  // its first page cannot be touched
  void* stopped = nullptr;
  void* fake = nullptr;  // the sanitizer's
  bool begun = false, ended = false;
#if !defined(__x86_64__)
  ucontext_t context;
#endif
};

// The address sanitizer has to know which stack is in use. It is there if the process was started with it.
struct Fibers::Sanitizer {
  using Start = void (*)(void** fake, const void* bottom, std::size_t bytes);
  using Finish = void (*)(void* fake, const void** bottom, std::size_t* bytes);
  using Unpoison = void (*)(const volatile void* address, std::size_t bytes);
  Start start = reinterpret_cast<Start>(::dlsym(RTLD_DEFAULT, "__sanitizer_start_switch_fiber"));
  Finish finish = reinterpret_cast<Finish>(::dlsym(RTLD_DEFAULT, "__sanitizer_finish_switch_fiber"));
  Unpoison unpoison = reinterpret_cast<Unpoison>(::dlsym(RTLD_DEFAULT, "__asan_unpoison_memory_region"));
  const void* outside_bottom = nullptr;
  std::size_t outside_bytes = 0;
  bool there() const { return start != nullptr && finish != nullptr && unpoison != nullptr; }
  // An instrumented frame is several times as large.
  std::size_t stack_bytes() const { return there() ? std::size_t{256} << 10 : std::size_t{64} << 10; }
};

Fibers::Fibers() : sanitizer_(std::make_unique<Sanitizer>()) {}

Fibers::~Fibers() {
  // The first is on top again, so that the same call finds the same stacks.
  for (auto stack = stacks_.rbegin(); stack != stacks_.rend(); ++stack)
    if (stack->memory != nullptr) idle_stacks().push_back(stack->memory);
}

void Fibers::begin(std::size_t count, Body body, void* context) {
  const std::size_t bytes = sanitizer_->stack_bytes();
  body_ = body;
  context_ = context;
  if (stacks_.size() < count) stacks_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Stack& stack = stacks_[i];
    stack.begun = stack.ended = false;
    if (stack.memory == nullptr) stack.memory = take_stack(bytes);
  }
}

void Fibers::enter() {
  Fibers& fibers = *entering;
  const Sanitizer& sanitizer = *fibers.sanitizer_;
  if (sanitizer.there())
    sanitizer.finish(nullptr, &fibers.sanitizer_->outside_bottom, &fibers.sanitizer_->outside_bytes);
  fibers.body_(fibers.context_, fibers.running_);
  fibers.stacks_[fibers.running_].ended = true;
  fibers.leave(true);
}

void Fibers::leave(bool for_good) {
  Stack& stack = stacks_[running_];
  if (sanitizer_->there())
    sanitizer_->start(for_good ? nullptr : &stack.fake, sanitizer_->outside_bottom, sanitizer_->outside_bytes);
#if defined(__x86_64__)
  kw_switch_stack(&stack.stopped, outside_);
#else
  ::swapcontext(&stack.context, static_cast<ucontext_t*>(outside_));
#endif
  if (sanitizer_->there()) sanitizer_->finish(stack.fake, nullptr, nullptr);
}

void Fibers::pause() { leave(false); }

bool Fibers::resume(std::size_t index) {
  Stack& stack = stacks_[index];
  const std::size_t bytes = sanitizer_->stack_bytes();
  running_ = index;
  if (!stack.begun) {
    stack.begun = true;
    stack.fake = nullptr;
    entering = this;
    // Frames that an earlier fiber left there for good are still marked.
    if (sanitizer_->there()) sanitizer_->unpoison(stack.memory + kPage, bytes - kPage);
#if defined(__x86_64__)
    // As if a function had been called that stopped before its first instruction.
    // Stacks that all ended on the same bits of an address would fight for the same lines of the cache.
    auto* top = reinterpret_cast<void**>(stack.memory + bytes - index % 61 * 128);
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(&Fibers::enter);
    for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
    stack.stopped = top;
#else
    ::getcontext(&stack.context);
    stack.context.uc_stack.ss_sp = stack.memory + kPage;
    stack.context.uc_stack.ss_size = bytes - kPage;
    stack.context.uc_link = nullptr;
    ::makecontext(&stack.context, &Fibers::enter, 0);
#endif
  }
  void* fake = nullptr;
  if (sanitizer_->there()) sanitizer_->start(&fake, stack.memory + kPage, bytes - kPage);
#if defined(__x86_64__)
  kw_switch_stack(&outside_, stack.stopped);
#else
  ucontext_t outside;
  outside_ = &outside;
  ::swapcontext(&outside, &stack.context);
#endif
  if (sanitizer_->there()) sanitizer_->finish(fake, nullptr, nullptr);
  return !stack.ended;
}

}  // namespace kw::device::emulate
