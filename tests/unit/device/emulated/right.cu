// Kernels of each family as a person would write them, all right. x has rows * cols elements.
#include "kw/math.h"
#include "kw/memory.h"
#include "kw/reduction.h"
#include "kw/tensor.h"

using T = KW_T;
using W = kw::wide<T>;

// y = 2x + 1, four neighbours at a time, and what is left over one by one.
KW_KERNEL(256, 1) void pointwise(const T* x, T* y, int64_t rows, int64_t cols) {
  const int64_t n = rows * cols;
  const int64_t first = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  const int64_t step = static_cast<int64_t>(kw::blocks()) * kw::threads();
  for (int64_t i = first; i < n / 4; i += step) {
    const auto in = kw::load_vector_once<4>(x + 4 * i);
    kw::Vector<T, 4> out;
    KW_UNROLL
    for (int j = 0; j < 4; ++j) out[j] = T(2 * W(in[j]) + 1);
    kw::store_vector_streaming(y + 4 * i, out);
  }
  for (int64_t i = n / 4 * 4 + first; i < n; i += step) kw::store(y + i, T(2 * W(kw::load(x + i)) + 1));
}

// y = x - mean(x), a block for each row, which is read twice.
KW_KERNEL(256, 1) void row(const T* x, T* y, int64_t rows, int64_t cols) {
  KW_SHARED(W, parts, 2 * kw::kMostWarps);
  int turn = 0;
  for (int64_t r = kw::block(); r < rows; r += kw::blocks()) {
    W sum = 0;
    for (int64_t c = kw::thread(); c < cols; c += kw::threads()) sum += W(kw::load(x + r * cols + c));
    kw::block_reduce(turn, kw::part<kw::Sum>(sum, parts));
    turn ^= 1;
    for (int64_t c = kw::thread(); c < cols; c += kw::threads())
      kw::store(y + r * cols + c, T(W(kw::load(x + r * cols + c)) - sum / W(cols)));
  }
}

// The same with the row in shared memory, fetched by copies that run beside the kernel.
KW_KERNEL(256, 1) void row_copied(const T* x, T* y, int64_t rows, int64_t cols) {
  KW_SHARED(W, parts, 2 * kw::kMostWarps);
  const auto kept = kw::dynamic_shared<kw::Vector<T, 4>>();
  const auto kept_ones = kw::dynamic_shared<T>();
  for (int64_t r = kw::block(); r < rows; r += kw::blocks()) {
    for (int64_t c = kw::thread(); c < cols / 4; c += kw::threads())
      kw::copy_async(kept + c, x + r * cols + 4 * c);
    kw::copy_commit();
    kw::copy_wait<0>();
    kw::barrier();
    W sum = 0;
    for (int64_t c = kw::thread(); c < cols; c += kw::threads()) sum += W(T(kept_ones[c]));
    kw::block_reduce(0, kw::part<kw::Sum>(sum, parts));
    for (int64_t c = kw::thread(); c < cols; c += kw::threads())
      kw::store(y + r * cols + c, T(W(T(kept_ones[c])) - sum / W(cols)));
    kw::barrier();  // the next row overwrites this one
  }
}

// A warp for each row: nothing but shuffles.
KW_KERNEL(256, 1) void row_by_warps(const T* x, T* y, int64_t rows, int64_t cols) {
  for (int64_t r = static_cast<int64_t>(kw::block()) * kw::warps() + kw::warp(); r < rows;
       r += static_cast<int64_t>(kw::blocks()) * kw::warps()) {
    W sum = 0;
    for (int64_t c = kw::lane(); c < cols; c += 32) sum += W(kw::load(x + r * cols + c));
    sum = kw::warp_sum(sum);
    for (int64_t c = kw::lane(); c < cols; c += 32)
      kw::store(y + r * cols + c, T(W(kw::load(x + r * cols + c)) - sum / W(cols)));
  }
}

// Sums of columns in two stages: each block its rows, then one thread for each column.
KW_KERNEL(256, 1) void column_first(const T* x, W* partial, int64_t rows, int64_t cols) {
  for (int64_t c = kw::thread(); c < cols; c += kw::threads()) {
    W sum = 0;
    for (int64_t r = kw::block(); r < rows; r += kw::blocks()) sum += W(kw::load(x + r * cols + c));
    kw::store(partial + kw::block() * cols + c, sum);
  }
}
KW_KERNEL(256, 1) void column_second(const W* partial, T* y, int64_t parts, int64_t cols) {
  for (int64_t c = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread(); c < cols;
       c += static_cast<int64_t>(kw::blocks()) * kw::threads()) {
    W sum = 0;
    for (int64_t p = 0; p < parts; ++p) sum += kw::load(partial + p * cols + c);
    kw::store(y + c, T(sum));
  }
}

// The sum of everything, by one block.
KW_KERNEL(256, 1) void whole(const T* x, T* y, int64_t rows, int64_t cols) {
  KW_SHARED(W, parts, 2 * kw::kMostWarps);
  KW_SHARED(W, greatest, 2 * kw::kMostWarps);
  W sum = 0, most = kw::Least();
  for (int64_t i = kw::thread(); i < rows * cols; i += kw::threads()) {
    const W value = W(kw::load(x + i));
    sum += value;
    most = kw::maximum(most, value);
  }
  kw::block_reduce(1, kw::part<kw::Sum>(sum, parts), kw::part<kw::Maximum>(most, greatest));
  if (kw::thread() == 0) {
    kw::store(y, T(sum));
    kw::store(y + 1, T(most));
  }
}

// Lanes hand values on through shared memory, with no barrier but their warp's.
KW_KERNEL(256, 1) void handed_on(const T* x, T* y, int64_t rows, int64_t cols) {
  KW_SHARED(T, slots, 256);
  for (int64_t i = kw::thread(); i < rows * cols; i += kw::threads()) {
    slots[kw::thread()] = kw::load(x + i);
    kw::warp_barrier();
    const T next = slots[kw::thread() ^ 1];
    kw::warp_barrier();
    kw::store(y + i, next);
  }
}

// What is lost of a square that is rounded: nothing where it is part of a multiply-add, and then that is the result.
KW_KERNEL(256, 1) void lost_of_square(const T* x, T* y, int64_t rows, int64_t cols) {
  for (int64_t i = kw::thread(); i < rows * cols; i += kw::threads()) {
    const float value = kw::load(x + i);
    kw::store(y + i, T(value * value - __fmul_rn(value, value)));
  }
}
