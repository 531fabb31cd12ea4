// The plain kernels do what the limit rests on: they read and write every byte that they are asked to.
#include "measure/plain.h"

#include <gtest/gtest.h>

#include <cstring>

#include "measure/share.h"

namespace kw::measure {
namespace {

class PlainTest : public ::testing::Test {
 protected:
  PlainTest() {
    auto opened = device::open_device(kernel::Target::Cpu);
    if (!opened) throw std::runtime_error(opened.error().message);
    device_ = std::move(*opened);
  }
  Plain plain() {
    auto made = Plain::make(*device_);
    if (!made) throw std::runtime_error(render(made.error()));
    return *made;
  }
  std::unique_ptr<device::Device> device_;
};

TEST_F(PlainTest, MoversWriteEveryByteInAnyRatio) {
  const Plain movers = plain();
  const std::pair<double, double> ratios[] = {{40000, 40000}, {120000, 40000}, {40000, 120000}, {80004, 4}};
  for (const auto& [read, written] : ratios) {
    Work work;
    work.read_bytes = read;
    work.written_bytes = written;
    device::Arena arena;
    ASSERT_TRUE(movers.add_buffers(arena, work));
    ASSERT_TRUE(arena.allocate());
    auto programs = movers.movers(arena, work);
    ASSERT_TRUE(programs) << programs.error().message;
    ASSERT_EQ(programs->size(), 2u);
    for (const device::Program& program : *programs) {
      auto in = arena.bytes("plain_in");
      for (size_t i = 0; i < in.size() / 4; ++i) {
        const float value = static_cast<float>(1 + i % 7);
        std::memcpy(in.data() + 4 * i, &value, 4);
      }
      arena.poison("plain_out", 0xFF);
      auto outcome = device_->run({program}, arena);
      ASSERT_TRUE(outcome) << outcome.error().message;
      ASSERT_FALSE(outcome->fault) << outcome->fault->message;
      auto out = arena.bytes("plain_out");
      for (size_t i = 0; i < static_cast<size_t>(written) / 4; ++i) {
        float value = 0;
        std::memcpy(&value, out.data() + 4 * i, 4);
        ASSERT_EQ(value, value) << "float " << i << " of " << written / 4 << " was not written";
      }
      EXPECT_EQ(static_cast<int>(out[static_cast<size_t>(written)]), 0xFF) << "more was written than asked for";
    }
  }
}

TEST_F(PlainTest, RatesAreMeasured) {
  const auto rates = plain().rates();
  ASSERT_TRUE(rates) << rates.error().message;
  EXPECT_GT(rates->simple, 0);
  EXPECT_GT(rates->special, 0);
}

TEST_F(PlainTest, AShareIsOneAtMostAndItsLimitTheLargerOfMemoryAndOperations) {
  const Plain movers = plain();
  Work work;
  work.read_bytes = work.written_bytes = 1 << 20;
  device::Arena arena;
  ASSERT_TRUE(movers.add_buffers(arena, work));
  ASSERT_TRUE(arena.allocate());
  auto programs = movers.movers(arena, work);
  ASSERT_TRUE(programs);
  StopRule quick;
  quick.budget = std::chrono::milliseconds(100);
  const auto share = share_of(*device_, movers, {1e30, 1e30}, programs->at(0), arena, work, quick);
  ASSERT_TRUE(share) << share.error().message;
  EXPECT_TRUE(share->memory_bound());
  EXPECT_LE(share->share(), 1);
  EXPECT_GT(share->share(), 0);
  work.simple = 1e9;
  const auto busy = share_of(*device_, movers, {1, 1}, programs->at(0), arena, work, quick);
  ASSERT_TRUE(busy) << busy.error().message;
  EXPECT_FALSE(busy->memory_bound());
  EXPECT_EQ(busy->limit(), 1e9);
}

TEST(PlainCudaTest, TheKernelsOfAGpuCompile) {
  auto device = device::open_device(kernel::Target::Cuda);
  ASSERT_TRUE(device) << device.error().message;
  auto plain = Plain::make(**device);
  ASSERT_TRUE(plain) << render(plain.error());
  Work work;
  work.read_bytes = work.written_bytes = 1 << 20;
  device::Arena arena;
  ASSERT_TRUE(plain->add_buffers(arena, work));
  ASSERT_TRUE(arena.allocate());
  const auto movers = plain->movers(arena, work);
  ASSERT_TRUE(movers) << render(movers.error());
  EXPECT_EQ(movers->size(), 2u);
  const auto evict = plain->evict(arena);
  ASSERT_TRUE(evict) << render(evict.error());
}

}  // namespace
}  // namespace kw::measure
