// What this machine has: its processor, its GPUs, and the tools that the engine calls. Looking never fails; what is not
// there is reported as missing, with the command that installs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/python.h"

namespace kw::device {

struct Processor {
  std::string name;
  int cores = 0;             // that this process may use
  std::string vector_units;  // "AVX-512", "AVX2", "SSE2", "NEON"
  std::uint64_t memory_bytes = 0;
};

struct Gpu {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::uint64_t memory_bytes = 0;
  int multiprocessors = 0;
  std::uint64_t cache_bytes = 0;  // of the last level
};

struct Tool {
  std::string name;    // "compiler", "python", "torch", "triton", "driver", "nvrtc"
  std::string serves;  // what the engine needs it for
  std::string install;
  bool present = false;
  std::string version;
  std::string path;
};

struct Machine {
  Processor processor;
  std::vector<Gpu> gpus;
  std::vector<Tool> tools;
};

// `pythons`: those that are asked which packages they have, best first.
Machine look_around(const std::vector<std::string>& pythons = pythons_here());

}  // namespace kw::device
