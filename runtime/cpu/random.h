// Random numbers by counter: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11). An
// element's number depends on the seed and its own place alone, so any number of threads draws the same.
#pragma once

#include <cstdint>

namespace kw {

// Uniform in [0, 1): the upper 24 bits of the first word of the block that offset + element counts.
inline float random(int64_t seed, int64_t offset, int64_t element) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  const uint64_t block = static_cast<uint64_t>(offset) + static_cast<uint64_t>(element);
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(static_cast<uint64_t>(seed) >> 32);
  uint32_t word0 = static_cast<uint32_t>(block), word1 = static_cast<uint32_t>(block >> 32), word2 = 0, word3 = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * word0, product1 = kMultiplier1 * word2;
    word0 = static_cast<uint32_t>(product1 >> 32) ^ word1 ^ key0;
    word1 = static_cast<uint32_t>(product1);
    word2 = static_cast<uint32_t>(product0 >> 32) ^ word3 ^ key1;
    word3 = static_cast<uint32_t>(product0);
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return static_cast<float>(static_cast<int32_t>(word0 >> 8)) * 0x1p-24f;
}

}  // namespace kw
