// A GPU that is not there: kernels for cuda, compiled by the system's compiler against the emulated twins of
// runtime/cuda, and run on the CPU by an engine that sees every access. It proves indices, bounds and synchronisation;
// not speed, and not the last bits of approximate instructions.
#pragma once

#include <memory>

#include "device/device.h"

namespace kw::device::emulate {

struct Options {
  DeviceOptions device;
  std::uint64_t seed = 1;  // of the order that threads and blocks run in; each seed is another
  bool sanitize = false;   // kernels run under the address and undefined-behaviour sanitizers too
  int multiprocessors = 3;
};

// Needs a compiler; to sanitize, one that has the sanitizers' libraries.
Result<std::unique_ptr<Device>> open(const Options& options = {});

}  // namespace kw::device::emulate
