// Calls where a kernel takes other ways than in small ones: stores past the cache, every core, long indices. The oracle
// knows their answer because their inputs repeat (verify/repeating.h).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "verify/repeating.h"

namespace kw::verify {

// How large a call shall be: of its largest repeating output, at least; and how many elements no tensor may exceed.
struct LargeWish {
  std::int64_t bytes = 0, elements = 0;
  std::int64_t most_elements = 0;
};

// Past the caches of a processor; small enough for every machine.
inline constexpr LargeWish kPastTheCache{36 << 20, 0, 60'000'000};
// More elements than 31 bits count.
inline constexpr LargeWish kPast31Bits{0, (std::int64_t{1} << 31) + 1, std::int64_t{7} << 30};

// Nothing where no axis repeats, or no call is within the limit.
std::optional<RepeatingCall> large_call(const Subject& subject, const kernel::TypeBinding& types,
                                        const LargeWish& wish);

// What run_large takes of the host's memory at most; a GPU takes less.
Result<std::int64_t> bytes_of(const Subject& subject, const RepeatingCall& call, const kernel::TypeBinding& types,
                              const kernel::Machine& machine);

// What this machine can give away now.
std::int64_t available_memory();

struct LargeOutcome {
  std::string refused;
  std::vector<Finding> findings;
  std::int64_t elements = 0;     // that were compared
  std::set<std::string> called;  // symbols of entries
};

Result<LargeOutcome> run_large(const Subject& subject, const RepeatingCall& call, const kernel::TypeBinding& types,
                               const device::CompiledSet& kernels, device::Device& device, std::uint64_t seed);

}  // namespace kw::verify
