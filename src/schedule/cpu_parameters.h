// How a kernel is laid out on a CPU: the parameters of its schedule, and the formula that they start from. They decide
// speed alone, never where something is rounded.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "schedule/cpu_machine.h"

namespace kw::schedule {

struct CpuParameters {
  // Terms that one accumulator takes before it is added to a total. The oracle's bound allows chains of this length.
  int64_t chain = 64;

  // Elements of the innermost axis that are handled at a time: a partial sum, and a block of an output.
  int64_t tile = 1024;

  // Outputs of at least this many bytes are written past the cache: they would not stay in it.
  int64_t stream_bytes = 32 << 20;

  // Smaller iteration spaces run on one thread: starting the others takes longer.
  int64_t parallel_elements = 32768;

  // A sum that rides along is accumulated in slices, each by one worker over at least so many points, and never over so
  // many that its roundings add up. Their number depends on the shape alone, so the result does not depend on how many
  // threads there are.
  int64_t most_slices = 64;
  int64_t points_per_slice = 16;
  static constexpr int64_t kMostPointsPerSlice = 1024;

  // A reduction of everything is cut into this many chunks, whatever the number of threads.
  int64_t chunks = 256;

  bool operator==(const CpuParameters&) const = default;
};

CpuParameters start_parameters(const CpuMachine& machine);

// The parameters that a row of schedules.yaml or a move names ("tile" → "512"), and the others as they were.
Result<CpuParameters> with_moves(CpuParameters parameters, const std::map<std::string, std::string>& moves);
std::map<std::string, std::string> to_moves(const CpuParameters& parameters);

}  // namespace kw::schedule
