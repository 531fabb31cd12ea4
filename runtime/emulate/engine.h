// What an emulated kernel asks of the engine that runs it on the CPU: which thread it is, its shared memory, barriers,
// exchanges between lanes, and a word on every access to memory. Kernel and engine are compiled apart; this is all that
// they share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kw::emulate {

// A line of the kernel's text. Primitives take it as their last parameter and fill it with their caller's.
struct Place {
  const char* file = nullptr;
  int line = 0;
  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

enum class Access : std::uint8_t { Read, Write, Atomic };

class Engine {
 public:
  // The thread that runs, and its launch.
  std::uint32_t thread[3] = {0, 0, 0}, threads[3] = {1, 1, 1};
  std::uint32_t block[3] = {0, 0, 0}, blocks[3] = {1, 1, 1};
  std::uint32_t linear_thread = 0;

  // Every access to shared or global memory comes here before it happens. One that is wrong does not return.
  virtual void touch(const void* address, std::size_t bytes, std::size_t alignment, Access access, Place place) = 0;

  // A static shared array; `tag` is one address for each array of the kernel's text.
  virtual void* shared(const void* tag, std::size_t bytes, std::size_t alignment, const char* name) = 0;
  virtual void* dynamic_shared() = 0;
  virtual std::size_t dynamic_bytes() = 0;  // of it

  virtual void barrier(Place place) = 0;       // all threads of the block
  virtual void warp_barrier(Place place) = 0;  // all lanes of the warp; orders their memory

  // Every lane of the warp gives a value, and gets that of the lane `from` (of at most 16 bytes). Orders no memory.
  virtual void exchange(const void* value, void* result, std::size_t bytes, std::uint32_t from, Place place) = 0;

  // Copies that land in shared memory when they are waited for. A group is what was begun since the last commit.
  virtual void copy_begin(void* to, const void* from, std::size_t bytes, Place place) = 0;
  virtual void copy_commit() = 0;
  virtual void copy_wait(std::size_t groups_in_flight, Place place) = 0;  // until no more than these are left

  // Something that the kernel's text finds wrong by itself.
  [[noreturn]] virtual void wrong(const char* what, Place place) = 0;

 protected:
  ~Engine() = default;
};

}  // namespace kw::emulate
