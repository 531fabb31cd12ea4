// Generated kernels are timed beside their limit, pass by pass.
#include "verify/speed.h"

#include <gtest/gtest.h>

#include "act/act.h"
#include "ir/derivative/derivative.h"
#include "ir/partition.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"

namespace kw::verify {
namespace {

Result<Speeds> speeds_of_forward(const std::string& text, std::map<std::string, std::int64_t> sizes) {
  KW_TRY(const ir::Graph graph, ir::text::parse(text));
  KW_TRY(const act::Generated kernels, act::generate({"op", graph, {}, {}, {}, {}, {}}, kernel::Target::Cpu));
  Subject subject = subject_of(graph, kernels.manifest, kernels.files);
  subject.approved_forward = graph;
  KW_TRY(const auto device, device::open_device(kernel::Target::Cpu));
  KW_TRY(const device::CompiledSet compiled, device->compile(subject.manifest, subject.files, {}));
  SpeedOptions quick;
  quick.stop.budget = std::chrono::milliseconds(50);
  return speeds_of(subject, *device, compiled, std::move(sizes), quick);
}

Subject norm() {
  const auto graph = ir::text::parse(R"(op norm(x: T[rows, cols], w: parameter W[cols]; eps = 1e-6)
  types T = f32, W = f32
  sizes rows = 4096, cols = 1024
  rstd = rsqrt(mean(x * x, cols) + eps)
  y    = x * rstd * w
return y
)");
  if (!graph) throw std::runtime_error(render(graph.error()));
  const ir::Graph joint = ir::simplify(*ir::differentiate(*graph));
  const ir::Partition cut = ir::partition(joint, 1);
  act::OpMath math{"norm", ir::forward_with_saved(joint, cut), ir::backward_graph(joint, cut), {}, {}, {}, {}};
  auto kernels = act::generate(math, kernel::Target::Cpu);
  if (!kernels) throw std::runtime_error(render(kernels.error()));
  Subject subject = subject_of(*graph, kernels->manifest, kernels->files);
  subject.joint = joint;
  subject.approved_forward = math.forward;
  subject.approved_backward = math.backward;
  return subject;
}

TEST(SpeedTest, EveryPassHasItsShareOfTheLimit) {
  const Subject subject = norm();
  auto device = device::open_device(kernel::Target::Cpu);
  ASSERT_TRUE(device) << device.error().message;
  auto kernels = (*device)->compile(subject.manifest, subject.files, {{"T", ir::DType::F32}, {"W", ir::DType::F32}});
  ASSERT_TRUE(kernels) << render(kernels.error());
  SpeedOptions quick;
  quick.most_bytes = 4e6;
  quick.stop.budget = std::chrono::milliseconds(200);
  const auto speeds = speeds_of(subject, **device, *kernels, {{"rows", 4096}, {"cols", 1024}}, quick);
  ASSERT_TRUE(speeds) << render(speeds.error());
  EXPECT_FALSE(speeds->finding) << speeds->finding->message;
  EXPECT_GT(speeds->elements, 0);
  ASSERT_EQ(speeds->passes.size(), 2u);
  for (const PassSpeed& speed : speeds->passes) {
    EXPECT_GT(speed.share.share(), 0);
    EXPECT_LE(speed.share.share(), 1);
    EXPECT_LE(speed.share.work.bytes(), 4e6);
    EXPECT_EQ(speed.sizes.at("cols"), 1024);
    EXPECT_EQ(row_of(speed).share, speed.share.share());
    EXPECT_EQ(row_of(speed).sizes.find("cols=1024"), 0u);
  }
}

// What the oracle knows of a whole call it knows from a part of it, which says nothing of these sums.
TEST(SpeedTest, SumsThatLeaveTheRangeOrAreTruncatedAreNotHeldAgainstAKernel) {
  for (const char* sum : {"sum(x * x, rows)", "sum(x * x, rows) * 0.0001", "f32(i32(sum(f32(x), rows)))"}) {
    const auto speeds =
        speeds_of_forward(std::string("op f(x: f16[rows, cols])\n  y = -x\n  s = ") + sum + "\nreturn y, s\n",
                          {{"rows", 200'000}, {"cols", 8}});
    ASSERT_TRUE(speeds) << sum << ": " << render(speeds.error());
    EXPECT_FALSE(speeds->finding) << sum << ": " << speeds->finding->message;
    EXPECT_GE(speeds->elements, 1'600'000) << sum;
  }
}

}  // namespace
}  // namespace kw::verify
