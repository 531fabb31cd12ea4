// NVRTC, NVIDIA's run-time compiler: found on this machine, and run in processes of its own. It needs no GPU.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace kw::device::cuda {

// Where NVRTC may be, in the order in which it is looked for: the system's library path, CUDA toolkits, and the Python
// packages of the environments at hand (.venv here or beside the binary, the active one).
std::vector<std::string> nvrtc_candidates();

class Nvrtc {
 public:
  struct Source {
    std::string name;  // for messages
    std::string text;
    std::map<std::string, std::string> headers;  // as they are included → text
    std::vector<std::string> options;
    bool ptx = false;  // the virtual assembly instead of a cubin
  };
  struct Compiled {
    bool ok = false;
    bool out_of_time = false;
    bool died = false;  // its process, and nobody knows why
    std::string log;
    std::string code;
    double seconds = 0;
  };

  // `wanted`: the library's file; empty: the first that works. `program` can be a worker (worker_main.h).
  static Result<std::unique_ptr<Nvrtc>> open(const std::string& wanted = {},
                                             const std::string& program = "/proc/self/exe");
  ~Nvrtc();

  // May be called from several threads at once: each has a process of its own, as many as there are cores. An error is
  // the engine's own; a source on which the compiler dies or does not end is one that does not compile.
  Result<Compiled> compile(const Source& source, std::chrono::milliseconds patience);

  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }    // "13.0"
  const std::string& identity() const { return identity_; }  // the version, and what tells two builds of it apart
  const std::vector<int>& architectures() const { return architectures_; }  // 80, 90, 100; empty: it does not say

 private:
  struct Pool;
  Nvrtc();

  std::unique_ptr<Pool> pool_;
  std::string path_, version_, identity_;
  std::vector<int> architectures_;
};

}  // namespace kw::device::cuda
