#include "kernel/manifest.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "example_manifest.h"

namespace kw::kernel {
namespace {

TEST(Manifest, WhatIsReadIsWhatWasWritten) {
  const Manifest manifest = norm_manifest();
  EXPECT_EQ(manifest.target, Target::Cpu);
  EXPECT_EQ(manifest.types.at("T"), (std::vector<std::string>{"bf16", "f16", "f32"}));
  EXPECT_EQ(manifest.scalars.at(0), (Scalar{"eps", "real", "1e-6"}));
  ASSERT_EQ(manifest.passes.size(), 2u);
  const Entry& fast = manifest.passes[0].steps[0].entries[0];
  EXPECT_EQ(fast.guards.size(), 3u);
  EXPECT_EQ(fast.arguments[4], (Argument{Argument::Kind::Size, "rows", 0, "i32", ""}));
  const Entry& general = manifest.passes[0].steps[0].entries[1];
  EXPECT_EQ(general.arguments[4].type, "i64") << "the default of a size";
  EXPECT_EQ(general.arguments[7], (Argument{Argument::Kind::Stride, "x", 1, "i64", ""}));
  EXPECT_EQ(manifest.find("backward")->find("dx")->alias, "dy");
  EXPECT_EQ(manifest.find("backward")->steps[0].kind, Step::Kind::Fill);
  EXPECT_EQ(manifest.files(), (std::vector<std::string>{"norm.cpp", "finish.cpp"}));
}

TEST(Manifest, TextAndValueAreInverse) {
  const Manifest manifest = norm_manifest();
  const std::string text = to_json(manifest);
  const auto again = manifest_from_json(text, "again.json");
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(*again, manifest);
  EXPECT_EQ(to_json(*again), text);
}

TEST(Manifest, EveryFieldSurvives) {
  Manifest manifest;
  manifest.name = "every_field";
  manifest.target = Target::Triton;
  manifest.sizes = {"n"};
  manifest.types = {{"T", {"f32"}}};
  manifest.scalars = {{"flag", "bool", "true"}, {"steps", "int", ""}};
  manifest.deterministic = false;
  Entry entry{"kernel", "kernel.py", {}, {"flag == 1", "steps > -2", "n < 1000000 or not dense(x)"}, {}};
  entry.arguments = {{Argument::Kind::Read, "x"},
                     {Argument::Kind::Write, "y"},
                     {Argument::Kind::Scalar, "flag", 0, "bool"},
                     {Argument::Kind::Constant, "next_pow2(n)", 0, "", "BLOCK"}};
  entry.launch = {{"ceil_div(n, 1024)", "2", "3"}, {"128", "1", "1"}, "4*bytes(x)", "8", 3};
  manifest.passes = {{"forward",
                      {{"x", Role::Input, "T", {"n"}},
                       {"y", Role::Output, "T", {"n"}, {"x"}, "x"},
                       {"ws", Role::Workspace, "i32", {"threads"}}},
                      {{Step::Kind::Fill, {}, "ws", -1.5}, {Step::Kind::Kernel, {entry}}}}};
  ASSERT_TRUE(check(manifest)) << render(check(manifest).error());
  const auto again = manifest_from_json(to_json(manifest), "m.json");
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(*again, manifest);
}

TEST(Manifest, AnOutputMayBeAnEarlierOneWhichNoStepThenWritesTwice) {
  Manifest manifest = norm_manifest();
  Pass& backward = manifest.passes[1];
  const auto dx = std::find_if(backward.buffers.begin(), backward.buffers.end(),
                               [](const Buffer& buffer) { return buffer.name == "dx"; });
  dx->alias.clear();
  backward.buffers.insert(dx + 1, {"dz", Role::Output, "T", {"rows", "cols"}, {}, "dx"});
  ASSERT_TRUE(check(manifest)) << render(check(manifest).error());
  const auto again = manifest_from_json(to_json(manifest), "m.json");
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(*again, manifest);
  backward.steps.push_back({Step::Kind::Fill, {}, "dz", 0});
  const auto twice = check(manifest);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("dx holds the values of dz already"), std::string::npos)
      << twice.error().message;
}

TEST(Manifest, CanonicalTextIsStable) {
  Manifest manifest;
  manifest.name = "scale";
  manifest.sizes = {"n"};
  manifest.types = {{"T", {"f32"}}};
  manifest.passes = {
      {"forward",
       {{"x", Role::Input, "T", {"n"}}, {"y", Role::Output, "T", {"n"}, {"x"}}},
       {{Step::Kind::Kernel,
         {{"scale", "scale.cpp", {{Argument::Kind::Read, "x"}, {Argument::Kind::Write, "y"}}, {"dense(x)"}}}}}}};
  EXPECT_EQ(to_json(manifest), R"json({
  "schema": 1,
  "name": "scale",
  "target": "cpu",
  "sizes": ["n"],
  "types": {"T": ["f32"]},
  "passes": [
    {
      "name": "forward",
      "buffers": [
        {"name": "x", "role": "input", "type": "T", "shape": ["n"]},
        {"name": "y", "role": "output", "type": "T", "shape": ["n"], "strides_like": ["x"]}
      ],
      "steps": [
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "scale",
              "file": "scale.cpp",
              "arguments": [{"kind": "read", "of": "x"}, {"kind": "write", "of": "y"}],
              "guards": ["dense(x)"]
            }
          ]
        }
      ]
    }
  ]
}
)json");
}

}  // namespace
}  // namespace kw::kernel
