// Other programs: run once to the end (`run`), or kept as a resident worker that answers lines (`Child`). They are
// spawned, never forked, in a process group of their own, so that a time limit ends all that they have started.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kw {

struct Command {
  std::vector<std::string> argv;                                 // argv[0] is looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // added to this process's own
  std::string directory;                                         // where it runs; empty: here
  std::string input;                                             // what `run` gives it on stdin
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::size_t> memory_limit;            // bytes of address space
  std::size_t output_limit = std::size_t{256} << 20;  // of stdout and of stderr; what is beyond is dropped
};

struct Finished {
  int exit_code = 0;  // 128 + signal when a signal ended it, as in a shell
  int signal = 0;
  bool timed_out = false;
  bool truncated = false;
  std::string output;
  std::string errors;
  double seconds = 0;
  bool ok() const { return exit_code == 0 && !timed_out; }
};

// "exited with code 3", "was killed by signal 11 (Segmentation fault)", "ran out of time".
std::string describe_end(const Finished& finished);

// Runs a program to its end. An error means that it could not be started; how it ended is in the value.
Result<Finished> run(const Command& command);

// The full path of a program in PATH.
std::optional<std::string> find_program(std::string_view name);

// A worker that reads requests line by line on stdin and answers line by line on stdout. Its stderr is kept for the
// report of its death. Destruction kills it.
class Child {
 public:
  static Result<Child> start(const Command& command);  // `input`, `timeout` and `output_limit` are not used
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  // Both fail with ErrorKind::GateFailed when the worker has died, and read_line also when no whole line came in time;
  // the message says how it ended and what it wrote last to stderr. After a failure the worker is dead.
  // The newline is added. Descriptors travel with the line (SCM_RIGHTS on the worker's stdin, which is a socket).
  Status write_line(std::string_view line, std::span<const int> descriptors = {});
  Result<std::string> read_line(std::chrono::milliseconds timeout);

  bool alive();
  void kill();
  std::string errors() const;                   // what it has written to stderr
  const Finished& end() const { return end_; }  // how it ended, once it has: exit code, signal, out of time

 private:
  Child() = default;
  Failure died(std::string_view what);

  int pid_ = -1;
  int to_ = -1, from_ = -1, errors_ = -1;
  std::string program_;
  std::string pending_;  // bytes after the last whole line
  Finished end_;
};

}  // namespace kw
