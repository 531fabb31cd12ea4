// For each kind of decision one edit of the source flips it, and its reason with it.
#include <gtest/gtest.h>

#include "base/text.h"
#include "decided.h"
#include "profile/decision.h"

namespace kw::understand {
namespace {

const std::string kHead = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n";

const std::string kNorm = kHead + R"(class Norm(nn.Module):
    def __init__(self, hidden: int = 512, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))
        self.eps = eps

    def forward(self, x):
        h = x.float()
        y = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * y.to(x.dtype)


def get_inputs():
    return [torch.randn(64, 512, dtype=torch.bfloat16)]
)";

std::string with(const std::string& text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return replace_all(text, from, to);
}

// The decision is `before` in one source and `after` in the edited one, and the two say other reasons for it.
void expect_flip(const std::string& id, const std::string& source, const std::string& before, const std::string& from,
                 const std::string& to, const std::string& after, const profile::ReadingOptions& options = {}) {
  const profile::Decision a = decision(decided_torch(source, options), id);
  const profile::Decision b = decision(decided_torch(with(source, from, to), options), id);
  EXPECT_EQ(a.value, before);
  EXPECT_EQ(b.value, after);
  EXPECT_NE(a.because, b.because) << id;
}

TEST(Flip, TierByAReduction) {
  const std::string gate =
      kHead + "def f(x):\n    return x * torch.sigmoid(x)\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  expect_flip("tier", gate, "1", "torch.sigmoid(x)", "torch.softmax(x, -1)", "2");
  expect_flip("tier", gate, "1", "torch.sigmoid(x)", "torch.cumsum(x, -1)", "3");
  expect_flip("tier", kNorm, "2", "h.pow(2).mean(-1, keepdim=True)", "h.pow(2)", "1");
}

TEST(Flip, TierNamesTheLineThatMadeItSo) {
  const profile::Profile p = decided_torch(kNorm);
  EXPECT_EQ(decision(p, "tier").at, "source.py:14");
  EXPECT_NE(decision(p, "tier").because.find("mean"), std::string::npos);
}

TEST(Flip, ClosestByCentring) {
  expect_flip("closest", kNorm, "rms_norm", "h = x.float()", "h = x.float() - x.float().mean(-1, keepdim=True)",
              "layer_norm");
}

TEST(Flip, ClosestByTheGate) {
  const std::string gate = kHead +
                           "def f(a, b):\n    return F.silu(a) * b\n\n\ndef get_inputs():\n    return [torch.randn(64, "
                           "512), torch.randn(64, 512)]\n";
  expect_flip("closest", gate, "swiglu", "F.silu(a)", "F.gelu(a, approximate='tanh')", "geglu");
}

TEST(Flip, CastingByWhereTheCastStands) {
  expect_flip("casting", kNorm, "llama", "self.weight * y.to(x.dtype)", "(self.weight.float() * y).to(x.dtype)",
              "gemma");
  expect_flip("casting", kNorm, "llama", "h = x.float()", "h = x", "none");
}

TEST(Flip, WiderByAStatisticThatIsRounded) {
  const profile::Decision a = decision(decided_torch(kNorm), "wider");
  const profile::Decision b = decision(decided_torch(with(kNorm, "h = x.float()", "h = x")), "wider");
  EXPECT_EQ(a.because.find("statistic"), std::string::npos) << a.because;
  EXPECT_NE(b.because.find("statistic"), std::string::npos) << b.because;
}

TEST(Flip, Fp32ByTheOpsThatNeedIt) {
  const std::string f =
      kHead + "def f(x):\n    return torch.exp(x)\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  expect_flip("fp32", f, "exp", "torch.exp(x)", "x + x", "none");
}

TEST(Flip, AccumulateBySummingAndByTheType) {
  const std::string f =
      kHead + "def f(x):\n    return x.sum(-1)\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  expect_flip("accumulate", f, "f32", "x.sum(-1)", "x + 1", "none");
  EXPECT_EQ(
      value(decided_torch(with(f, "torch.randn(64, 512)", "torch.randn(64, 512, dtype=torch.float64)")), "accumulate"),
      "f64");
}

TEST(Flip, ReassociateByHavingASum) {
  const std::string f =
      kHead + "def f(x):\n    return x.sum(-1)\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  const profile::Decision a = decision(decided_torch(f), "reassociate");
  const profile::Decision b = decision(decided_torch(with(f, "x.sum(-1)", "x.amax(-1)")), "reassociate");
  EXPECT_NE(a.value, "none");
  EXPECT_EQ(b.value, "none");
  EXPECT_NE(a.because, b.because);
}

TEST(Flip, BackwardByDetaching) {
  const std::string f =
      kHead +
      "def f(x):\n    return x + (torch.round(x) - x)\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  expect_flip("backward", f, "derivative", "(torch.round(x) - x)", "(torch.round(x) - x).detach()", "straight-through");
}

TEST(Flip, BackwardByTheTypeOfTheResult) {
  const std::string f =
      kHead + "def f(x):\n    return x * 2\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  expect_flip("backward", f, "derivative", "x * 2", "x > 2", "none");
  expect_flip("gradients", f, "x", "x * 2", "x > 2", "none");
}

TEST(Flip, SavedByWhatTheGradientNeeds) {
  const std::string f =
      kHead + "def f(x):\n    return x * x\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  expect_flip("saved", f, "x", "x * x", "x + x", "none");
}

TEST(Flip, RecomputedByWhatIsSaved) {
  const std::string f =
      kHead + "def f(x):\n    return torch.sigmoid(x) * x\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  const profile::Decision a = decision(decided_torch(f), "recomputed");
  const profile::Decision b = decision(decided_torch(with(f, "torch.sigmoid(x) * x", "x + 1")), "recomputed");
  EXPECT_NE(a.value, "none");
  EXPECT_EQ(b.value, "none");
  EXPECT_NE(a.because, b.because);
}

TEST(Flip, AliasesByWhetherAGradientFits) {
  const std::string f =
      kHead + "def f(x):\n    return x * x\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  const profile::Decision a = decision(decided_torch(f), "aliases");
  const profile::Decision b = decision(decided_torch(with(f, "x * x", "(x * x).sum(-1)")), "aliases");
  EXPECT_EQ(a.value, "none");
  EXPECT_EQ(a.instead_of, std::vector<std::string>{"grad_x in d_y"});
  EXPECT_TRUE(b.instead_of.empty());
  EXPECT_NE(a.because, b.because);
}

TEST(Flip, TypeByTheInputs) {
  const profile::Profile a = decided_torch(kNorm);
  const profile::Profile b = decided_torch(with(kNorm, "dtype=torch.bfloat16", "dtype=torch.float16"));
  EXPECT_EQ(value(a, "type.T"), "bf16");
  EXPECT_EQ(value(b, "type.T"), "f16");
  EXPECT_NE(decision(a, "type.T").instead_of, decision(b, "type.T").instead_of);
}

TEST(Flip, ShapeByTheInputs) {
  const profile::Profile a = decided_torch(kNorm);
  const profile::Profile b = decided_torch(with(kNorm, "torch.randn(64, 512", "torch.randn(8, 64, 512"));
  EXPECT_EQ(a.interface.inputs[0].shape.size(), 2u);
  EXPECT_EQ(b.interface.inputs[0].shape.size(), 3u);
}

TEST(Flip, ShapeThatIsAssumedSaysSo) {
  const std::string open =
      with(kNorm, "def get_inputs():\n    return [torch.randn(64, 512, dtype=torch.bfloat16)]\n", "");
  const profile::Decision given = decision(decided_torch(kNorm), "shape.x");
  const profile::Decision assumed = decision(decided_torch(open), "shape.x");
  EXPECT_EQ(given.set_by, profile::SetBy::Engine);
  EXPECT_EQ(assumed.set_by, profile::SetBy::Assumption);
  EXPECT_NE(given.because, assumed.because);
}

TEST(Flip, ValueByTheConstructor) {
  const profile::Profile a = decided_torch(kNorm);
  const profile::Profile b = decided_torch(with(kNorm, "eps: float = 1e-6", "eps: float = 1e-5"));
  EXPECT_EQ(value(a, "value.eps"), "1e-6");
  EXPECT_EQ(value(b, "value.eps"), "1e-5");
}

TEST(Flip, ModeByTheOption) {
  const profile::Profile a = decided_torch(kNorm);
  profile::ReadingOptions eval;
  eval.eval = true;
  const profile::Profile b = decided_torch(kNorm, eval);
  EXPECT_EQ(value(a, "mode"), "train");
  EXPECT_EQ(value(b, "mode"), "eval");
  EXPECT_NE(decision(a, "mode").because, decision(b, "mode").because);
}

TEST(Flip, ParametersByTheConstructor) {
  const profile::Profile a = decided_torch(kNorm);
  const profile::Profile b = decided_torch(with(kNorm, "torch.ones(hidden)", "torch.zeros(hidden)"));
  EXPECT_NE(value(a, "parameters").find("= ones"), std::string::npos) << value(a, "parameters");
  EXPECT_NE(value(b, "parameters").find("= zeros"), std::string::npos) << value(b, "parameters");
}

TEST(Flip, NamesByTheEntry) {
  const profile::Profile a = decided_torch(kNorm);
  const profile::Profile b = decided_torch(with(kNorm, "class Norm", "class Other"));
  EXPECT_EQ(value(a, "name.module"), "Norm");
  EXPECT_EQ(value(b, "name.module"), "Other");
}

TEST(Flip, PlanByWhichAxisIsReduced) {
  const std::string f =
      kHead + "def f(x):\n    return x.sum(-1)\n\n\ndef get_inputs():\n    return [torch.randn(8, 64, 512)]\n";
  expect_flip("plan.forward", f, "row, then column, then composed", "x.sum(-1)", "x.sum(1)", "column, then composed");
  expect_flip("plan.forward", f, "row, then column, then composed", "x.sum(-1)", "x.sum()", "whole, then composed");
  expect_flip("plan.forward", f, "row, then column, then composed", "x.sum(-1)", "x + 1", "pointwise, then composed");
  expect_flip("plan.forward", f, "row, then column, then composed", "x.sum(-1)", "x.cumsum(-1)", "scan, then composed");
}

TEST(Flip, PlanOfTheBackwardByTheMath) {
  const std::string f =
      kHead + "def f(x):\n    return torch.softmax(x, -1)\n\n\ndef get_inputs():\n    return [torch.randn(64, 512)]\n";
  const profile::Decision a = decision(decided_torch(f), "plan.backward");
  const profile::Decision b =
      decision(decided_torch(with(f, "torch.softmax(x, -1)", "torch.tanh(x)")), "plan.backward");
  EXPECT_TRUE(a.value.starts_with("row")) << a.value;
  EXPECT_TRUE(b.value.starts_with("pointwise")) << b.value;
  EXPECT_NE(a.because, b.because);
}

TEST(Flip, WeightGradientByTheFamily) {
  const std::string f = kHead +
                        "def f(x, w):\n    return torch.softmax(x, -1) * w\n\n\ndef get_inputs():\n    return "
                        "[torch.randn(64, 512), torch.randn(512)]\n";
  EXPECT_EQ(value(decided_torch(f), "reduce.w"), "fused");
  const std::string linear =
      with(with(f, "torch.softmax(x, -1) * w", "F.linear(x, w)"), "torch.randn(512)", "torch.randn(256, 512)");
  EXPECT_EQ(value(decided_torch(linear), "reduce.w"), "contraction");
  const std::string table =
      with(with(f, "torch.softmax(x, -1) * w", "w[x]"), "torch.randn(64, 512)", "torch.randint(0, 9, (64,))");
  EXPECT_EQ(value(decided_torch(with(table, "torch.randn(512)", "torch.randn(9, 512)")), "reduce.w"), "scatter");
}

TEST(Flip, ShapesToTestByTheConstraints) {
  const std::string f = kHead +
                        "def f(x):\n    a, b = x.chunk(2, dim=-1)\n    return a * b\n\n\ndef get_inputs():\n    return "
                        "[torch.randn(64, 512)]\n";
  for (const profile::Shape& shape : decided_torch(f).shapes.test) {
    ASSERT_EQ(shape.size(), 2u);
    EXPECT_EQ(shape[1].second % 2, 0) << profile::shape_text(shape);
  }
  bool odd = false;
  for (const profile::Shape& shape : decided_torch(with(f, "a, b = x.chunk(2, dim=-1)\n", "a = b = x\n")).shapes.test)
    odd = odd || shape[1].second % 2 == 1;
  EXPECT_TRUE(odd);
}

TEST(Flip, ShapesToMeasureByTheUsersOwn) {
  const profile::Profile a = decided_torch(kNorm);
  const profile::Profile b = decided_torch(with(kNorm, "torch.randn(64, 512", "torch.randn(128, 512"));
  EXPECT_NE(value(a, "shapes.measure"), value(b, "shapes.measure"));
}

TEST(Flip, LicenceByTheSourcesOwn) {
  expect_flip("licence", kNorm, "Apache-2.0", "import torch\nimport",
              "# SPDX-License-Identifier: MIT\nimport torch\nimport", "MIT");
}

}  // namespace
}  // namespace kw::understand
