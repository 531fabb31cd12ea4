// Plain kernels, as fast as this machine lets anything be: what they reach is the limit that others are measured by.
#include <cstdint>
#include <cstring>

#include "kw/math.h"
#include "kw/stream.h"

namespace {

constexpr int64_t kChunk = 8192;  // floats: of the longer side, so that reading and writing stay mixed

using Lanes = float __attribute__((vector_size(64)));

// Reads n floats with all lanes at once.
inline float sum(const float* in, int64_t n) {
  Lanes parts[4] = {};
  int64_t i = 0;
  for (; i + 64 <= n; i += 64)
    for (int k = 0; k < 4; ++k) {
      Lanes lanes;
      std::memcpy(&lanes, in + i + 16 * k, sizeof lanes);
      parts[k] += lanes;
    }
  float total = 0;
  for (; i < n; ++i) total += in[i];
  const Lanes all = parts[0] + parts[1] + parts[2] + parts[3];
  for (int k = 0; k < 16; ++k) total += all[k];
  return total;
}

inline void write(float* out, int64_t n, float value, bool past_cache) {
  alignas(64) float block[512];
  for (float& element : block) element = value;
  for (int64_t i = 0; i < n; i += 512) {
    const int64_t length = n - i < 512 ? n - i : 512;
    if (past_cache)
      kw::stream_out(out + i, block, length);
    else
      std::memcpy(out + i, block, static_cast<size_t>(length) * sizeof(float));
  }
}

void move(const float* in, float* out, int64_t reads, int64_t writes, bool past_cache) {
  const int64_t longer = reads > writes ? reads : writes, chunks = (longer + kChunk - 1) / kChunk;
#pragma omp parallel for schedule(static)
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t first = reads * chunk / chunks, read = reads * (chunk + 1) / chunks - first;
    const int64_t start = writes * chunk / chunks, written = writes * (chunk + 1) / chunks - start;
    const int64_t both = read < written ? read : written;
    if (past_cache)
      kw::stream_out(out + start, in + first, both);
    else
      std::memcpy(out + start, in + first, static_cast<size_t>(both) * sizeof(float));
    const float total = sum(in + first + both, read - both);
    if (written > both) write(out + start + both, written - both, total, past_cache);
    // What was read must matter, or the compiler reads nothing.
    if (read > both && total == 0x1.8p100f) out[0] = total;
  }
}

}  // namespace

extern "C" {

void plain_move(const float* in, float* out, int64_t reads, int64_t writes) { move(in, out, reads, writes, true); }
void plain_move_cached(const float* in, float* out, int64_t reads, int64_t writes) {
  move(in, out, reads, writes, false);
}

// Reads a buffer larger than the cache, so that nothing of a former call is left in it.
void plain_evict(const float* in, float* out, int64_t reads) {
#pragma omp parallel for schedule(static)
  for (int64_t first = 0; first < reads; first += kChunk) {
    const float total = sum(in + first, reads - first < kChunk ? reads - first : kChunk);
    if (total == 0x1.8p100f) out[0] = total;
  }
}

// Multiplications and additions on registers alone: `rounds` times 128 operations for each of `workers`.
void plain_simple(float* out, int64_t rounds, int64_t workers) {
#pragma omp parallel for schedule(static)
  for (int64_t worker = 0; worker < workers; ++worker) {
    Lanes x[4], factor = {}, term = {};
    factor += 0.999f;
    term += 0.001f;
    for (int k = 0; k < 4; ++k) x[k] = factor * static_cast<float>(k + worker);
    for (int64_t round = 0; round < rounds; ++round)
      for (int k = 0; k < 4; ++k) x[k] = x[k] * factor + term;
    const Lanes all = x[0] + x[1] + x[2] + x[3];
    out[worker] = all[0] + all[7] + all[15];
  }
}

// Exponentials of a block in the first-level cache: `rounds` times 256 of them for each of `workers`.
void plain_special(float* out, int64_t rounds, int64_t workers) {
#pragma omp parallel for schedule(static)
  for (int64_t worker = 0; worker < workers; ++worker) {
    alignas(64) float block[256];
    for (int i = 0; i < 256; ++i) block[i] = static_cast<float>(i + worker) * 0x1p-10f;
    for (int64_t round = 0; round < rounds; ++round) {
#pragma omp simd
      for (int i = 0; i < 256; ++i) block[i] = kw::exp(-block[i]);
    }
    float total = 0;
    for (float element : block) total += element;
    out[worker] = total;
  }
}

}  // extern "C"
