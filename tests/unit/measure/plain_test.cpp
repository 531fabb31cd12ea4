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

// The CPU, with a cache that the test chooses.
class WithCache final : public device::Device {
 public:
  WithCache(device::Device& device, std::uint64_t bytes) : device_(device), bytes_(bytes) {}
  kernel::Target target() const override { return device_.target(); }
  std::string name() const override { return device_.name(); }
  kernel::Machine machine() const override { return device_.machine(); }
  std::uint64_t cache_bytes() const override { return bytes_; }
  Status can_run() const override { return device_.can_run(); }
  std::vector<std::string> architectures() const override { return device_.architectures(); }
  Result<device::CompiledSet> compile(const kernel::Manifest& manifest, const device::Sources& sources,
                                      const kernel::TypeBinding& types, const std::string& architecture) override {
    return device_.compile(manifest, sources, types, architecture);
  }
  Result<device::RunOutcome> run(const std::vector<device::Program>& programs, device::Arena& arena,
                                 const device::RunOptions& options) override {
    evicted = options.timing && options.timing->before;
    return device_.run(programs, arena, options);
  }
  bool evicted = false;  // before the samples of the last run

 private:
  device::Device& device_;
  std::uint64_t bytes_;
};

// plain_evict tells of one number alone: that it has read it.
TEST_F(PlainTest, EvictionReadsABufferOfTwiceTheLastLevelCacheToItsEnds) {
  constexpr float kTold = 0x1.8p100f;
  constexpr size_t kCache = 3 << 20, kFloats = 2 * kCache / sizeof(float);
  WithCache device(*device_, kCache);
  const auto plain = Plain::make(device);
  ASSERT_TRUE(plain) << render(plain.error());
  device::Arena arena;
  ASSERT_TRUE(plain->add_buffers(arena, {}));  // of a pass that moves nothing
  ASSERT_TRUE(arena.allocate());
  ASSERT_GE(arena.bytes("plain_in").size(), 2 * kCache);
  const auto evict = plain->evict(arena);
  ASSERT_TRUE(evict) << render(evict.error());
  const auto reads = [&](size_t index) {
    arena.poison("plain_in", 0);
    arena.poison("plain_out", 0);
    std::memcpy(arena.bytes("plain_in").data() + index * sizeof kTold, &kTold, sizeof kTold);
    const auto outcome = device.run({*evict}, arena, {});
    EXPECT_TRUE(outcome && !outcome->fault);
    float told = 0;
    std::memcpy(&told, arena.bytes("plain_out").data(), sizeof told);
    return told == kTold;
  };
  for (size_t index : {size_t{0}, size_t{1}, kFloats / 3, kFloats / 2, kFloats - 17, kFloats - 1})
    EXPECT_TRUE(reads(index)) << index;
  EXPECT_FALSE(reads(kFloats)) << "it reads more than it should";
}

TEST_F(PlainTest, TheCacheIsEvictedBeforeTheSamplesOfAShare) {
  WithCache device(*device_, 1 << 16);
  const auto plain = Plain::make(device);
  ASSERT_TRUE(plain) << render(plain.error());
  Work work;
  work.read_bytes = work.written_bytes = 1 << 12;
  device::Arena arena;
  ASSERT_TRUE(plain->add_buffers(arena, work));
  ASSERT_TRUE(arena.allocate());
  const auto movers = plain->movers(arena, work);
  ASSERT_TRUE(movers) << render(movers.error());
  StopRule quick;
  quick.budget = std::chrono::milliseconds(20);
  const auto share = share_of(device, *plain, {}, movers->at(0), arena, work, {.stop = quick});
  ASSERT_TRUE(share) << share.error().message;
  EXPECT_TRUE(device.evicted);
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
  const auto share = share_of(*device_, movers, {1e30, 1e30}, programs->at(0), arena, work, {.stop = quick});
  ASSERT_TRUE(share) << share.error().message;
  EXPECT_TRUE(share->memory_bound());
  EXPECT_LE(share->share(), 1);
  EXPECT_GT(share->share(), 0);
  work.simple = 1e9;
  const auto busy = share_of(*device_, movers, {1, 1}, programs->at(0), arena, work, {.stop = quick});
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
  const auto& slots = std::get<device::KernelCall>(evict->calls.at(0)).slots;
  ASSERT_EQ(slots.size(), 3u);
  const std::uint64_t vectors = 2 * (*device)->cache_bytes() / 16;
  EXPECT_EQ(std::get<device::BitsSlot>(slots[2]).bits, vectors) << "twice the last level of the cache";
}

}  // namespace
}  // namespace kw::measure
