// Kernels run in a worker: a process of its own, spawned from this very binary. Whatever a kernel does there (crash,
// run for ever, touch what is not its own, end the process), it costs the worker, and is reported as that kernel's
// failure. Expected values and their comparison stay here, in the engine.
//
//   Worker worker({.time = 5s});
//   KW_TRY(auto outcome, worker.run({program}, arena));
//   if (outcome.fault) report(outcome.fault->message);
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "device/arena.h"
#include "device/program.h"

namespace kw::device {

struct Limits {
  std::chrono::milliseconds time{10'000};         // of one run, with all its repetitions
  std::uint64_t memory = std::uint64_t{1} << 30;  // that kernels may allocate beyond the arena
  int threads = 0;                                // 0: one for each core that this process may use
};

// How programs are timed: first `warm_up` times each, then `samples` times each, in turn and in changing order, so that
// what drifts meets all of them alike.
struct Timing {
  int warm_up = 1;
  int samples = 1;
  int calls_per_sample = 1;             // for kernels shorter than the clock is sharp
  std::optional<Program> before;        // runs untimed before each sample: what evicts the cache
  std::chrono::milliseconds budget{0};  // no sample begins later than this; 0: no such limit

  // A GPU keeps the buffers of the last run, if that was over the same arena: nothing is copied there or back.
  bool resident = false;
};

// The GPU that programs run on.
struct GpuTarget {
  int ordinal = 0;
  std::string driver;  // its library
  bool exact = false;  // buffers without guard bytes around them: for a sanitizer
};

struct RunOptions {
  std::optional<Timing> timing;  // without it each program runs once
  bool from_outside = false;     // code that this engine did not write: its worker is not used again
  std::optional<GpuTarget> gpu;  // set by the device that is one
  bool last = false;             // the worker ends of itself after this run, and is waited for
};

struct Fault {
  enum class Kind : std::uint8_t {
    Crashed,       // by a signal
    Strayed,       // touched memory outside its buffers
    WroteToInput,  // or to another buffer that it may only read
    OutOfTime,
    OutOfMemory,
    Exited,       // ended the process
    NotLoadable,  // the shared object or cubin does not load, or lacks a symbol; a launch that this GPU refuses
    Seen,         // the emulation of a GPU saw a race, a divergent barrier, an access that may not be, ...; or its
                  // worker, that it left the processor otherwise than it was
    Sanitized,    // a sanitizer complained of it
  } kind = Kind::Crashed;
  std::string kernel;   // the one that ran last; empty if unknown
  std::string message;  // one sentence that names the kernel
};

struct RunOutcome {
  std::optional<Fault> fault;
  std::vector<std::vector<double>> seconds;  // of each program: its samples, per call
  double wall_seconds = 0;                   // as the engine saw it
  std::string output;                        // what the kernels printed, at most 64 KiB of it
};

class Worker {
 public:
  // Nothing is started before the first run. `program` is the binary that can be a worker (see worker_main).
  explicit Worker(Limits limits = {}, std::string program = "/proc/self/exe");

  // A program that starts the worker and watches it (a sanitizer), with its own arguments.
  void set_wrapper(std::vector<std::string> argv) { wrapper_ = std::move(argv); }

  // Another worker than this binary, by what it is started with; it speaks the same lines. `start`: how long it may
  // take until it hears the first.
  void set_command(std::vector<std::string> argv, std::chrono::milliseconds start) {
    command_ = std::move(argv);
    start_ = start;
  }

  // Variables that its processes are started with, beside this process's own.
  void set_environment(std::map<std::string, std::string> variables) { environment_ = std::move(variables); }

  // Runs programs one after the other over the arena. An error is the engine's own (the worker cannot be started) or
  // the machine's (a GPU without enough memory); what a kernel does wrong is a fault. After a fault, or code from
  // outside, the next run has a new process.
  Result<RunOutcome> run(const std::vector<Program>& programs, const Arena& arena, const RunOptions& options = {});

  const Limits& limits() const { return limits_; }  // threads: as they are, not 0

 private:
  Limits limits_;
  std::string program_;
  std::vector<std::string> wrapper_, command_;
  std::chrono::milliseconds start_{0};
  std::map<std::string, std::string> environment_;
  std::optional<Child> child_;
};

}  // namespace kw::device
