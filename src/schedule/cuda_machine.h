// A GPU as the formulas of schedules know it (machines/h200.yaml).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw::schedule {

struct CudaMachine {
  std::string name;          // h200
  std::string architecture;  // sm_90
  int64_t multiprocessors = 0;
  int64_t registers = 0;      // per multiprocessor, of 4 bytes
  int64_t threads = 0;        // per multiprocessor, at most
  int64_t block_threads = 0;  // per block, at most
  int64_t shared_bytes = 0;   // per block, at most
  int64_t flight_bytes = 0;   // per multiprocessor that must be on their way to keep memory busy
  bool operator==(const CudaMachine&) const = default;
};

Result<CudaMachine> cuda_machine_from_yaml(std::string_view text, const std::string& file);

// The models that travel in the binary; the first is what schedules start from.
const CudaMachine& h200();

}  // namespace kw::schedule
