// Philox 4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC11).
//
// Element i of a `Random` node takes word 0 of the block whose counter is offset + i (64 bits, low word first, the
// upper two words zero) under the key seed (64 bits, low word first), and keeps its upper 24 bits: (word >> 8) * 2^-24,
// which f32 holds exactly.
#pragma once

#include <array>
#include <cstdint>

namespace kw::ir {

using PhiloxBlock = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

PhiloxBlock philox_4x32_10(PhiloxBlock counter, PhiloxKey key);
double philox_uniform(uint64_t seed, uint64_t counter);

}  // namespace kw::ir
