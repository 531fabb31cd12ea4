// A CPU as the formulas of schedules know it (machines/x86-64.yaml).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw::schedule {

struct CpuMachine {
  std::string name;                // x86-64
  int64_t vector_bytes = 0;        // of one register
  int64_t first_level_bytes = 0;   // of data cache, per core
  int64_t last_level_bytes = 0;    // that a core can fill
  int64_t thread_start_bytes = 0;  // that one core moves while the others are being started
  int64_t threads = 0;             // that a sum is divided among at most
  bool operator==(const CpuMachine&) const = default;
};

Result<CpuMachine> cpu_machine_from_yaml(std::string_view text, const std::string& file);

// The model that travels in the binary.
const CpuMachine& x86_64();

}  // namespace kw::schedule
