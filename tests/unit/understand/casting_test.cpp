#include "understand/decisions/casting.h"

#include <gtest/gtest.h>

#include "decided.h"
#include "ir/simplify/simplify.h"
#include "ir/text/print.h"

namespace kw::understand {
namespace {

const std::string kLlama =
    "op norm(x: T[rows, cols], w: T[cols]; eps = 1e-6)\n"
    "  ms   = mean(f32(x)^2, cols)\n"
    "  rstd = rsqrt(ms + eps)\n"
    "  y    = T(f32(x) * rstd) * w\n"
    "return y\n";
const std::string kGemma =
    "op norm(x: T[rows, cols], w: T[cols]; eps = 1e-6)\n"
    "  ms   = mean(f32(x)^2, cols)\n"
    "  rstd = rsqrt(ms + eps)\n"
    "  y    = T(f32(x) * rstd * (1.0 + f32(w)))\n"
    "return y\n";
const std::string kNone =
    "op norm(x: T[rows, cols], w: T[cols]; eps = 1e-6)\n"
    "  ms   = mean(x^2, cols)\n"
    "  rstd = rsqrt(ms + eps)\n"
    "  y    = x * rstd * w\n"
    "return y\n";

TEST(Casting, RoundedBeforeTheWeightIsLlama) {
  const profile::Profile p = decided(kLlama);
  EXPECT_EQ(value(p, "casting"), "llama");
  EXPECT_NE(decision(p, "casting").because.find("before the product with the weight"), std::string::npos);
  EXPECT_EQ(decision(p, "casting").at, "source.kw:4");
}

TEST(Casting, RoundedOnceAtTheEndIsGemma) {
  const profile::Profile p = decided(kGemma);
  EXPECT_EQ(value(p, "casting"), "gemma");
  EXPECT_NE(decision(p, "casting").because.find("rounded once, at the end"), std::string::npos);
}

TEST(Casting, NoCastAtAllIsNone) {
  const profile::Profile p = decided(kNone);
  EXPECT_EQ(value(p, "casting"), "none");
  EXPECT_NE(decision(p, "casting").because.find("no cast"), std::string::npos);
}

TEST(Casting, AnOpThatNormalisesNothingIsNoneAndSaysSo) {
  const profile::Profile p = decided("op f(x: T[n])\n  y = T(sigmoid(f32(x))) * x\nreturn y\n");
  EXPECT_EQ(value(p, "casting"), "none");
  EXPECT_NE(decision(p, "casting").because.find("nothing is normalised"), std::string::npos);
}

TEST(Casting, EveryNormOfASourceIsSet) {
  const std::string two =
      "op norms(q: T[rows, cols], k: T[rows, cols], w: T[cols]; eps = 1e-6)\n"
      "  a = f32(q) * rsqrt(mean(f32(q)^2, cols) + eps)\n"
      "  b = f32(k) * rsqrt(mean(f32(k)^2, cols) + eps)\n"
      "  y = T(a) * w\n"
      "  z = T(b * f32(w))\n"
      "return y, z\n";
  for (const char* mode : {"llama", "gemma"}) {
    const profile::Profile p = decided(two, {{"casting", mode}});
    EXPECT_EQ(value(p, "casting"), mode);
    const bool llama = std::string_view(mode) == "llama";
    for (const char* norm : {"a", "b"}) {
      const bool rounded = p.math.forward.find("T(" + std::string(norm) + ")") != std::string::npos;
      EXPECT_EQ(rounded, llama) << norm << " in " << mode << "\n" << p.math.forward;
    }
  }
}

TEST(Casting, ASliceOfAValueThatIsKeptWiderIsAsWide) {
  const std::string source =
      "import torch\n\n\ndef f(x):\n    h = x.float().exp().to(x.dtype)\n    a, b = h.chunk(2, -1)\n"
      "    return (a.float() * b.float()).to(x.dtype)\n\n\n"
      "def get_inputs():\n    return [torch.randn(4, 8, dtype=torch.bfloat16)]\n";
  const auto roundings = [&](const Pins& pins) {
    const std::string forward = decided_torch(source, {}, pins).math.forward;
    std::size_t count = 0;
    for (std::size_t at = forward.find("T("); at != std::string::npos; at = forward.find("T(", at + 1)) ++count;
    return count;
  };
  EXPECT_GT(roundings({}), 1u);
  EXPECT_EQ(roundings({{"wider", "all"}}), 1u);  // of the result
}

TEST(Casting, TheUsersOwnTypeDoesNotChangeIt) {
  for (const char* type : {"bf16", "f16", "f32"}) {
    std::string math = kLlama;
    math.insert(math.find("  ms "), std::string("  types T = ") + type + "\n");
    EXPECT_EQ(value(decided(math), "casting"), "llama") << type;
  }
}

TEST(Casting, AWeightOfAnotherTypeDoesNotChangeIt) {
  EXPECT_EQ(value(decided("op norm(x: T[rows, cols], w: W[cols])\n  types T = bf16, W = f32\n"
                          "  y = T(f32(x) * rsqrt(mean(f32(x)^2, cols))) * w\nreturn y\n"),
                  "casting"),
            "llama");
}

TEST(Casting, SoftmaxInFp32IsRoundedOnceAtTheEnd) {
  EXPECT_EQ(value(decided("op softmax(x: T[rows, cols])\n  m = reduce_max(f32(x), cols)\n  e = exp(f32(x) - m)\n"
                          "  y = T(e / sum(e, cols))\nreturn y\n"),
                  "casting"),
            "gemma");
}

TEST(Casting, EachModeCanBeSetFromEachOther) {
  for (const std::string& math : {kLlama, kGemma, kNone})
    for (const std::string mode : {"llama", "gemma", "none"}) {
      const profile::Profile p = decided(math, {{"casting", mode}});
      EXPECT_EQ(value(p, "casting"), mode) << math;
      EXPECT_EQ(p.interface.outputs[0].type, "T");
      EXPECT_EQ(decision(p, "casting").set_by, profile::SetBy::User);
    }
}

TEST(Casting, SetToWhatItIsChangesNoMath) {
  EXPECT_EQ(decided(kLlama, {{"casting", "llama"}}).math, decided(kLlama).math);
  EXPECT_EQ(decided(kGemma, {{"casting", "gemma"}}).math, decided(kGemma).math);
}

TEST(Casting, ItCannotBeSetWhereNothingIsNormalised) {
  EXPECT_NE(error_of("op f(x: T[n])\n  y = x + x\nreturn y\n", {{"casting", "gemma"}}).find("nothing is normalised"),
            std::string::npos);
  EXPECT_NE(error_of(kLlama, {{"casting", "mistral"}}).find("llama, gemma or none"), std::string::npos);
}

TEST(Wider, AValueThatEagerRoundsCanBeKeptWide) {
  const profile::Profile before = decided(kNone);
  EXPECT_EQ(value(before, "wider"), "none");
  const profile::Profile after = decided(kNone, {{"wider", "rstd"}});
  EXPECT_EQ(value(after, "wider"), "rstd");
  EXPECT_NE(after.math.forward, before.math.forward);
  EXPECT_EQ(after.math.read, before.math.read) << "the reference stays what the source says";
  EXPECT_EQ(after.interface.outputs[0].type, "T");
}

TEST(Wider, AStatisticThatEagerRoundsIsNamedInTheReason) {
  EXPECT_NE(decision(decided(kNone), "wider").because.find("statistic"), std::string::npos);
  EXPECT_EQ(decision(decided(kLlama), "wider").because.find("statistic"), std::string::npos);
}

TEST(Wider, AllLeavesOneRoundingPerOutput) {
  const profile::Profile p = decided(kNone, {{"wider", "all"}});
  EXPECT_EQ(value(p, "casting"), "gemma") << p.math.forward;
}

TEST(Wider, AnUnknownValueIsRefusedWithTheKnownOnes) {
  const std::string error = error_of(kNone, {{"wider", "rst"}});
  EXPECT_NE(error.find("rstd"), std::string::npos) << error;
}

}  // namespace
}  // namespace kw::understand
