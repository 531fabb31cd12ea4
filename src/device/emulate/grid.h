// Runs emulated launches: every block of a grid, one after the other in an order that the seed gives, and the threads
// of a block as fibers, of which a random one runs until it has to wait. No thread is ever in step with another by
// chance, and no order is like the next.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../../../runtime/emulate/engine.h"
#include "device/emulate/fiber.h"
#include "device/emulate/memory.h"

namespace kw::device::emulate {

struct Launch {
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::int64_t dynamic_bytes = 0;
  std::uint64_t seed = 0;
  std::vector<const void*> buffers;                 // the kernel's arguments
  void (*kernel)(const void* arguments) = nullptr;  // what one thread does
  const void* arguments = nullptr;
};

class Grid final : public kw::emulate::Engine {
 public:
  explicit Grid(Memory& memory) : memory_(memory) {}

  // What is wrong with the kernel, as far as this launch shows it.
  std::optional<Finding> run(const Launch& launch);

  void touch(const void* address, std::size_t bytes, std::size_t alignment, Access access, Place place) override;
  void* shared(const void* tag, std::size_t bytes, std::size_t alignment, const char* name) override;
  void* dynamic_shared() override { return memory_.dynamic_shared(); }
  std::size_t dynamic_bytes() override { return memory_.dynamic_bytes(); }
  void barrier(Place place) override;
  void warp_barrier(Place place) override;
  void exchange(const void* value, void* result, std::size_t bytes, std::uint32_t from, Place place) override;
  void copy_begin(void* to, const void* from, std::size_t bytes, Place place) override;
  void copy_commit() override;
  void copy_wait(std::size_t groups_in_flight, Place place) override;
  [[noreturn]] void wrong(const char* what, Place place) override;

 private:
  enum class State : std::uint8_t { Ready, AtBarrier, AtWarpBarrier, AtExchange, Ended };
  struct Copy {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
    std::size_t group = 0;
    Place place;
  };
  struct Thread {
    State state = State::Ready;
    Place place;                                    // where it waits
    std::array<std::byte, 16> value{}, received{};  // by an exchange
    std::size_t value_bytes = 0;
    std::uint32_t from = 0;
    std::vector<Copy> copies;
    std::size_t groups = 0;  // committed so far
  };

  void run_block();
  void resume(std::uint32_t index);
  void release_stuck();                     // nobody can run: a barrier is complete, or something is wrong
  void arrive_in_warp(std::uint32_t warp);  // releases its lanes if all of them wait for each other
  bool too_late();                          // the clock has come to its end
  void make_ready(std::uint32_t index);
  void wait(State state, Place place);
  [[noreturn]] void stop(Finding finding);
  void report(Finding finding);
  std::uint64_t random(std::uint64_t below);
  Toucher who() const { return {linear_block_, linear_thread}; }
  std::uint32_t warp_end(std::uint32_t warp) const;
  std::string state_text(const Thread& thread) const;
  std::string threads_text(const std::vector<std::uint32_t>& which) const;  // "threads 0-31 and 40"

  Memory& memory_;
  Fibers fibers_;
  Launch launch_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> arrived_;  // of each warp: lanes that wait for each other
  std::uint32_t block_threads_ = 0;
  std::uint64_t linear_block_ = 0;
  std::uint64_t random_ = 0;
  std::optional<Finding> finding_;
};

}  // namespace kw::device::emulate
