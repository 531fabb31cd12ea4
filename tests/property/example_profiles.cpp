#include "example_profiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"

namespace kw::test {

const std::vector<std::string>& generated_examples() {
  static const std::vector<std::string> kNames = {"calibrated_logits",
                                                  "clip_logits",
                                                  "derf",
                                                  "dyisru",
                                                  "dyt",
                                                  "fused_add_rms_norm",
                                                  "geglu",
                                                  "gelu_erf",
                                                  "gelu_tanh",
                                                  "group_norm",
                                                  "group_norm_silu",
                                                  "hardswish",
                                                  "hinge",
                                                  "huber",
                                                  "instance_norm",
                                                  "jsd",
                                                  "kl_div",
                                                  "l2_normalize",
                                                  "layer_norm",
                                                  "log_softmax",
                                                  "mean_middle",
                                                  "mish",
                                                  "mse",
                                                  "poly_norm",
                                                  "poly_relu",
                                                  "prelu",
                                                  "relu_squared",
                                                  "rms_norm_gemma",
                                                  "rms_norm_llama",
                                                  "rms_norm_mixed",
                                                  "rms_norm_none",
                                                  "siglip_logits",
                                                  "silu",
                                                  "softmax",
                                                  "softplus",
                                                  "swiglu",
                                                  "tvd"};
  return kNames;
}

void take_family(profile::Profile& profile, const std::string& family) {
  const auto take = [&](profile::PassPlan& plan) {
    if (std::find(plan.fallbacks.begin(), plan.fallbacks.end(), family) != plan.fallbacks.end()) plan.family = family;
  };
  take(profile.plan.forward);
  if (profile.plan.backward) take(*profile.plan.backward);
}

profile::Profile example_profile(const std::string& name, const std::map<std::string, std::string>& pins) {
  const std::string file = "examples/" + name + ".py";
  const Result<std::string> text = read_text(std::string(KW_SOURCE_DIR) + "/" + file);
  EXPECT_TRUE(text) << file;
  if (!text) return {};
  const auto reading = understand::read_source({"torch", "source.py", "", "source.py", *text, ""}, {});
  EXPECT_TRUE(reading) << render(reading.error());
  if (!reading) return {};
  const profile::Source source{"torch", "source.py", reading->entry, file, std::string(64, '0'), {}};
  const auto profile = understand::decide(*reading, name, source, pins);
  EXPECT_TRUE(profile) << render(profile.error());
  return profile ? *profile : profile::Profile{};
}

bool slow_tests() { return std::getenv("KW_SLOW_TESTS") != nullptr; }

}  // namespace kw::test
