#include "act/liger/insert.h"

#include <gtest/gtest.h>

#include "act/liger/host_text.h"

namespace kw::act::liger {
namespace {

constexpr const char* kImports =
    "import os\n\nfrom pack.ops.beta import LigerBeta  # noqa: F401\nfrom pack.ops.beta import beta_forward\n"
    "from pack.ops.qwen2 import LigerQwen\n# about what follows\nfrom pack.ops.qwen10 import LigerQwen\n\nX = 1\n"
    "from pack.ops.late import Late\n";

std::string with_import(const std::string& line) {
  const Result<std::string> text = insert_import(kImports, "from pack.ops.", line);
  return text ? *text : text.error().message;
}

TEST(LigerInsert, AnImportGoesBeforeTheFirstThatComesAfterIt) {
  EXPECT_NE(with_import("from pack.ops.alpha import LigerAlpha")
                .find("\n\nfrom pack.ops.alpha import LigerAlpha\nfrom"
                      " pack.ops.beta"),
            std::string::npos);
}

TEST(LigerInsert, ClassesComeBeforeFunctionsOfAModule) {
  EXPECT_NE(with_import("from pack.ops.beta import Zeta")
                .find("F401\nfrom pack.ops.beta import Zeta\nfrom pack.ops.beta "
                      "import beta_forward\n"),
            std::string::npos);
}

TEST(LigerInsert, ANumberInANameCountsAsOne) {
  EXPECT_NE(with_import("from pack.ops.qwen3 import LigerQwen")
                .find("from pack.ops.qwen3 import LigerQwen\nfrom pack.ops.qwen10"),
            std::string::npos);
}

TEST(LigerInsert, ALastImportEndsTheListAndNotTheFile) {
  EXPECT_NE(
      with_import("from pack.ops.zz import Z").find("qwen10 import LigerQwen\nfrom pack.ops.zz import Z\n\nX = 1"),
      std::string::npos);
}

TEST(LigerInsert, AnImportThatIsThereChangesNothingWhateverItsComment) {
  EXPECT_EQ(with_import("from pack.ops.beta import LigerBeta"), kImports);
}

TEST(LigerInsert, WithoutAListThereIsNoPlace) {
  EXPECT_FALSE(insert_import("x = 1\n", "from pack.", "from pack.a import A"));
  EXPECT_FALSE(insert_name("x = [\n]\n", "__all__ = [", "A"));
  EXPECT_FALSE(insert_name("__all__ = [\n    \"A\",\n", "__all__ = [", "B"));  // which has no end
  EXPECT_FALSE(insert_function("def other():\n    pass\n", "liger_", "liger_a", "def liger_a():\n    pass\n"));
}

TEST(LigerInsert, ANameGoesIntoItsPlaceOfAListThatIsSortedInPart) {
  const std::string list = "__all__ = [\n    \"is_there\",\n    \"LigerB\",\n    \"LigerD\",\n    \"LigerA\",\n]\n";
  EXPECT_EQ(*insert_name(list, "__all__ = [", "LigerC"),
            "__all__ = [\n    \"is_there\",\n    \"LigerB\",\n    \"LigerC\",\n    \"LigerD\",\n    \"LigerA\",\n]\n");
  EXPECT_EQ(*insert_name(list, "__all__ = [", "LigerD"), list);
  EXPECT_TRUE(insert_name(list, "__all__ = [", "LigerE")->ends_with("\"LigerA\",\n    \"LigerE\",\n]\n"));
}

TEST(LigerInsert, AFunctionGoesAboveTheCommentsAndDecoratorsOfTheNext) {
  const std::string text = "def liger_a(\n    x,\n):\n    return x\n\n\n# of c\n@kept\ndef liger_c():\n    pass\n";
  const std::string function = "def liger_b():\n    pass\n";
  EXPECT_EQ(*insert_function(text, "liger_", "liger_b", function),
            "def liger_a(\n    x,\n):\n    return x\n\n\ndef liger_b():\n    pass\n\n\n# of c\n@kept\ndef liger_c():\n"
            "    pass\n");
  EXPECT_EQ(function_in(text, "liger_a"), "def liger_a(\n    x,\n):\n    return x\n");
  EXPECT_EQ(function_in(text, "liger"), "");
}

TEST(LigerInsert, AFunctionOfThatNameIsReplaced) {
  const std::string text = "def liger_a():\n    pass\n\n\ndef liger_b():\n    pass\n";
  EXPECT_EQ(*insert_function(text, "liger_", "liger_a", "def liger_a(x):\n    return x\n"),
            "def liger_a(x):\n    return x\n\n\ndef liger_b():\n    pass\n");
}

TEST(LigerInsert, ASizeReadsAsAFormatterLeavesIt) {
  EXPECT_EQ(python_size("max(1, ceil_div(rows*cols, 4*(ROWS)))"), "max(1, triton.cdiv(rows * cols, 4 * ROWS))");
  EXPECT_EQ(python_size("(a + 2)//next_pow2(n)"), "(a + 2) // triton.next_power_of_2(n)");
  EXPECT_EQ(python_size("cols % 8 == 0"), "cols % 8 == 0");
}

}  // namespace
}  // namespace kw::act::liger
