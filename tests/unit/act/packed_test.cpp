// Which products and sums of 16-bit numbers are computed for whole vectors, and which stay with their element.
#include <gtest/gtest.h>

#include "act/emit/cuda/emit.h"
#include "act/loop/kernels.h"
#include "loop_cases.h"

namespace kw::act::test {
namespace {

std::string cuda_of(const std::string& math) {
  const std::string text = "op f(a: T[rows, cols], b: T[rows, cols], s: T[1], w: T[cols])\n" + math + "return y\n";
  const Result<LoopProgram> program = make_program("f", passes_of(LoopCase{"f", text, {}})[0].graph);
  if (!program) ADD_FAILURE() << render(program.error());
  const Result<cuda::EmittedPass> emitted = cuda::emit(*program, {});
  if (!emitted) ADD_FAILURE() << render(emitted.error());
  return emitted ? emitted->text : "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Packed, ProductsSumsAndDifferencesOfVectorsAreComputedAsAWhole) {
  const std::string text = cuda_of("  y = a * b + a - b\n");
  EXPECT_TRUE(has(text, "kw::products<T, kVector>(a_v[v], b_v[v], whole)")) << text;
  EXPECT_TRUE(has(text, "kw::sums<T, kVector>(product_v, a_v[v], whole)")) << text;
  EXPECT_TRUE(has(text, "y_v = kw::differences<T, kVector>(")) << text;
  EXPECT_FALSE(has(text, "[k]")) << "nothing is left for single elements\n" << text;
  EXPECT_FALSE(has(text, "for (int k")) << "and no loop around it\n" << text;
}

TEST(Packed, AnOperandMayBeOneNumberForTheWholeVector) {
  EXPECT_TRUE(has(cuda_of("  y = s * a\n"), "kw::products<T, kVector>(T(s_i), a_v[v], whole)"));
}

TEST(Packed, NumbersAreOperandsWhereEveryTypeHasThem) {
  EXPECT_TRUE(has(cuda_of("  y = 0.5 * a\n"), "kw::products<T, kVector>(T(T32(0.5)), a_v[v], whole)"));
  const std::string text = cuda_of("  y = 0.3 * a\n");
  EXPECT_FALSE(has(text, "kw::products")) << "0.3 would be rounded first\n" << text;
}

TEST(Packed, WhatIsRoundedForItAloneBecomesAVector) {
  const std::string text = cuda_of("  y = tanh(a) * b\n");
  EXPECT_TRUE(has(text, "tanh_a_v[k] = T(kw::tanh(T32(a_v[v][k])));")) << text;
  EXPECT_TRUE(has(text, "const auto y_v = kw::products<T, kVector>(tanh_a_v, b_v[v], whole);")) << text;
}

TEST(Packed, WhatElementsWantFromItComesInALoopOfItsOwn) {
  const std::string text = cuda_of("  y = exp(tanh(a) * b)\n");
  const size_t rounded = text.find("_v[k] = T(kw::tanh("), product = text.find("kw::products<"),
               wanted = text.find("kw::exp(");
  ASSERT_NE(wanted, std::string::npos) << text;
  EXPECT_LT(rounded, product) << text;
  EXPECT_LT(product, wanted) << text;
}

TEST(Packed, WhatIsWantedInAnotherWayTooStaysWithItsElement) {
  const std::string text = cuda_of("  t = tanh(a)\n  y = exp(t) + t * b\n");
  EXPECT_FALSE(has(text, "kw::products")) << text;
}

TEST(Packed, ValuesOfMoreBitsAreNot) {
  const std::string text = cuda_of("  y = cast(cast(a, f32) * cast(b, f32), T)\n");
  EXPECT_FALSE(has(text, "kw::products")) << text;
}

}  // namespace
}  // namespace kw::act::test
