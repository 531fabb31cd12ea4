// Generated kernels are timed beside their limit, pass by pass.
#include "verify/speed.h"

#include <gtest/gtest.h>

#include "act/act.h"
#include "base/text.h"
#include "example_profiles.h"
#include "ir/derivative/derivative.h"
#include "ir/partition.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"
#include "verify/cases.h"
#include "verify/record.h"
#include "verify/repetition.h"

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

Result<Speeds> speeds_of_norm(const Subject& subject, int milliseconds) {
  KW_TRY(const auto device, device::open_device(kernel::Target::Cpu));
  KW_TRY(const device::CompiledSet kernels,
         device->compile(subject.manifest, subject.files, {{"T", ir::DType::F32}, {"W", ir::DType::F32}}));
  SpeedOptions quick;
  quick.most_bytes = 4e6;
  quick.stop.budget = std::chrono::milliseconds(milliseconds);
  return speeds_of(subject, *device, kernels, {{"rows", 4096}, {"cols", 1024}}, quick);
}

// The norm as somebody else wrote it, with something else in the place of a text of its forward.
Subject norm_with(const std::string& before, const std::string& after) {
  Subject subject = norm();
  subject.from_outside = true;
  std::string& source = subject.files.at("norm_forward.cpp");
  if (source.find(before) == std::string::npos) throw std::runtime_error("no " + before + " in\n" + source);
  for (std::size_t at = 0; (at = source.find(before, at)) != std::string::npos; at += after.size())
    source.replace(at, before.size(), after);
  return subject;
}

TEST(SpeedTest, EveryPassHasItsShareOfTheLimit) {
  const auto speeds = speeds_of_norm(norm(), 200);
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

// Kept from one sample to the next, what the forward saves would be there for the backward.
TEST(SpeedTest, WhatIsSavedFromTheFirstCallAloneIsMissed) {
  const std::string store = "rstd(row) = T(rstd_i);";
  const auto speeds =
      speeds_of_norm(norm_with(store, "static int calls = 0; if (row == 0) ++calls; if (calls <= 1) " + store), 100);
  ASSERT_TRUE(speeds) << render(speeds.error());
  ASSERT_TRUE(speeds->finding);
  EXPECT_EQ(speeds->finding->gate, Gate::Error) << speeds->finding->message;
  EXPECT_EQ(speeds->finding->message.find("as it was timed, backward: "), 0u) << speeds->finding->message;
}

// 31 rows of 1024 are a period: a kernel that knew would read no others.
TEST(SpeedTest, ReadingOnePeriodAloneIsNotEnough) {
  const auto honest = speeds_of_norm(norm_with("x.row<kUnit>(row)", "x.row<kUnit>(row + 0)"), 100);
  ASSERT_TRUE(honest) << render(honest.error());
  EXPECT_FALSE(honest->finding) << honest->finding->message;
  const auto speeds = speeds_of_norm(norm_with("x.row<kUnit>(row)", "x.row<kUnit>(row % 31)"), 100);
  ASSERT_TRUE(speeds) << render(speeds.error());
  ASSERT_TRUE(speeds->finding);
  EXPECT_EQ(speeds->finding->gate, Gate::Error) << speeds->finding->message;
  EXPECT_EQ(speeds->finding->message.find("as it was timed, forward: "), 0u) << speeds->finding->message;
}

TEST(SpeedTest, WhyNothingWasComparedIsSaid) {
  const auto speeds = speeds_of_forward("op f(x: f32[n])\n  y = x / sum(x, n)\nreturn y\n", {{"n", 100'000}});
  ASSERT_TRUE(speeds) << render(speeds.error());
  EXPECT_EQ(speeds->elements, 0);
  EXPECT_EQ(speeds->unknown, "it repeats along no axis that is long enough");
  const Subject subject;
  Report report = Record(subject, 1).report;
  report.verdicts[static_cast<std::size_t>(Gate::Error)].line.clear();
  add(*speeds, report);
  EXPECT_EQ(report.verdicts[static_cast<std::size_t>(Gate::Error)].line,
            "; not compared as it was timed: it repeats along no axis that is long enough");
}

// The outputs that such a call says nothing of: a loss along all axes, a gradient that knows the whole of a row, …
std::vector<std::string> unknown_outputs(const Subject& subject, const RepeatingCall& call) {
  std::vector<std::string> unknown;
  for (const ir::Output& output : subject.math().outputs)
    if (std::find(call.outputs.begin(), call.outputs.end(), output.name) == call.outputs.end() &&
        !call.sums.contains(output.name))
      unknown.push_back(output.name);
  return unknown;
}

// Of what examples answer at the shapes that they are timed at.
TEST(SpeedTest, NearlyEveryOutputOfEveryExampleIsCompared) {
  // Numbers that no axis is part of, and sums that are joined or rounded to T before they are multiplied.
  const std::map<std::string, std::string> kUnknown = {{"calibrated_logits", "temperature, grad_raw_temperature"},
                                                       {"clip_logits", "scale, grad_logit_scale"},
                                                       {"siglip_logits", "scale, grad_logit_scale"},
                                                       {"poly_norm", "grad_weight"},
                                                       {"poly_relu", "grad_weight"}};
  for (const std::string& name : test::generated_examples()) {
    const profile::Profile profile = test::example_profile(name);
    const auto kernels = act::act(profile, {}, kernel::Target::Cpu);
    ASSERT_TRUE(kernels) << name;
    const auto subject = subject_of(profile, kernels->manifest, kernels->files, false);
    ASSERT_TRUE(subject) << name << render(subject.error());
    const profile::Shape& shape = profile.shapes.measure.at(0);
    const auto call = repeating_call(*subject, type_mixtures(*subject, true).at(0), {shape.begin(), shape.end()});
    const std::string unknown = call ? join(unknown_outputs(*subject, *call), ", ") : "all";
    const auto known = kUnknown.find(name);
    EXPECT_EQ(unknown, known == kUnknown.end() ? "" : known->second) << name;
  }
}

// What the oracle knows of a whole call it knows from a part of it, which says nothing of these sums.
TEST(SpeedTest, SumsThatLeaveTheRangeOrAreTruncatedAreNotHeldAgainstAKernel) {
  const std::string beyond_f16 = "sum(x * x, rows)";  // the others are known where all columns are alike
  for (const std::string& sum : {beyond_f16, beyond_f16 + " * 0.0001", "f32(" + beyond_f16 + ") * 0.0001",
                                 std::string("f32(i32(sum(f32(x), rows)))")}) {
    const auto speeds =
        speeds_of_forward(std::string("op f(x: f16[rows, cols])\n  y = -x\n  s = ") + sum + "\nreturn y, s\n",
                          {{"rows", 200'000}, {"cols", 8}});
    ASSERT_TRUE(speeds) << sum << ": " << render(speeds.error());
    EXPECT_FALSE(speeds->finding) << sum << ": " << speeds->finding->message;
    EXPECT_GE(speeds->elements, 1'600'000) << sum;
    EXPECT_EQ(speeds->unknown, sum == beyond_f16 ? "s" : "") << sum;
  }
}

}  // namespace
}  // namespace kw::verify
