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
    bool at_start = false;                // the buffer begins where the range does
    std::uint64_t offset = 0, bytes = 0;  // of the buffer
    bool operator==(const Range&) const = default;
  };
  std::uint64_t arena = 0;  // which one it is
  std::uint64_t arena_bytes = 0;
  std::vector<Range> ranges;  // of the arena that may be touched
  std::vector<Program> programs;
  bool timed = false;  // without it each program runs once, and a fault is known to be of one call
  Timing timing;
  std::uint64_t memory = 0;
  std::uint64_t cpu_seconds = 0;
  std::chrono::milliseconds time{0};
  int gpu = -1;        // that the programs run on; -1: the processor
  std::string driver;  // its library
  bool exact = false;  // the GPU's memory holds the buffers and nothing around them: for a sanitizer, which knows both
  bool last = false;   // the worker ends after this one
  bool from_outside = false;  // nobody here wrote its kernels: its limits are final, and no request follows
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

  // Of a GPU.
  struct GpuFault {
    int code = 0;  // as the driver numbers its errors
    std::string text;
  };
  std::string unfit;  // what this machine lacks, or cannot do: no kernel's fault
  std::optional<GpuFault> gpu_fault;
  std::optional<std::uint64_t> stray;  // an offset into the arena that no kernel may write, and one did

  bool ok() const { return error.empty() && wrong.empty() && unfit.empty() && !gpu_fault; }
};

std::string to_line(const Answer& answer);
std::optional<Answer> answer_from_line(std::string_view line);  // nothing: the line is not an answer

}  // namespace kw::device
