// Kernels by hand that are right until they are timed: what they answer to the calls that are timed is compared too.
#include <gtest/gtest.h>

#include "device/device.h"
#include "ir/text/parse.h"
#include "verify/speed.h"

namespace kw::verify {
namespace {

const char* const kManifest = R"({
  "schema": 1, "name": "twice", "target": "cpu", "sizes": ["rows", "cols"], "types": {},
  "passes": [{
    "name": "forward",
    "buffers": [{"name": "x", "role": "input", "type": "f32", "shape": ["rows", "cols"]},
                {"name": "y", "role": "output", "type": "f32", "shape": ["rows", "cols"]},
                {"name": "s", "role": "output", "type": "f32", "shape": ["cols"]}],
    "steps": [{"kind": "kernel", "entries": [{
      "symbol": "twice_forward", "file": "twice.cpp",
      "arguments": [{"kind": "read", "of": "x"}, {"kind": "write", "of": "y"}, {"kind": "write", "of": "s"},
                    {"kind": "size", "of": "rows", "type": "i64"}, {"kind": "size", "of": "cols", "type": "i64"}]}]}]}]})";

// Every product, and the columns' sums of them.
const std::string kSource = R"(#include <cstdint>
#include <cstdlib>
#include <vector>
void twice_forward(const float* x, float* y, float* s, std::int64_t rows, std::int64_t cols) {
  const std::int64_t last = rows;
  std::vector<double> sums(cols);
  for (std::int64_t i = 0; i < last; ++i)
    for (std::int64_t j = 0; j < cols; ++j) y[i * cols + j] = 2 * x[i * cols + j], sums[j] += y[i * cols + j];
  for (std::int64_t j = 0; j < cols; ++j) s[j] = sums[j];
}
)";

Result<Speeds> speeds_with(const std::string& right, const std::string& instead) {
  std::string source = kSource;
  if (!right.empty()) source.replace(source.find(right), right.size(), instead);
  KW_TRY(const ir::Graph graph,
         ir::text::parse("op twice(x: f32[rows, cols])\n  y = x * 2.0\n  s = sum(y, rows)\nreturn y, s\n"));
  KW_TRY(kernel::Manifest manifest, kernel::manifest_from_json(kManifest, "twice.json"));
  Subject subject = subject_of(graph, std::move(manifest), {{"twice.cpp", source}});
  subject.approved_forward = graph;
  subject.from_outside = true;
  device::DeviceOptions options;
  options.cache_folder = std::string(KW_BINARY_DIR) + "/kernel_cache";
  KW_TRY(const auto device, device::open_device(kernel::Target::Cpu, options));
  KW_TRY(const device::CompiledSet kernels, device->compile(subject.manifest, subject.files, {}));
  SpeedOptions quick;
  quick.stop.budget = std::chrono::milliseconds(100);
  return speeds_of(subject, *device, kernels, {{"rows", 3000}, {"cols", 100}}, quick);
}

void expect_caught(const std::string& right, const std::string& instead, Gate gate, const std::string& message) {
  const Result<Speeds> speeds = speeds_with(right, instead);
  ASSERT_TRUE(speeds) << render(speeds.error());
  ASSERT_TRUE(speeds->finding) << instead;
  EXPECT_EQ(speeds->finding->gate, gate) << speeds->finding->message;
  EXPECT_EQ(speeds->finding->message.find("as it was timed, forward: "), 0u) << speeds->finding->message;
  EXPECT_NE(speeds->finding->message.find(message), std::string::npos) << speeds->finding->message;
  Report report;
  for (const GateInfo& gate : gates()) report.verdicts.push_back({gate.gate, Outcome::Passed, "", {}});
  add(*speeds, report);
  EXPECT_EQ(report.verdict(gate).outcome, Outcome::Failed);
  EXPECT_FALSE(report.passed());
}

TEST(AsTimed, ARightKernelIsTimedAndAllOfItsAnswerCompared) {
  const Result<Speeds> speeds = speeds_with("", "");
  ASSERT_TRUE(speeds) << render(speeds.error());
  EXPECT_FALSE(speeds->finding) << speeds->finding->message;
  EXPECT_EQ(speeds->passes.size(), 1u);
  EXPECT_EQ(speeds->elements, 3000 * 100 + 100);
}

TEST(AsTimed, WorkThatIsLeftOutAtThatSizeIsMissed) {
  expect_caught("last = rows", "last = rows == 3000 ? 1500 : rows", Gate::Error, "y of 300000 elements: at rows 1500");
}

TEST(AsTimed, ASumThatIsCutThereIsSeen) {
  expect_caught("sums[j] += y[i * cols + j]", "sums[j] += i < 2990 ? y[i * cols + j] : 0", Gate::Error,
                "s of 100 elements");
}

TEST(AsTimed, WorkThatIsLeftOutFromTheSecondCallOnIsMissed) {
  expect_caught("last = rows", "last = [&] { static int calls = 0; return rows == 3000 && ++calls > 1 ? 0 : rows; }()",
                Gate::Error, "y of 300000 elements: at rows 0");
}

TEST(AsTimed, AFaultIsTheKernels) {
  expect_caught("std::vector<double> sums(cols);", "std::vector<double> sums(cols); if (rows == 3000) std::abort();",
                Gate::Runs, "crashed");
}

}  // namespace
}  // namespace kw::verify
