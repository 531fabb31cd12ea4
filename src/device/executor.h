// A worker's side of a run: the programs of one request, made ready on the device that they are for. worker_main drives
// it: warm-up, samples, limits are the same for all devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/request.h"

namespace kw::device {

inline constexpr int kBefore = -2;  // the program that runs before each sample

// What a signal handler can say of the moment: which call runs. The numbers change as programs run.
struct Situation {
  int channel = -1;
  std::byte* arena = nullptr;
  std::uint64_t arena_bytes = 0;
  volatile int program = -1;
  volatile int call = -1;
};
extern Situation situation;

// The arena of a request, as this process sees it.
class Mapping {
 public:
  Mapping(int descriptor, const Request& request);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  std::byte* at(std::uint64_t offset) const { return memory_ + offset; }
  bool ok() const { return memory_ != nullptr; }

 private:
  std::byte* memory_ = nullptr;
  std::uint64_t bytes_;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Whatever goes wrong is noted in the answer; nothing more is run then.
  virtual void prepare(const Request& request, const Mapping& mapping, Answer& answer) = 0;
  // Once, to its end: a fault shows here.
  virtual void run(int program, Answer& answer) = 0;
  // The untimed part of a sample: it need not have ended when this returns, but comes before what is timed.
  virtual void lead_in(Answer& answer) = 0;
  // `calls` times; how long all of them took, in nanoseconds.
  virtual std::int64_t time(int program, int calls, Answer& answer) = 0;
  // What the kernels wrote is in the arena afterwards.
  virtual void finish(const Request& request, const Mapping& mapping, Answer& answer) = 0;

 protected:
  Executor() = default;
};

}  // namespace kw::device
