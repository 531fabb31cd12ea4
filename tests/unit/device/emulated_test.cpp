// Emulated launches: right kernels compute what they should in every order of threads, and each kind of mistake is
// named, with the lines that make it.
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <set>

#include "emulated_case.h"

namespace kw::device {
namespace {

using kernel::DType;

std::vector<float> numbers(std::int64_t n) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>((i * 37 + 11) % 29) - 14);  // exact in every type
  return x;
}

struct Right {
  std::string name;
  std::vector<EmulatedKernel> kernels;
  std::vector<float> (*expected)(const std::vector<float>& x, std::int64_t rows);
};

std::vector<float> twice_plus_one(const std::vector<float>& x, std::int64_t) {
  std::vector<float> y;
  for (const float value : x) y.push_back(2 * value + 1);
  return y;
}
std::vector<float> centred(const std::vector<float>& x, std::int64_t rows) {
  std::vector<float> y;
  const std::size_t cols = x.size() / static_cast<std::size_t>(rows);
  for (std::size_t first = 0; first < x.size(); first += cols) {
    float sum = 0;
    for (std::size_t c = 0; c < cols; ++c) sum += x[first + c];
    for (std::size_t c = 0; c < cols; ++c) y.push_back(x[first + c] - sum / static_cast<float>(cols));
  }
  return y;
}
std::vector<float> column_sums(const std::vector<float>& x, std::int64_t rows) {
  std::vector<float> y(x.size() / static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < x.size(); ++i) y[i % y.size()] += x[i];
  return y;
}
std::vector<float> sum_and_greatest(const std::vector<float>& x, std::int64_t) {
  float sum = 0, most = -INFINITY;
  for (const float value : x) {
    sum += value;
    most = std::max(most, value);
  }
  return {sum, most};
}
std::vector<float> swapped(const std::vector<float>& x, std::int64_t) {
  std::vector<float> y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(x[i ^ 1]);
  return y;
}

const Right kRight[] = {
    {"Pointwise", {{"pointwise", "2", "64"}}, twice_plus_one},
    {"Row", {{"row", "2", "96"}}, centred},
    {"RowOfOneWarp", {{"row", "3", "32"}}, centred},
    {"RowCopied", {{"row_copied", "2", "64", "4*n"}}, centred},
    {"RowByWarps", {{"row_by_warps", "1", "64"}}, centred},
    {"Column", {{"column_first", "3", "64"}, {"column_second", "2", "32"}}, column_sums},
    {"Whole", {{"whole", "1", "256"}}, sum_and_greatest},
    {"HandedOn", {{"handed_on", "1", "64"}}, swapped},
};

class RightKernels : public ::testing::TestWithParam<Right> {};

TEST_P(RightKernels, ComputeTheSameInEveryOrder) {
  const Right& right = GetParam();
  // Seven rows of 128: sums of such numbers and their 128th parts are exact.
  for (const DType dtype : {DType::F32, DType::F64, DType::F16}) {
    if (right.name == "HandedOn" && dtype == DType::F64) continue;
    EmulatedOptions options;
    options.dtype = dtype;
    options.rows = 7;
    const std::vector<float> x = numbers(7 * 128), expected = right.expected(x, 7);
    for (options.seed = 1; options.seed <= 5; ++options.seed) {
      const auto run = run_emulated("right.cu", right.kernels, x, static_cast<std::int64_t>(expected.size()), options);
      ASSERT_FALSE(run.fault) << run.fault->message;
      ASSERT_EQ(run.y.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(run.y[i], expected[i], dtype == DType::F16 ? 0.02 : 0) << i << ", seed " << options.seed;
      EXPECT_LT(run.seconds, 2.0);
    }
  }
}

TEST_P(RightKernels, RunUnderTheSanitizers) {
  const Right& right = GetParam();
  EmulatedOptions options;
  options.sanitize = true;
  options.rows = 7;
  const std::vector<float> x = numbers(7 * 128), expected = right.expected(x, 7);
  const auto run = run_emulated("right.cu", right.kernels, x, static_cast<std::int64_t>(expected.size()), options);
  ASSERT_FALSE(run.fault) << run.fault->message << run.output;
  EXPECT_EQ(run.y, expected);
}

INSTANTIATE_TEST_SUITE_P(Families, RightKernels, ::testing::ValuesIn(kRight),
                         [](const auto& info) { return info.param.name; });

struct Wrong {
  EmulatedKernel kernel;
  std::string message;
  bool fill_y = false;
};

const Wrong kWrong[] = {
    {{"read_without_barrier"},
     "read_without_barrier: race between threads: thread # of block # writes byte # of values at wrong.cu:14, which "
     "thread # read at wrong.cu:15: no barrier lies between"},
    {{"write_without_barrier"},
     "write_without_barrier: race between threads: thread # of block # writes byte # of values at wrong.cu:20, which "
     "thread # wrote at wrong.cu:20: no barrier lies between"},
    {{"write_after_read_without_barrier"},
     "write_after_read_without_barrier: race between threads: thread # of block # reads byte # of values at "
     "wrong.cu:31, which thread # wrote at wrong.cu:29: no barrier lies between"},
    {{"barrier_of_the_warp_alone"},
     "barrier_of_the_warp_alone: race between threads: thread # of block # reads byte # of values at wrong.cu:42, "
     "which thread # wrote at wrong.cu:40: no barrier lies between"},
    {{"shuffle_as_barrier"},
     "shuffle_as_barrier: race between threads: thread # of block # reads byte # of values at wrong.cu:49, which "
     "thread # wrote at wrong.cu:47: no barrier lies between"},
    {{"barrier_in_a_branch"},
     "barrier_in_a_branch: divergent barrier: the barrier at wrong.cu:53 has threads 0-47 of block 0, but not threads "
     "48-127: thread 48 has ended"},
    {{"two_barriers"},
     "two_barriers: divergent barrier: the barrier at wrong.cu:59 has threads 0-63 of block 0, but not threads 64-127: "
     "thread 64 waits at the barrier at wrong.cu:61"},
    {{"early_return"},
     "early_return: divergent barrier: the barrier at wrong.cu:70 has threads 0-122 of block 0, but not threads "
     "123-127: thread 123 has ended"},
    {{"shuffle_in_a_branch"},
     "shuffle_in_a_branch: missing lane: the shuffle at wrong.cu:76 has threads 0-15 of block 0, but not threads 16-31 "
     "of the same warp: thread 16 has ended"},
    {{"lane_left"},
     "lane_left: missing lane: the shuffle at reduction.h:# has threads 64-76, 78-95 of block 0, but not thread 77 "
     "of the same warp: thread 77 has ended"},
    {{"blocks_write_one_place", "2"},
     "blocks_write_one_place: race between blocks: thread # of block # writes byte # of y at wrong.cu:90, which thread "
     "# of block # wrote at wrong.cu:90: nothing orders the blocks of a launch"},
    {{"blocks_read_each_other", "2", "64"},
     "blocks_read_each_other: race between blocks: thread # of block # writes byte # of y at wrong.cu:94, which thread "
     "# of block # read at wrong.cu:95: nothing orders the blocks of a launch",
     true},
    {{"atomic_beside_plain"},
     "atomic_beside_plain: race between threads: thread # of block # writes byte # of y at wrong.cu:100, which thread "
     "# updated at wrong.cu:102: no barrier lies between",
     true},
    {{"reads_past_the_end"},
     "reads_past_the_end: out of bounds: thread 127 of block 0 reads 1 byte past the end of x at wrong.cu:107"},
    {{"vector_past_the_end"},
     "vector_past_the_end: out of bounds: thread 127 of block 0 reads 1 byte past the end of x at wrong.cu:111"},
    {{"reads_before_the_start", "2", "64"},
     "reads_before_the_start: out of bounds: thread 0 of block 0 reads 4 bytes before the start of x at wrong.cu:116"},
    {{"writes_past_the_end"},
     "writes_past_the_end: out of bounds: thread 127 of block 0 writes 1 byte past the end of y at wrong.cu:120"},
    {{"writes_to_its_input"},
     "writes_to_its_input: write to an input: thread # of block # writes byte # of x at wrong.cu:124"},
    {{"misaligned_vector"},
     "misaligned_vector: misaligned access: thread # of block # reads 8 bytes as one at byte # of x at wrong.cu:129, "
     "an address that 8 does not divide"},
    {{"misaligned_store"},
     "misaligned_store: misaligned access: thread 0 of block 0 writes 16 bytes as one at byte 8 of y at wrong.cu:135, "
     "an address that 16 does not divide"},
    {{"uninitialised_shared"},
     "uninitialised_shared: uninitialised read: thread # of block # reads byte # of values at wrong.cu:142, which "
     "nothing wrote before"},
    {{"uninitialised_dynamic_shared", "1", "128", "512"},
     "uninitialised_dynamic_shared: uninitialised read: thread 9 of block 0 reads byte 36 of dynamic shared memory at "
     "wrong.cu:148, which nothing wrote before"},
    {{"reads_its_output"},
     "reads_its_output: uninitialised read: thread # of block # reads byte # of y at wrong.cu:152, which nothing wrote "
     "before"},
    {{"unwritten_tail"}, "unwritten output: 3 of 128 elements of y were never written, the first at [125]"},
    {{"dynamic_shared_too_small", "1", "128", "400"},
     "dynamic_shared_too_small: out of bounds: thread # of block # writes # bytes past the end of dynamic shared "
     "memory (of 400 bytes) at wrong.cu:160"},
    {{"static_shared_too_small"},
     "static_shared_too_small: out of bounds: thread # of block # writes # bytes past the end of few (of 400 bytes) at "
     "wrong.cu:168"},
    {{"copy_without_wait"},
     "copy_without_wait: copy not waited for: thread # of block # reads byte # of values at wrong.cu:179, to where a "
     "copy is under way"},
    {{"copy_waits_for_too_few"},
     "copy_waits_for_too_few: copy not waited for: thread # of block # reads byte # of values at wrong.cu:192, to "
     "where a copy is under way"},
    {{"copy_without_barrier"},
     "copy_without_barrier: race between threads: thread # of block # writes byte # of values at wrong.cu:199, which "
     "thread # read at wrong.cu:202: no barrier lies between"},
    {{"too_much_static_shared"},
     "too_much_static_shared: too much shared memory: there is no room for the shared array far_too_many of 4194304 "
     "bytes"},
};

// Numbers that the order of threads decides stand as # in what is expected.
bool matches(const std::string& text, const std::string& expected) {
  std::size_t at = 0;
  for (const char wanted : expected) {
    if (wanted == '#') {
      const std::size_t first = at;
      while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
      if (at == first) return false;
    } else if (at >= text.size() || text[at++] != wanted) {
      return false;
    }
  }
  return at == text.size();
}

class WrongKernels : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongKernels, AreNamedWithTheLinesThatMakeThemWrong) {
  const Wrong& wrong = GetParam();
  EmulatedOptions options;
  options.fill_y = wrong.fill_y;
  const auto run = run_emulated("wrong.cu", {wrong.kernel}, numbers(128), 128, options);
  ASSERT_TRUE(run.fault);
  EXPECT_EQ(run.fault->kind, Fault::Kind::Seen);
  EXPECT_TRUE(matches(run.fault->message, wrong.message)) << run.fault->message;
}

TEST_P(WrongKernels, AreCaughtInEveryOrder) {
  const Wrong& wrong = GetParam();
  EmulatedOptions options;
  options.fill_y = wrong.fill_y;
  for (options.seed = 2; options.seed <= 6; ++options.seed) {
    const auto run = run_emulated("wrong.cu", {wrong.kernel}, numbers(128), 128, options);
    ASSERT_TRUE(run.fault) << options.seed;
    EXPECT_EQ(run.fault->kind, Fault::Kind::Seen) << run.fault->message;
  }
}

INSTANTIATE_TEST_SUITE_P(Mistakes, WrongKernels, ::testing::ValuesIn(kWrong),
                         [](const auto& info) { return info.param.kernel.symbol; });

TEST(EmulationTest, AResultThatDependsOnTheOrderDiffersBetweenSeeds) {
  EmulatedOptions options;
  options.fill_y = true;
  std::set<float> sums;
  for (options.seed = 1; options.seed <= 8; ++options.seed) {
    const auto run = run_emulated("wrong.cu", {{"order_decides"}}, numbers(128), 1, options);
    ASSERT_FALSE(run.fault) << run.fault->message;
    sums.insert(run.y[0]);
  }
  EXPECT_GT(sums.size(), 1u);
}

bool machine_fuses() {
#ifdef __x86_64__
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

TEST(EmulationTest, AProductAndASumAreRoundedOnceAsOnAGpu) {
  if (!machine_fuses()) GTEST_SKIP() << "this machine has no fused multiply-add";
  const float x = 1 + 0x1p-12F;  // its square ends in 2^-24, which is rounded off
  const auto run = run_emulated("right.cu", {{"lost_of_square"}}, {x, 3}, 2);
  ASSERT_FALSE(run.fault) << run.fault->message;
  EXPECT_EQ(run.y, (std::vector<float>{0x1p-24F, 0}));
}

TEST(EmulationTest, OneSeedIsOneOrder) {
  EmulatedOptions options;
  options.fill_y = true;
  options.seed = 3;
  const auto first = run_emulated("wrong.cu", {{"order_decides"}}, numbers(128), 1, options);
  const auto second = run_emulated("wrong.cu", {{"order_decides"}}, numbers(128), 1, options);
  ASSERT_FALSE(first.fault) << first.fault->message;
  EXPECT_EQ(first.y, second.y);
}

TEST(EmulationTest, AKernelThatWaitsForAnotherThreadWithoutABarrierRunsOutOfTime) {
  EmulatedOptions options;
  options.time = std::chrono::milliseconds(500);
  const auto run = run_emulated("wrong.cu", {{"never_ends"}}, numbers(128), 128, options);
  ASSERT_TRUE(run.fault);
  EXPECT_EQ(run.fault->kind, Fault::Kind::OutOfTime);
  EXPECT_EQ(run.fault->message, "never_ends did not end within 0.5 s");
}

TEST(EmulationTest, TheSanitizersSeeWhatNoAccessToATensorShows) {
  EmulatedOptions options;
  options.sanitize = true;
  const auto local = run_emulated("wrong.cu", {{"local_array_too_small"}}, numbers(128), 128, options);
  ASSERT_TRUE(local.fault);
  EXPECT_EQ(local.fault->kind, Fault::Kind::Crashed);
  EXPECT_NE(local.fault->message.find("insufficient space for an object of type 'float'"), std::string::npos)
      << local.fault->message;
  const auto overflow = run_emulated("wrong.cu", {{"number_overflows"}}, numbers(128), 128, options);
  ASSERT_TRUE(overflow.fault);
  EXPECT_EQ(overflow.fault->kind, Fault::Kind::Crashed);
  EXPECT_NE(overflow.fault->message.find("signed integer overflow"), std::string::npos) << overflow.fault->message;
}

TEST(EmulationTest, AWrongKernelIsNamedUnderTheSanitizersToo) {
  EmulatedOptions options;
  options.sanitize = true;
  for (const char* kernel : {"read_without_barrier", "barrier_in_a_branch", "lane_left", "reads_past_the_end"}) {
    const auto run = run_emulated("wrong.cu", {{kernel}}, numbers(128), 128, options);
    ASSERT_TRUE(run.fault) << kernel;
    EXPECT_EQ(run.fault->kind, Fault::Kind::Seen) << run.fault->message;
  }
}

}  // namespace
}  // namespace kw::device
