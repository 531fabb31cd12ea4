// Calls too large for the interpreter: where a kernel takes other ways (stores past the cache, every core, long
// indices). Along an axis that nothing is reduced over, the inputs repeat with a short period, so the outputs do too,
// and the oracle needs to see one period only. Every element is compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/trial.h"

namespace kw::verify {

struct LargeCall {
  kernel::Sizes sizes;
  std::string symbol;  // the size that is large
  std::int64_t period = 0;
  std::vector<std::string> outputs;  // that repeat; the others are not compared
};

// A call whose largest repeating output has at least so many bytes in these types; nothing where no axis repeats.
std::optional<LargeCall> large_call(const Subject& subject, const kernel::TypeBinding& types, std::int64_t bytes);

struct LargeOutcome {
  std::string refused;
  std::vector<Finding> findings;
  std::int64_t elements = 0;  // that were compared
};

Result<LargeOutcome> run_large(const Subject& subject, const LargeCall& call, const kernel::TypeBinding& types,
                               const device::CompiledSet& kernels, device::Device& device, std::uint64_t seed);

}  // namespace kw::verify
