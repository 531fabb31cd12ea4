// Who runs: the threads of a kernel, their indices, what they share and how they wait for each other. Together with
// memory.h these are the primitives that the emulation has twins of, in headers of the same names: generated code
// reaches memory other than its own variables, and other threads, through nothing else. Blocks and grids have one
// dimension.
//
//   KW_KERNEL(256, 2) void rms_norm_forward(const T* x, …)   a kernel of at most 256 threads a block, of which 2 blocks
//                                                            shall fit on a multiprocessor
//   KW_SHARED(float, parts, 32);                             a shared array, for the whole block
#pragma once

#ifdef __CUDACC_RTC__
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using size_t = unsigned long;
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#else
#include <cmath>
#include <cstdint>
#endif

#define KW_KERNEL(max_threads, min_blocks) extern "C" __global__ __launch_bounds__(max_threads, min_blocks)
#define KW_DEVICE __device__ __forceinline__
#define KW_SHARED(type, name, count) __shared__ type name[count]
#define KW_UNROLL _Pragma("unroll")
#define KW_ROLLED _Pragma("unroll 1")  // a loop that runs once for a block: compilers would write it four times

namespace kw {

KW_DEVICE int thread() { return static_cast<int>(threadIdx.x); }
KW_DEVICE int threads() { return static_cast<int>(blockDim.x); }
KW_DEVICE int lane() { return static_cast<int>(threadIdx.x % 32); }
KW_DEVICE int warp() { return static_cast<int>(threadIdx.x / 32); }
KW_DEVICE int warps() { return static_cast<int>(blockDim.x / 32); }
KW_DEVICE int block() { return static_cast<int>(blockIdx.x); }
KW_DEVICE int blocks() { return static_cast<int>(gridDim.x); }

// The same number, of which the compiler knows nothing: what follows from it is computed anew instead of being kept in
// registers. For sm_90 the compiler weighs that well enough by itself.
template <class Index>
KW_DEVICE Index anew(Index number) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
  if constexpr (sizeof(Index) == 8)
    asm volatile("" : "+l"(number));
  else
    asm volatile("" : "+r"(number));
#endif
  return number;
}
// Likewise for the lane of a thread in its row. kFull: the whole block has the row, and few registers beside it. For
// sm_90 not even the lane is kept there: it is read again.
template <bool kFull, class Index>
KW_DEVICE Index lane_anew(Index lane) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
  if constexpr (kFull) {
    int again;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(again));
    return again;
  }
#endif
  return anew(lane);
}

// An array that all threads of a block see: elements by [], a further one by +.
template <class T>
using Shared = T*;

// The shared memory that the launch asked for, which is aligned to 16 bytes; `bytes` is where in it the array begins.
template <class T>
KW_DEVICE Shared<T> dynamic_shared(int bytes = 0) {
  extern __shared__ __align__(16) unsigned char kw_dynamic_shared[];
  return reinterpret_cast<T*>(kw_dynamic_shared + bytes);
}
KW_DEVICE int dynamic_bytes() {
  int bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}

// Every thread of the block waits for all others; what they wrote before is then seen.
KW_DEVICE void barrier() { __syncthreads(); }
// Likewise for the threads of a warp.
KW_DEVICE void warp_barrier() { __syncwarp(); }

// The value of the lane whose number differs by the bits of `mask`, or is greater by `distance`. All 32 lanes of the
// warp take part.
template <class T>
KW_DEVICE T shuffle_xor(T value, int mask) {
  if constexpr (sizeof(T) < 4) {
    return static_cast<T>(__shfl_xor_sync(0xffffffffu, static_cast<int>(value), mask));
  } else {
    return __shfl_xor_sync(0xffffffffu, value, mask);
  }
}
template <class T>
KW_DEVICE T shuffle_down(T value, int distance) {
  if constexpr (sizeof(T) < 4) {
    return static_cast<T>(__shfl_down_sync(0xffffffffu, static_cast<int>(value), distance));
  } else {
    return __shfl_down_sync(0xffffffffu, value, distance);
  }
}

}  // namespace kw
