// Kernels with one mistake each, all over x and y of n floats.
#include "kw/math.h"
#include "kw/memory.h"
#include "kw/reduction.h"

using Four = kw::Vector<float, 4>;
#define KERNEL(name) KW_KERNEL(128, 1) void name(const float* x, float* y, int64_t n)

// Thread 0 reads what the others wrote; nobody waited.
KERNEL(read_without_barrier) {
  KW_SHARED(float, values, 128);
  values[kw::thread()] = 0;
  kw::barrier();
  values[kw::thread()] = kw::load(x + kw::thread());
  kw::store(y + kw::thread(), float(values[127 - kw::thread()]));
}
// Two threads write one element.
KERNEL(write_without_barrier) {
  KW_SHARED(float, values, 128);
  values[kw::thread() / 2] = 1;
  kw::barrier();
  kw::store(y + kw::thread(), float(values[kw::thread() / 2]));
}
// The next round overwrites what another thread still reads.
KERNEL(write_after_read_without_barrier) {
  KW_SHARED(float, values, 128);
  float sum = 0;
  for (int round = 0; round < 2; ++round) {
    values[kw::thread()] = kw::load(x + kw::thread());
    kw::barrier();
    sum += values[127 - kw::thread()];
  }
  kw::store(y + kw::thread(), sum);
}
// A warp's barrier does not order another warp.
KERNEL(barrier_of_the_warp_alone) {
  KW_SHARED(float, values, 128);
  values[kw::thread()] = 0;
  kw::barrier();
  values[kw::thread()] = kw::load(x + kw::thread());
  kw::warp_barrier();
  kw::store(y + kw::thread(), float(values[127 - kw::thread()]));
}
// A shuffle orders no memory.
KERNEL(shuffle_as_barrier) {
  KW_SHARED(float, values, 128);
  values[kw::thread()] = kw::load(x + kw::thread());
  const float ignored = kw::shuffle_xor(1.0f, 1);
  kw::store(y + kw::thread(), float(values[kw::thread() ^ 1]) * ignored);
}
// Only part of the block comes to the barrier.
KERNEL(barrier_in_a_branch) {
  if (kw::thread() < 48) kw::barrier();
  kw::store(y + kw::thread(), 1.0f);
}
// Both parts come to a barrier, but not to the same one.
KERNEL(two_barriers) {
  if (kw::thread() < 64) {
    kw::barrier();
  } else {
    kw::barrier();
  }
  kw::store(y + kw::thread(), 1.0f);
}
// Threads past the end are gone before the others meet.
KERNEL(early_return) {
  KW_SHARED(float, values, 128);
  if (kw::thread() >= n - 5) return;
  values[kw::thread()] = kw::load(x + kw::thread());
  kw::barrier();
  kw::store(y + kw::thread(), float(values[kw::thread()]));
}
// Half a warp shuffles.
KERNEL(shuffle_in_a_branch) {
  float value = kw::load(x + kw::thread());
  if (kw::lane() < 16) value += kw::shuffle_xor(value, 1);
  kw::store(y + kw::thread(), value);
}
// A lane leaves its warp's reduction early.
KERNEL(lane_left) {
  float value = kw::load(x + kw::thread());
  if (kw::thread() == 77) {
    kw::store(y + kw::thread(), 0.0f);
    return;
  }
  value = kw::warp_sum(value);
  kw::store(y + kw::thread(), value);
}
// Each block writes the same place.
KERNEL(blocks_write_one_place) { kw::store(y + kw::thread(), 1.0f); }
// A block reads what another block writes.
KERNEL(blocks_read_each_other) {
  const int i = kw::block() * kw::threads() + kw::thread();
  kw::store(y + i, kw::load(x + i));
  if (kw::block() == 0) kw::store(y + i, kw::load(y + i) + kw::load(y + (i + kw::threads()) % n));
}
// A plain write beside atomic ones.
KERNEL(atomic_beside_plain) {
  if (kw::thread() == 5) {
    kw::store(y, 0.0f);
  } else {
    kw::add_atomically(y, 1.0f);
  }
}
KERNEL(reads_past_the_end) {
  const int i = kw::block() * kw::threads() + kw::thread();
  kw::store(y + i, kw::load(x + i) + kw::load(x + i + 1));
}
KERNEL(vector_past_the_end) {
  const int i = kw::block() * kw::threads() + kw::thread();
  const auto four = kw::load_vector<4>(x + i / 4 * 4 + (i == n - 1 ? 2 : 0));
  kw::store(y + i, four[0]);
}
KERNEL(reads_before_the_start) {
  const int i = kw::block() * kw::threads() + kw::thread();
  kw::store(y + i, kw::load(x + i - 1));
}
KERNEL(writes_past_the_end) {
  const int i = kw::block() * kw::threads() + kw::thread();
  kw::store(y + i + (i == n - 1 ? 1 : 0), kw::load(x + i));
}
KERNEL(writes_to_its_input) {
  const int i = kw::block() * kw::threads() + kw::thread();
  kw::store(const_cast<float*>(x) + i, 1.0f);
}
KERNEL(misaligned_vector) {
  const int i = kw::block() * kw::threads() + kw::thread();
  if (i + 5 < n) {
    const auto two = kw::load_vector<2>(x + i);
    kw::store(y + i, two[0] + two[1]);
  }
}
KERNEL(misaligned_store) {
  const int i = kw::block() * kw::threads() + kw::thread();
  if (i == 0) kw::store_vector(y + 2, kw::Vector<float, 4>{{1, 2, 3, 4}});
}
// The last warp has not written its part.
KERNEL(uninitialised_shared) {
  KW_SHARED(float, values, 128);
  if (kw::warp() < 3) values[kw::thread()] = 1;
  kw::barrier();
  kw::store(y + kw::thread(), float(values[kw::thread()]));
}
KERNEL(uninitialised_dynamic_shared) {
  const auto values = kw::dynamic_shared<float>();
  if (kw::thread() != 9) values[kw::thread()] = 1;
  kw::barrier();
  kw::store(y + kw::thread(), float(values[kw::thread()]));
}
KERNEL(reads_its_output) {
  const int i = kw::block() * kw::threads() + kw::thread();
  kw::store(y + i, kw::load(y + i) + kw::load(x + i));
}
KERNEL(unwritten_tail) {
  const int i = kw::block() * kw::threads() + kw::thread();
  if (i < n - 3) kw::store(y + i, kw::load(x + i));
}
KERNEL(dynamic_shared_too_small) {
  const auto values = kw::dynamic_shared<float>();
  values[kw::thread()] = kw::load(x + kw::thread());
  kw::barrier();
  kw::store(y + kw::thread(), float(values[kw::thread()]));
}
KERNEL(static_shared_too_small) {
  KW_SHARED(float, few, 100);
  KW_SHARED(float, others, 128);
  others[kw::thread()] = 0;
  few[kw::thread()] = kw::load(x + kw::thread());
  kw::store(y + kw::thread(), float(few[kw::thread()]));
}
// The copy may not have landed yet.
KERNEL(copy_without_wait) {
  KW_SHARED(Four, values, 32);
  if (kw::thread() < 32) {
    kw::copy_async(values + kw::thread(), x + 4 * kw::thread());
    kw::copy_commit();
  }
  kw::barrier();
  kw::store(y + kw::thread(), kw::Vector<float, 4>(values[kw::thread() / 4])[0]);
}
// The wait leaves one group in flight: the one that is needed.
KERNEL(copy_waits_for_too_few) {
  KW_SHARED(Four, values, 64);
  if (kw::thread() < 32) {
    kw::copy_async(values + kw::thread(), x + 4 * kw::thread());
    kw::copy_commit();
    kw::copy_async(values + (32 + kw::thread()), x + 4 * kw::thread());
    kw::copy_commit();
    kw::copy_wait<1>();
  }
  kw::barrier();
  kw::store(y + kw::thread(), kw::Vector<float, 4>(values[32 + kw::thread() / 4])[0]);
}
// It is waited for, but only by the thread that began it.
KERNEL(copy_without_barrier) {
  KW_SHARED(Four, values, 128);
  values[kw::thread()] = Four{{0, 0, 0, 0}};
  kw::barrier();
  kw::copy_async(values + kw::thread(), x + 4 * (kw::thread() % 32));
  kw::copy_commit();
  kw::copy_wait<0>();
  kw::store(y + kw::thread(), kw::Vector<float, 4>(values[127 - kw::thread()])[0]);
}
// By every rule of memory right, but the last bits depend on who comes first.
KERNEL(order_decides) { kw::add_atomically(y, 1 / (kw::load(x + kw::thread()) + 15.5f)); }
// A local array is one too short.
KERNEL(local_array_too_small) {
  float values[4] = {0, 0, 0, 0};
  for (int i = 0; i <= n / 32; ++i) values[i] += kw::load(x + i);
  kw::store(y + kw::thread(), values[kw::thread() % 4]);
}
KERNEL(number_overflows) {
  const int big = static_cast<int>(n) << 23;
  kw::store(y + kw::thread(), static_cast<float>(big + big));
}
KERNEL(too_much_static_shared) {
  KW_SHARED(float, far_too_many, 1 << 20);
  far_too_many[kw::thread()] = 0;
}
KERNEL(never_ends) {
  KW_SHARED(int, flag, 1);
  if (kw::thread() == 0) flag[0] = 0;
  kw::barrier();
  while (flag[0] == 0) {
  }
}
