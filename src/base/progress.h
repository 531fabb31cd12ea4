// How far a long job has come, on stderr: a live bar at a terminal, one plain line per step elsewhere, nothing when
// quiet.
//
//   Progress progress("reading examples", files.size(), progress_mode(quiet));
//   for (const auto& file : files) { progress.step(file); ... }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace kw {

enum class ProgressMode { Live, Plain, Quiet };

// Live when stderr is a terminal, plain otherwise; quiet when asked.
ProgressMode progress_mode(bool quiet);

class Progress {
 public:
  Progress(std::string title, std::size_t total, ProgressMode mode, std::FILE* stream = stderr);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // clears a live bar

  void step(std::string_view what);  // one more of `total` begins

 private:
  std::string title_;
  std::size_t total_;
  std::size_t begun_ = 0;
  ProgressMode mode_;
  std::FILE* stream_;
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace kw
