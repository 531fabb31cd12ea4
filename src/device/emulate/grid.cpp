#include "device/emulate/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/result.h"

namespace kw::device::emulate {
namespace {

bool same(Place a, Place b) { return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0); }

}  // namespace

std::uint64_t Grid::random(std::uint64_t below) {
  random_ += 0x9E3779B97F4A7C15u;
  std::uint64_t mixed = random_;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  mixed ^= mixed >> 31;
  return ((mixed >> 32) * below) >> 32;  // below 2^32, as all counts here are
}

std::optional<Finding> Grid::run(const Launch& launch) {
  launch_ = launch;
  finding_.reset();
  random_ = launch.seed;
  std::uint64_t count = 1;
  block_threads_ = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    blocks[i] = static_cast<std::uint32_t>(launch.grid[i]);
    threads[i] = static_cast<std::uint32_t>(launch.block[i]);
    count *= blocks[i];
    block_threads_ *= threads[i];
  }
  if (count > Stamp::kBlocks)
    return Finding{"too large", fmt::format("{} blocks are more than can be emulated", count)};
  if (auto wrong = memory_.begin_launch(launch.buffers, static_cast<std::size_t>(launch.dynamic_bytes))) return wrong;
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random(i)]);
  for (const std::uint32_t next : order) {
    linear_block_ = next;
    block[0] = next % blocks[0];
    block[1] = next / blocks[0] % blocks[1];
    block[2] = next / blocks[0] / blocks[1];
    run_block();
    if (finding_) return finding_;
  }
  return std::nullopt;
}

void Grid::run_block() {
  memory_.begin_block(block_threads_);
  threads_.resize(block_threads_);
  ready_.clear();
  arrived_.assign((block_threads_ + kWarp - 1) / kWarp, 0);
  for (std::uint32_t i = 0; i < block_threads_; ++i) {
    threads_[i] = {};
    ready_.push_back(i);
  }
  fibers_.begin(
      block_threads_,
      [](void* self, std::size_t) {
        const Launch& launch = static_cast<Grid*>(self)->launch_;
        launch.kernel(launch.arguments);
      },
      this);
  while (!finding_) {
    if (ready_.empty()) {
      const bool done = std::all_of(threads_.begin(), threads_.end(),
                                    [](const Thread& thread) { return thread.state == State::Ended; });
      if (done) return;
      release_stuck();
      continue;
    }
    const std::size_t pick = random(ready_.size());
    const std::uint32_t index = ready_[pick];
    ready_[pick] = ready_.back();
    ready_.pop_back();
    resume(index);
  }
}

void Grid::resume(std::uint32_t index) {
  linear_thread = index;
  thread[0] = index % threads[0];
  thread[1] = index / threads[0] % threads[1];
  thread[2] = index / threads[0] / threads[1];
  if (fibers_.resume(index)) return;
  threads_[index].state = State::Ended;
}

void Grid::make_ready(std::uint32_t index) {
  threads_[index].state = State::Ready;
  ready_.push_back(index);
}

void Grid::wait(State state, Place place) {
  Thread& self = threads_[linear_thread];
  self.state = state;
  self.place = place;
  fibers_.pause();
}

void Grid::report(Finding finding) {
  if (!finding_) finding_ = std::move(finding);
}

// The fiber is left where it is: nothing of this block runs any more.
void Grid::stop(Finding finding) {
  report(std::move(finding));
  while (true) fibers_.pause();
}

void Grid::touch(const void* address, std::size_t bytes, std::size_t alignment, Access access, Place place) {
  if (auto wrong = memory_.touch(address, bytes, alignment, access, who(), place)) stop(std::move(*wrong));
}

void* Grid::shared(const void* tag, std::size_t bytes, std::size_t alignment, const char* name) {
  void* array = memory_.shared(tag, bytes, alignment, name);
  if (array == nullptr)
    stop({"too much shared memory", fmt::format("there is no room for the shared array {} of {} bytes", name, bytes)});
  return array;
}

void Grid::barrier(Place place) { wait(State::AtBarrier, place); }

std::uint32_t Grid::warp_end(std::uint32_t warp) const { return std::min((warp + 1) * kWarp, block_threads_); }

void Grid::warp_barrier(Place place) {
  Thread& self = threads_[linear_thread];
  self.state = State::AtWarpBarrier;
  self.place = place;
  arrive_in_warp(linear_thread / kWarp);
  fibers_.pause();
}

void Grid::exchange(const void* value, void* result, std::size_t bytes, std::uint32_t from, Place place) {
  KW_ASSERT(bytes <= 16, "lanes exchange at most 16 bytes");
  const std::uint32_t index = linear_thread, warp = index / kWarp;
  if (from >= kWarp || warp * kWarp + from >= block_threads_)
    stop({"missing lane", fmt::format("{} asks for the value of lane {} at {}, which its warp does not have",
                                      text_of(who()), from, text_of(place))});
  Thread& self = threads_[index];
  std::memcpy(self.value.data(), value, bytes);
  self.value_bytes = bytes;
  self.from = from;
  self.state = State::AtExchange;
  self.place = place;
  arrive_in_warp(warp);
  fibers_.pause();
  std::memcpy(result, self.received.data(), bytes);
}

void Grid::arrive_in_warp(std::uint32_t warp) {
  const std::uint32_t first = warp * kWarp, end = warp_end(warp);
  const Thread& self = threads_[linear_thread];
  if (++arrived_[warp] < end - first) return;
  for (std::uint32_t i = first; i < end; ++i) {
    const Thread& other = threads_[i];
    if (other.state == self.state && same(other.place, self.place) &&
        (self.state == State::AtWarpBarrier || other.value_bytes == self.value_bytes))
      continue;
    return report({"missing lane",
                   fmt::format("the lanes of a warp meet at different places: thread {} of block {} {}, thread {} {}",
                               linear_thread, linear_block_, state_text(self), i, state_text(other))});
  }
  if (self.state == State::AtWarpBarrier) {
    memory_.clock.pass_warp_barrier(warp);
    if (too_late()) return;
  } else {
    for (std::uint32_t i = first; i < end; ++i) threads_[i].received = threads_[first + threads_[i].from].value;
  }
  arrived_[warp] = 0;
  for (std::uint32_t i = first; i < end; ++i) make_ready(i);
}

bool Grid::too_late() {
  if (memory_.clock.time + 1 < Stamp::kTimes) return false;
  report({"too long", fmt::format("block {} meets at more barriers than can be emulated", linear_block_)});
  return true;
}

std::string Grid::state_text(const Thread& thread) const {
  switch (thread.state) {
    case State::Ready:
      return "runs";
    case State::AtBarrier:
      return "waits at the barrier at " + text_of(thread.place);
    case State::AtWarpBarrier:
      return "waits at the warp's barrier at " + text_of(thread.place);
    case State::AtExchange:
      return "waits at the shuffle at " + text_of(thread.place);
    case State::Ended:
      return "has ended";
  }
  return {};
}

std::string Grid::threads_text(const std::vector<std::uint32_t>& which) const {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < which.size();) {
    std::size_t end = i + 1;
    while (end < which.size() && which[end] == which[end - 1] + 1) ++end;
    runs.push_back(end - i == 1 ? fmt::format("{}", which[i]) : fmt::format("{}-{}", which[i], which[end - 1]));
    i = end;
  }
  constexpr std::size_t kMost = 4;
  std::string text = which.size() == 1 ? "thread " : "threads ";
  for (std::size_t i = 0; i < std::min(runs.size(), kMost); ++i) text += (i > 0 ? ", " : "") + runs[i];
  if (runs.size() > kMost) text += ", ...";
  return text;
}

void Grid::release_stuck() {
  std::vector<std::uint32_t> waiting, others;
  std::uint32_t stuck_in_warp = block_threads_;
  for (std::uint32_t i = 0; i < block_threads_; ++i)
    if (threads_[i].state == State::AtWarpBarrier || threads_[i].state == State::AtExchange)
      stuck_in_warp = std::min(stuck_in_warp, i);
  if (stuck_in_warp < block_threads_) {
    const Thread& stuck = threads_[stuck_in_warp];
    const std::uint32_t warp = stuck_in_warp / kWarp;
    std::uint32_t example = stuck_in_warp;
    for (std::uint32_t i = warp * kWarp; i < warp_end(warp); ++i) {
      const bool here = threads_[i].state == State::AtWarpBarrier || threads_[i].state == State::AtExchange;
      (here ? waiting : others).push_back(i);
      if (!here && example == stuck_in_warp) example = i;
    }
    report({"missing lane", fmt::format("the {} at {} has {} of block {}, but not {} of the same warp: thread {} {}",
                                        stuck.state == State::AtExchange ? "shuffle" : "warp's barrier",
                                        text_of(stuck.place), threads_text(waiting), linear_block_,
                                        threads_text(others), example, state_text(threads_[example]))});
    return;
  }
  std::optional<std::uint32_t> first;
  for (std::uint32_t i = 0; i < block_threads_; ++i)
    if (threads_[i].state == State::AtBarrier && !first) first = i;
  const Place place = threads_[*first].place;
  std::optional<std::uint32_t> example;
  for (std::uint32_t i = 0; i < block_threads_; ++i) {
    const Thread& thread = threads_[i];
    const bool here = thread.state == State::AtBarrier && same(thread.place, place);
    (here ? waiting : others).push_back(i);
    if (!here && !example) example = i;
  }
  if (example) {
    report({"divergent barrier", fmt::format("the barrier at {} has {} of block {}, but not {}: thread {} {}",
                                             text_of(place), threads_text(waiting), linear_block_, threads_text(others),
                                             *example, state_text(threads_[*example]))});
    return;
  }
  memory_.clock.pass_barrier();
  if (too_late()) return;
  for (std::uint32_t i = 0; i < block_threads_; ++i) make_ready(i);
}

void Grid::copy_begin(void* to, const void* from, std::size_t bytes, Place place) {
  if (auto wrong = memory_.touch(from, bytes, std::min<std::size_t>(bytes, 16), Access::Read, who(), place))
    stop(std::move(*wrong));
  if (auto wrong = memory_.begin_copy(to, bytes, who(), place)) stop(std::move(*wrong));
  Thread& self = threads_[linear_thread];
  self.copies.push_back({to, from, bytes, self.groups, place});
}

void Grid::copy_commit() { ++threads_[linear_thread].groups; }

void Grid::copy_wait(std::size_t groups_in_flight, Place place) {
  Thread& self = threads_[linear_thread];
  std::vector<Copy> left;
  for (const Copy& copy : self.copies) {
    // A copy that was not committed belongs to no group, and no wait sees it.
    if (copy.group >= self.groups || self.groups - copy.group <= groups_in_flight) {
      left.push_back(copy);
    } else if (auto wrong = memory_.land_copy(copy.to, copy.from, copy.bytes, who(), place)) {
      stop(std::move(*wrong));
    }
  }
  self.copies = std::move(left);
}

void Grid::wrong(const char* what, Place place) {
  stop({what, fmt::format("{} at {}", text_of(who()), text_of(place))});
}

}  // namespace kw::device::emulate
