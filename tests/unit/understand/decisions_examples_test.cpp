// Every example has the tier, the closest kernel, the casting mode and the plan that an expert would give it, and its
// profile reads back as it was written.
#include <gtest/gtest.h>

#include "base/file.h"
#include "decided.h"
#include "profile/review.h"
#include "profile/yaml.h"
#include "understand/read_source.h"

namespace kw::understand {
namespace {

struct Expected {
  const char* file;
  int tier;
  const char* closest;
  const char* casting;
  const char* forward;  // the family
  const char* backward;
};

// clang-format off
const Expected kExamples[] = {
    {"relu_squared", 1, "relu_squared", "none", "pointwise", "pointwise"},
    {"silu", 1, "silu", "none", "pointwise", "pointwise"},
    {"gelu_erf", 1, "gelu", "none", "pointwise", "pointwise"},
    {"gelu_tanh", 1, "gelu_tanh", "none", "pointwise", "pointwise"},
    {"swiglu", 1, "swiglu", "none", "pointwise", "pointwise"},
    {"geglu", 1, "geglu", "none", "pointwise", "pointwise"},
    {"softplus", 1, "softplus", "none", "pointwise", "pointwise"},
    {"mish", 1, "mish", "none", "pointwise", "pointwise"},
    {"hardswish", 1, "hardswish", "none", "pointwise", "pointwise"},
    {"dyt", 1, "dyt", "none", "pointwise", "column"},
    {"derf", 1, "dyt", "none", "pointwise", "column"},
    {"dyisru", 1, "dyt", "none", "pointwise", "column"},
    {"prelu", 1, "dyt", "none", "pointwise", "column"},
    {"poly_relu", 1, "relu_squared", "none", "pointwise", "composed"},
    {"rms_norm_llama", 2, "rms_norm", "llama", "row", "row"},
    {"rms_norm_gemma", 2, "rms_norm", "gemma", "row", "row"},
    {"rms_norm_none", 2, "rms_norm", "none", "row", "row"},
    {"rms_norm_mixed", 2, "rms_norm", "gemma", "row", "row"},
    {"fused_add_rms_norm", 2, "fused_add_rms_norm", "llama", "row", "row"},
    {"layer_norm", 2, "layer_norm", "gemma", "row", "row"},
    {"group_norm", 2, "group_norm", "gemma", "row", "row"},
    {"group_norm_silu", 2, "group_norm", "gemma", "row", "row"},
    {"instance_norm", 2, "instance_norm", "none", "row", "row"},
    {"softmax", 2, "softmax", "gemma", "row", "row"},
    {"log_softmax", 2, "log_softmax", "none", "row", "row"},
    {"l2_normalize", 2, "l2_normalize", "none", "row", "row"},
    {"poly_norm", 2, "poly_norm", "gemma", "row", "row"},
    {"mean_middle", 2, "mean", "none", "column", "pointwise"},
    {"mse", 2, "mse", "none", "whole", "pointwise"},
    {"huber", 2, "huber", "none", "whole", "pointwise"},
    {"hinge", 2, "hinge", "none", "whole", "pointwise"},
    {"kl_div", 2, "kl_div", "none", "whole", "pointwise"},
    {"jsd", 2, "jsd", "none", "whole", "pointwise"},
    {"tvd", 2, "tvd", "none", "whole", "pointwise"},
    {"cross_entropy", 3, "cross_entropy", "none", "whole", "pointwise"},
    {"fused_linear_cross_entropy", 3, "fused_linear_cross_entropy", "none", "contraction", "contraction"},
    {"rope_half", 3, "rope", "none", "pointwise", "column"},
    {"rope_interleaved", 3, "rope", "none", "pointwise", "pointwise"},
    {"rope_partial", 3, "rope", "none", "pointwise", "pointwise"},
    {"sparsemax", 3, "sparsemax", "none", "composed", "composed"},
    {"segment_mean_pool", 3, "segment_mean", "none", "segment", "pointwise"},
    {"embedding", 3, "embedding", "none", "pointwise", "segment"},
    {"cumulative_sum", 3, "cumsum", "none", "scan", "scan"},
    {"max_pool2d", 3, "max_pool2d", "none", "window", "window"},
    {"conv2d_bias_relu", 3, "conv2d", "none", "window", "window"},
    {"causal_attention", 3, "attention", "gemma", "contraction", "contraction"},
    {"moe_top_k_routing", 3, "moe_routing", "gemma", "composed", "composed"},
};
// clang-format on

class Examples : public testing::TestWithParam<Expected> {};

TEST_P(Examples, IsUnderstoodAsAnExpertWould) {
  const Expected& expected = GetParam();
  const std::string path = std::string(KW_SOURCE_DIR) + "/examples/" + expected.file + ".py";
  const profile::Profile p = decided_torch(*read_text(path));
  EXPECT_EQ(p.tier, expected.tier) << decision(p, "tier").because;
  EXPECT_EQ(p.closest, expected.closest) << decision(p, "closest").because;
  EXPECT_EQ(p.numerics.casting, expected.casting) << decision(p, "casting").because;
  EXPECT_EQ(p.plan.forward.family, expected.forward) << decision(p, "plan.forward").because;
  ASSERT_TRUE(p.plan.backward.has_value());
  EXPECT_EQ(p.plan.backward->family, expected.backward) << decision(p, "plan.backward").because << "\n"
                                                        << p.math.backward;

  const Result<profile::Profile> back = profile::from_yaml(profile::to_yaml(p), "profile.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_TRUE(*back == p);
  EXPECT_GE(p.shapes.test.size(), 4u);
  for (const profile::Decision& d : p.decisions) {
    EXPECT_FALSE(d.because.empty()) << d.id;
    EXPECT_FALSE(d.if_wrong.empty()) << d.id;
  }
}

TEST(SavedNames, AreTheSourcesOrTheFields) {
  const auto no_source = [](std::string_view, int) { return std::string(); };
  const auto page_of = [&](const std::string& example) {
    const std::string path = std::string(KW_SOURCE_DIR) + "/examples/" + example + ".py";
    return profile::review_page(decided_torch(*read_text(path)), profile::ApprovalState::Missing, no_source, {});
  };
  EXPECT_NE(page_of("rms_norm_llama").find("kept for backward: x, weight, rstd"), std::string::npos);
  EXPECT_NE(page_of("layer_norm").find("kept for backward: x, weight, mean, rstd"), std::string::npos)
      << page_of("layer_norm");
  EXPECT_NE(page_of("log_softmax").find("sum_exp"), std::string::npos) << page_of("log_softmax");
}

INSTANTIATE_TEST_SUITE_P(All, Examples, testing::ValuesIn(kExamples),
                         [](const auto& info) { return std::string(info.param.file); });

}  // namespace
}  // namespace kw::understand
