// The other side of Worker: what the process does that runs kernels, and the one that compiles CUDA. A binary that
// starts workers calls this first in its main, and ends with its result if it gives one.
//
//   int main(int argc, char** argv) {
//     if (const auto code = kw::device::worker_main(argc, argv)) return *code;
//     ...
#pragma once

#include <optional>

namespace kw::device {

inline constexpr const char* kWorkerCommand = "worker";  // the hidden first argument

// Nothing, unless the command line asks for a worker.
std::optional<int> worker_main(int argc, char** argv);

}  // namespace kw::device
