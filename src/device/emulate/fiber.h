// Threads of an emulated block: stacks of their own on one thread of the CPU, switched by hand. A switch costs a few
// nanoseconds, so that a block of 1024 threads that meets at a barrier costs microseconds.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace kw::device::emulate {

class Fibers {
 public:
  Fibers();
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  using Body = void (*)(void* context, std::size_t index);

  // From now on there are `count` fibers that have not begun; what others were left is forgotten.
  void begin(std::size_t count, Body body, void* context);

  // Runs a fiber until it pauses or its body returns; true while it has not returned.
  bool resume(std::size_t index);

  // Called in the running fiber: back to who resumed it.
  void pause();

 private:
  struct Stack;
  struct Sanitizer;
  static void enter();
  void leave(bool for_good);

  std::vector<Stack> stacks_;
  std::unique_ptr<Sanitizer> sanitizer_;
  Body body_ = nullptr;
  void* context_ = nullptr;
  std::size_t running_ = 0;
  void* outside_ = nullptr;  // where the resumer stopped
};

}  // namespace kw::device::emulate
