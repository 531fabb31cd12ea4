// What the engine asks of a worker, as one line of text; the arena's descriptor travels with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/arena.h"
#include "device/program.h"
#include "device/worker.h"

namespace kw::device {

struct Request {
  struct Range {
    std::uint64_t first = 0, end = 0;
    bool writable = false;
  };
  std::uint64_t arena_bytes = 0;
  std::vector<Range> ranges;  // of the arena that may be touched
  std::vector<Program> programs;
  Timing timing;
  std::uint64_t memory = 0;
  std::uint64_t cpu_seconds = 0;
  std::chrono::milliseconds time{0};
};

std::string to_line(const Request& request);
Request request_from_line(std::string_view line);  // a line that to_line wrote

// The worker's answers: "ok" and the samples, or "fault" and what is known at that moment.
struct Answer {
  std::string error;  // a library that does not load
  std::vector<std::vector<std::int64_t>> nanoseconds;
  std::optional<int> signal;  // that ended it; 0: a kernel called exit
  std::uint64_t address = 0;  // of the fault: an offset into the arena, if in_arena
  bool in_arena = false;
  bool write = false;
  std::string wrong;            // what the emulation saw a kernel do
  int program = -1, call = -1;  // that were running; -1: none. Program -2: the one before each sample
};

std::string to_line(const Answer& answer);
std::optional<Answer> answer_from_line(std::string_view line);  // nothing: the line is not an answer

}  // namespace kw::device
