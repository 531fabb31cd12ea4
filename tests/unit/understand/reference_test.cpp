// What the reference of an op looks like. That it computes the right numbers is shown by running it (tests/python).
#include "understand/reference/reference.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "understand/reference/layout.h"

namespace kw::understand {
namespace {

// The function alone, without what stands before and after it.
std::string function_of(const std::string& math) {
  Result<ir::Graph> graph = ir::text::parse(math);
  if (!graph) return render(graph.error());
  Result<std::string> text = write_reference(*graph);
  if (!text) return render(text.error());
  size_t begin = text->find("\n\n\ndef " + reference_names(*graph).function + "(") + 3;
  return text->substr(begin, text->find("\n\n\ndef example_inputs") + 1 - begin);
}

std::string file_of(const std::string& math) { return *write_reference(*ir::text::parse(math)); }

TEST(Reference, IsAWholeFileThatReadsLikeTheMath) {
  EXPECT_EQ(file_of("op rms_norm(x: T[rows, cols], w: W[cols]; eps = 1e-6, offset = 0)\n"
                    "  ms   = mean(f32(x)^2, cols)\n"
                    "  rstd = rsqrt(ms + eps)\n"
                    "  y    = T(f32(x) * rstd) * (offset + w)\n"
                    "return y\n"),
            R"("""rms_norm in plain PyTorch, written from its math: run it, read it, differentiate it."""

import torch


def rms_norm(x, w, eps=1e-6, offset=0):
    # x: T[rows, cols], w: W[cols], eps: real, offset: int -> y[rows, cols]
    x_f32 = x.float()  # [rows, cols]
    ms = (x_f32 * x_f32).mean(dim=-1, keepdim=True)  # [rows, 1]
    rstd = torch.rsqrt(ms + eps)  # [rows, 1]
    y = (x_f32 * rstd).to(x.dtype) * (offset + w)  # [rows, cols]
    return y


def example_inputs():
    torch.manual_seed(0)
    rows, cols = 8, 8
    x = torch.randn((rows, cols)).to(torch.bfloat16)
    w = torch.randn((cols,)).to(torch.bfloat16)
    return (x, w)
)");
}

TEST(Reference, AReductionKeepsItsDimensionOnlyWhereItMeetsTheAxisAgain) {
  EXPECT_EQ(function_of("op f(x: f32[rows, cols])\n"
                        "  m = max(reduce_max(x, cols), 0.0)\n"
                        "  y = x - m\n"
                        "return y\n"),
            "def f(x):\n"
            "    # x: f32[rows, cols] -> y[rows, cols]\n"
            "    m = x.amax(dim=-1, keepdim=True).clamp(min=0.0)  # [rows, 1]\n"
            "    y = x - m  # [rows, cols]\n"
            "    return y\n");
  EXPECT_EQ(function_of("op f(x: f32[rows, cols])\n  y = sum(sum(x, cols), rows)\nreturn y\n"),
            "def f(x):\n"
            "    # x: f32[rows, cols] -> y\n"
            "    y = x.sum(dim=-1).sum()  # []\n"
            "    return y\n");
}

TEST(Reference, AxesFindTheirPositionsWithAsLittleNoiseAsCanBe) {
  EXPECT_EQ(function_of("op f(x: f32[rows, cols], w: f32[rows])\n  y = x * w\nreturn y\n"),
            "def f(x, w):\n"
            "    # x: f32[rows, cols], w: f32[rows] -> y[rows, cols]\n"
            "    y = x * w[:, None]  # [rows, cols]\n"
            "    return y\n");
  EXPECT_EQ(function_of("op f(x: f32[rows, cols], z: f32[cols, rows])\n  y = x + z\nreturn y[cols, rows]\n"),
            "def f(x, z):\n"
            "    # x: f32[rows, cols], z: f32[cols, rows] -> y[cols, rows]\n"
            "    y = x + z.T  # [rows, cols]\n"
            "    return y.T\n");
}

TEST(Reference, MatricesMultiplyAsAPersonWritesIt) {
  EXPECT_NE(function_of("op f(x: T[rows, k], w: T[cols, k])\n  y = contract(x, w, k)\nreturn y\n").find("y = x @ w.T"),
            std::string::npos);
  EXPECT_NE(function_of("op f(x: T[rows, k], w: T[k, cols])\n  y = contract(x, w, k)\nreturn y\n").find("y = x @ w"),
            std::string::npos);
  EXPECT_NE(function_of("op f(q: T[b, h, i, d], k: T[b, h, j, d])\n  y = contract(q, k, d)\nreturn y\n")
                .find("torch.einsum(\"bhid,bhjd->bhij\", q, k)"),
            std::string::npos);
}

TEST(Reference, TypesAreThoseOfTheTensorsThatComeIn) {
  std::string text = function_of("op f(x: T[n], w: W[n])\n  y = T(wide(x) * wide(x) + w)\nreturn y\n");
  EXPECT_NE(text.find("compute_dtype = torch.promote_types(x.dtype, torch.float32)"), std::string::npos) << text;
  EXPECT_NE(text.find(".to(x.dtype)"), std::string::npos) << text;
}

TEST(Reference, WhatTorchRoundsInsideIsWidenedFirst) {
  EXPECT_NE(function_of("op f(x: bf16[rows, cols])\n  y = logsumexp(x, cols)\nreturn y\n")
                .find("x.float().logsumexp(dim=-1).to(torch.bfloat16)"),
            std::string::npos);
  EXPECT_NE(function_of("op f(x: f32[rows, cols])\n  y = logsumexp(x, cols)\nreturn y\n").find("= x.logsumexp(dim=-1)"),
            std::string::npos);
  EXPECT_NE(
      function_of("op f(x: f8e4m3[n])\n  y = x + 1.0\nreturn y\n").find("(x.float() + 1.0).to(torch.float8_e4m3fn)"),
      std::string::npos);
}

TEST(Reference, ATensorWithoutDimensionsIsPromotedLikeAnyOther) {
  // Torch would let x decide.
  EXPECT_NE(function_of("op f(x: bf16[n], s: f32)\n  y = x * s\nreturn y\n").find("x.float() * s"), std::string::npos);
}

TEST(Reference, SizesComeFromShapes) {
  std::string text = function_of(
      "op f(x: f32[rows, c = 2*half])\n"
      "  sizes half = 4\n"
      "  y = slice(x, c -> h = half, start = half)\n"
      "return y\n");
  EXPECT_NE(text.find("half = x.shape[-1] // 2"), std::string::npos) << text;
  EXPECT_NE(text.find("x[..., half:]"), std::string::npos) << text;
}

TEST(Reference, ASizeThatNoShapeGivesIsAnArgument) {
  std::string text = function_of("op f(x: f32[rows])\n  sizes cols = 5\n  y = x + iota(c = cols)\nreturn y\n");
  EXPECT_NE(text.find("def f(x, *, cols=5):"), std::string::npos) << text;
}

TEST(Reference, NamesThatPythonCannotHaveAreChanged) {
  std::string text =
      function_of("op lambda(torch: f32[n], `norm.weight`: f32[n])\n  in = torch * `norm.weight`\nreturn in\n");
  EXPECT_NE(text.find("def lambda_2(torch_2, norm_weight):"), std::string::npos) << text;
  EXPECT_NE(text.find("in_2 = torch_2 * norm_weight"), std::string::npos) << text;
  ir::Graph graph = *ir::text::parse("op lambda(torch: f32[n], `norm.weight`: f32[n])\n  y = torch * 2\nreturn y\n");
  EXPECT_EQ(reference_names(graph).arguments, (std::vector<std::string>{"torch_2", "norm_weight"}));
}

TEST(Reference, ACombineIsAFunctionOfItsOwnAndItsPartsOneCall) {
  std::string text = function_of(
      "op f(a: f32[n], b: f32[n])\n"
      "  combine affine(a: f32, b: f32, c: f32, d: f32) from (1, 0)\n"
      "    slope = a * c\n"
      "    value = c * b + d\n"
      "  return slope, value\n"
      "  y = reduce(affine, a, b, n, part = 0)\n"
      "  z = reduce(affine, a, b, n, part = 1)\n"
      "return y, z\n");
  EXPECT_NE(text.find("    def combine(a, b, c, d):\n"), std::string::npos) << text;
  EXPECT_NE(text.find("reduced = reduce_with(combine, (a, b), (1.0, 0.0), dim=0)"), std::string::npos) << text;
  EXPECT_EQ(text.find("reduce_with", text.find("reduce_with") + 1), std::string::npos) << text;
}

TEST(Reference, LocalFunctionsComeAlongOnlyWhereTheyAreUsed) {
  std::string plain = file_of("op f(x: f32[n])\n  y = cumsum(x, n)\nreturn y\n");
  EXPECT_EQ(plain.find("def shift_in"), std::string::npos);
  std::string shifted = file_of("op f(x: f32[n])\n  y = cumsum(x, n, exclusive)\nreturn y\n");
  EXPECT_NE(shifted.find("def shift_in"), std::string::npos);
  EXPECT_EQ(shifted.find("def windows"), std::string::npos);
}

TEST(Reference, AnOpWithoutOutputsIsRefused) {
  ir::Graph empty;
  empty.name = "nothing";
  Result<std::string> text = write_reference(empty);
  ASSERT_FALSE(text.has_value());
  EXPECT_NE(text.error().message.find("nothing has no output"), std::string::npos);
}

TEST(ReferenceLayout, RearrangesWithTheShortestPython) {
  using reference::rearranged;
  constexpr ir::AxisId a = 0, b = 1, c = 2, unit = ir::kUnit;
  EXPECT_EQ(rearranged({a, b}, {a, b}), "");
  EXPECT_EQ(rearranged({a, b}, {b, a}), ".T");
  EXPECT_EQ(rearranged({a, b, c}, {a, c, b}), ".mT");
  EXPECT_EQ(rearranged({a, b, c}, {c, b, a}), ".transpose(0, 2)");
  EXPECT_EQ(rearranged({a, b, c}, {b, c, a}), ".permute(1, 2, 0)");
  EXPECT_EQ(rearranged({a}, {a, unit}), "[:, None]");
  EXPECT_EQ(rearranged({a, b}, {a, b, unit}), "[..., None]");
  EXPECT_EQ(rearranged({a, b}, {a, unit, b}), "[:, None]");
  EXPECT_EQ(rearranged({a, unit}, {a}), ".squeeze(-1)");
  EXPECT_EQ(rearranged({a}, {b, a}), "[None]");
  EXPECT_EQ(rearranged({}, {unit, unit}), "[None, None]");
}

TEST(ReferenceLayout, BroadcastsAsTorchDoes) {
  using reference::broadcast;
  constexpr ir::AxisId a = 0, b = 1, unit = ir::kUnit;
  EXPECT_EQ(broadcast({a, b}, {b}), (reference::Layout{a, b}));
  EXPECT_EQ(broadcast({a, unit}, {b}), (reference::Layout{a, b}));
  EXPECT_EQ(broadcast({a, b}, {a}), std::nullopt);  // the columns would meet the rows
  EXPECT_EQ(broadcast({a, b}, {unit, a}), std::nullopt);
  EXPECT_EQ(broadcast({a, unit}, {a}), std::nullopt);  // a would stand twice
}

}  // namespace
}  // namespace kw::understand
