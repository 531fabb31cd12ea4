#include "verify/style.h"

#include <gtest/gtest.h>

namespace kw::verify {
namespace {

using kernel::Argument;

kernel::Manifest manifest_of(const std::string& file, kernel::Target target = kernel::Target::Cuda) {
  kernel::Manifest manifest;
  manifest.name = "scale";
  manifest.target = target;
  manifest.sizes = {"n"};
  kernel::Entry entry{"scale", file, {}, {}, {}};
  entry.arguments = {{Argument::Kind::Read, "x"},
                     {Argument::Kind::Write, "y"},
                     {Argument::Kind::Size, "n", 0, "i64"},
                     {Argument::Kind::Stride, "x", 0, "i64"},
                     {Argument::Kind::Size, "ceil_div(n, 2)", 0, "i64"}};
  manifest.passes = {{"forward", {}, {{kernel::Step::Kind::Kernel, {entry}}}}};
  return manifest;
}

const std::string kGood =
    "// y = 2x.\n"
    "#include \"kw/element.h\"\n"
    "\n"
    "KW_KERNEL(256, 1) void scale(const float* x, float* y, long long n, long long x0, long long half) {\n"
    "  y[0] = 2 * x[0];  // not asm, only the word in a comment\n"
    "}\n";

std::vector<std::string> flaws(const std::string& text) {
  return style_flaws(manifest_of("scale.cu"), {{"scale.cu", text}});
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  return text.replace(text.find(from), from.size(), to);
}

TEST(StyleTest, AFileThatReadsWellHasNoFlaw) {
  EXPECT_EQ(flaws(kGood), std::vector<std::string>());
  EXPECT_EQ(judge_style(manifest_of("scale.cu"), {{"scale.cu", kGood}}).outcome, Outcome::Passed);
}

TEST(StyleTest, EachRuleNamesItsLine) {
  EXPECT_EQ(flaws(with("  y[0]", std::string(112, ' ') + "y[0]")).at(0), "scale.cu:5: line-length: 168 columns");
  EXPECT_EQ(flaws(with("  y[0]", "\ty[0]")).at(0), "scale.cu:5: white-space: a tab");
  EXPECT_EQ(flaws(with("{\n", "{ \n")).at(0), "scale.cu:4: white-space: space at the end of the line");
  EXPECT_EQ(flaws(kGood.substr(0, kGood.size() - 1)).at(0), "scale.cu:6: white-space: the last line does not end");
  EXPECT_EQ(flaws(with("// y = 2x.\n", "\n")).at(0),
            "scale.cu:1: opening: the file does not open with a comment that says what it is");
  EXPECT_EQ(flaws(with("2 * x[0];", "x[0]; asm(\"nop;\");")).at(0),
            "scale.cu:5: assembly: inline PTX: no emulation can run it; the runtime's headers have what needs it");
  EXPECT_EQ(flaws(with("\nKW_KERNEL", "#define KW_SHARED 1\nKW_KERNEL")).at(0),
            "scale.cu:3: runtime-names: names of the runtime (kw::, KW_) are made anew here");
  EXPECT_EQ(flaws(with("\nKW_KERNEL", "namespace kw { inline int own; }\nKW_KERNEL")).size(), 1u);
}

TEST(StyleTest, AParameterIsCalledWhatTheManifestPassesThere) {
  const std::vector<std::string> found = flaws(with("const float* x, float* y", "const float* y, float* x"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], "scale.cu:4: names: parameter 1 of scale is called y, and the manifest passes x");
  EXPECT_EQ(flaws(with("long long n,", "long long count,")).size(), 0u);
  // Strides and sizes that are computed have no name there.
  EXPECT_EQ(flaws(with("x0, long long half", "anything, long long else_")).size(), 0u);
}

TEST(StyleTest, ASizeIsNotCalledWhatAnotherIs) {
  kernel::Manifest manifest = manifest_of("scale.cu");
  manifest.sizes = {"n", "m"};
  std::string text = kGood;
  text.replace(text.find("long long n,"), 12, "long long m,");
  ASSERT_EQ(style_flaws(manifest, {{"scale.cu", text}}).size(), 1u);
  EXPECT_EQ(style_flaws(manifest, {{"scale.cu", text}})[0],
            "scale.cu:4: names: parameter 3 of scale is called m, and the manifest passes n");
}

TEST(StyleTest, AssemblyIsForTheCompilerOfTheProcessorToJudge) {
  std::string text = kGood;
  text.insert(text.rfind('}'), "  asm(\"nop\");\n");
  EXPECT_EQ(style_flaws(manifest_of("scale.cu", kernel::Target::Cpu), {{"scale.cu", text}}).size(), 0u);
  EXPECT_EQ(flaws(text).size(), 1u);
}

TEST(StyleTest, NamesAreThoseOfTheDefinitionNotOfACall) {
  EXPECT_EQ(parameter_names("void f(int a); void g() { f(1); } void f(int a, T<1, 2> b, int c[3]) {}", "f"),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(parameter_names("def f(x_ptr, n: tl.constexpr, k=1):\n  pass\n", "f"),
            (std::vector<std::string>{"x_ptr", "n", "k"}));
  EXPECT_EQ(parameter_names("void ff(int a) {}", "f"), std::vector<std::string>());
  EXPECT_EQ(parameter_names("void f() {}", "f"), std::vector<std::string>());
}

TEST(StyleTest, CommentsAndStringsAreNoCode) {
  EXPECT_EQ(code_alone("a // b\n\"c\\\"d\" e /* f\ng */ 1'000 'h'\n"), "a     \n       e     \n     1'000    \n");
}

TEST(StyleTest, ManyFlawsAreCountedAndAFewAreShown) {
  std::string text = kGood;
  for (int i = 0; i < 20; ++i) text += "\t\n";
  const Verdict verdict = judge_style(manifest_of("scale.cu"), {{"scale.cu", text}});
  EXPECT_EQ(verdict.outcome, Outcome::Flagged);
  EXPECT_EQ(verdict.evidence.size(), 6u);
  EXPECT_NE(verdict.line.find("(and 39 more)"), std::string::npos) << verdict.line;
}

}  // namespace
}  // namespace kw::verify
