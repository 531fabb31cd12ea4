#include "mutate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kw::test {
namespace {

const char* const kKernel = R"(template <int kVector>
KW_DEVICE void norm_rows(kw::Tensor<const T, 1> x, Index rows, Index cols) {
  int turn = 0;
  for (Index start = 0; start < rows; start += step) {
    const T32 scale = kw::round_to<T>(a + b);
    const T32 kept = kw::round_to<T>(a * b);
    y_v[k] = T(-kept);
    z_v[k] = T(scale * a);
    kw::block_reduce(turn, kw::part<kw::Sum>(sum, parts));
    turn = 1 - turn;
    kw::barrier();
    for (int v = 0; v < kVectors; ++v) {
      const Index vector = start + v;
      if (vector < rows) {
      }
    }
  }
}

KW_KERNEL(256, 1)
void norm(const T* x, int rows, int cols, int64_t x_stride_0, int64_t x_stride_1) {
  norm_rows<4>({x, {0, 1}}, rows, cols);
}
)";

std::vector<Mutant> of_kind(const std::string& kind, const std::set<std::string>& skipped = {}) {
  std::vector<Mutant> all = mutants_of(kKernel, skipped);
  std::erase_if(all, [&](const Mutant& mutant) { return mutant.kind != kind; });
  return all;
}

bool changes(const std::vector<Mutant>& mutants, const std::string& before, const std::string& after) {
  return std::any_of(mutants.begin(), mutants.end(),
                     [&](const Mutant& m) { return m.before == before && m.after == after; });
}

TEST(Mutants, BarriersAndTurnsAreLeftOut) {
  const std::vector<Mutant> barriers = of_kind("barrier");
  EXPECT_TRUE(changes(barriers, "kw::barrier();", ";"));
  EXPECT_TRUE(changes(barriers, "turn = 1 - turn;", ";"));
  EXPECT_EQ(barriers.size(), 2u);
}

TEST(Mutants, ARoundingIsLeftOutUnlessItsValueIsRoundedAgain) {
  const std::vector<Mutant> roundings = of_kind("rounding");
  ASSERT_EQ(roundings.size(), 1u);
  EXPECT_EQ(roundings[0].after, "const T32 scale = (a + b);");
}

TEST(Mutants, ARoundingToTheCommonTypeIsLeftOutUnlessItsValueIsRoundedToOneOfTheTwo) {
  const auto roundings = [](const std::string& use) {
    const std::string kernel =
        "void norm_columns(int64_t cols) {\n  const TW32 sum = kw::round_to<TW>(a + b);\n  y_row[col] = " + use +
        ";\n}\nvoid norm() {\n  norm_columns(1);\n}\n";
    std::vector<Mutant> all = mutants_of(kernel, {});
    std::erase_if(all, [](const Mutant& mutant) { return mutant.kind != "rounding"; });
    return all.size();
  };
  EXPECT_EQ(roundings("W(W32(sum))"), 0u);
  EXPECT_EQ(roundings("W(W32(sum) * c)"), 1u);
  EXPECT_EQ(roundings("T(sum)"), 1u);
}

TEST(Mutants, AParameterStandsForAnotherUnlessTheManifestHandsBothTheSameSize) {
  const std::string before = "norm_rows<4>({x, {0, 1}}, rows, cols);", after = "norm_rows<4>({x, {0, 1}}, cols, cols);";
  const auto changed = [&](const Given& given) { return changes(mutants_of(kKernel, {}, given), before, after); };
  EXPECT_TRUE(changed({}));
  EXPECT_TRUE(changed({{"norm", {"", "rows", "cols", "", ""}}}));
  EXPECT_TRUE(changed({{"another", {"", "rows", "rows", "", ""}}}));
  EXPECT_FALSE(changed({{"norm", {"", "rows", "rows", "", ""}}}));
}

TEST(Mutants, AnyThreadMayStoreASumThatAllHave) {
  const auto another_stores = [](const std::string& before) {
    const std::vector<Mutant> all =
        mutants_of("void sum_rows(Index rows) {\n  " + before + "\n  if (kw::thread() == 0) kw::store(to, sum);\n}\n" +
                       "extern \"C\" {\nvoid sum() {\n  sum_rows(a);\n}\n}\n",
                   {});
    return changes(all, "if (kw::thread() == 0) kw::store(to, sum);", "if (kw::thread() == 1) kw::store(to, sum);");
  };
  EXPECT_FALSE(another_stores("kw::block_reduce(0, kw::part<kw::Sum>(sum, parts));"));
  EXPECT_TRUE(another_stores("sum += term;"));
}

TEST(Mutants, TheFirstTurnIsAsGoodAsTheSecond) {
  for (const Mutant& mutant : of_kind("number")) EXPECT_NE(mutant.before, "int turn = 0;");
}

TEST(Mutants, WhatALoopOfEightLeavesToAnotherIsNoMistakeButWhatItTakesIs) {
  const std::string line = "for (; element < end_of_column - 7 * step; element += 8 * step) {";
  const std::vector<Mutant> all =
      mutants_of("void sum_columns(Index end_of_column, Index step) {\n  " + line + "\n    take(element);\n  }\n}\n" +
                     "extern \"C\" {\nvoid sum() {\n  sum_columns(a, b);\n}\n}\n",
                 {});
  EXPECT_FALSE(changes(all, line, "for (; element < end_of_column - 8 * step; element += 8 * step) {"));
  EXPECT_TRUE(changes(all, line, "for (; element < end_of_column - 7 * step; element += 9 * step) {"));
  EXPECT_TRUE(changes(all, line, "for (; element <= end_of_column - 7 * step; element += 8 * step) {"));
}

TEST(Mutants, TheOnlyTileOfWhatWorkersLeftBeginsAtZero) {
  const auto moves_a_tile = [](const std::string& axis) {
    const std::vector<Mutant> all = mutants_of(
        "template <bool kUnit>\nvoid sum_whole(int64_t workers, int64_t n) {\n"
        "  const int64_t end = kw::min(" +
            axis +
            ", tile + kTile);\n"
            "  terms[i - tile] = row[i];\n}\n"
            "extern \"C\" {\nvoid sum() {\n  sum_whole<true>(a, b);\n}\n}\n",
        {});
    return changes(all, "terms[i - tile] = row[i];", "terms[i + tile] = row[i];");
  };
  EXPECT_FALSE(moves_a_tile("workers"));
  EXPECT_TRUE(moves_a_tile("n"));
}

std::vector<Mutant> of_line(const std::string& source, const std::string& before) {
  std::vector<Mutant> all = mutants_of(source, {});
  std::erase_if(all, [&](const Mutant& mutant) { return mutant.before != before; });
  return all;
}

TEST(Mutants, AnEdgeIsFetchedAgainAtAnyTileAndForTheFirstTimeAtTheFirst) {
  const auto kernel = [](const std::string& again) {
    return R"(template <int kVector>
KW_DEVICE void norm_rows(kw::Tensor<const T, 1> x, kw::Tensor<const T, 1> w, Index rows) {
  if (whole ? element < end : edge && tile == 0) {
    x_v[v] = kw::load_piece<kVector>(x.at(row, element), whole);
  }
  if (again ? element < end : edge && tile == 0) {
    if (whole && slot * kVector < cached)
      x_v[v] = x_v_cache[slot];
    else
      )" + again +
           R"(
  }
}
void norm() { norm_rows<4>(x, w, rows); }
)";
  };
  const std::string first = "if (whole ? element < end : edge && tile == 0) {";
  const std::string second = "if (again ? element < end : edge && tile == 0) {";
  const auto of_tile = [](const std::string& source, const std::string& before) {
    int count = 0;
    for (const Mutant& mutant : of_line(source, before))
      count +=
          mutant.after.find("tile != 0") != std::string::npos || mutant.after.find("tile == 1") != std::string::npos;
    return count;
  };
  const std::string same = "x_v[v] = kw::load_piece<kVector>(x.at(row, element), whole);";
  const std::string other = "w_v[v] = kw::load_piece<kVector>(w.at(row, element), whole);";
  EXPECT_EQ(of_tile(kernel(same), first), 2);
  EXPECT_EQ(of_tile(kernel(same), second), 2);  // under another condition
  std::string alike = kernel(same);
  alike.replace(alike.find("(again"), 6, "(whole");
  EXPECT_EQ(of_tile(alike, first), 2);  // the first of the two alone
  std::string unlike = kernel(other);
  unlike.replace(unlike.find("(again"), 6, "(whole");
  EXPECT_EQ(of_tile(unlike, first), 4);
}

TEST(Mutants, TheSignOfADifferenceOfTwoNumbersOfATypeNeedsNoRoundingToIt) {
  const auto roundings = [](const std::string& type) {
    const std::string source = R"(template <int kVector>
KW_DEVICE void tvd_elements(Index rows) {
  kw::Vector<T, kVector> p_v[kPieces];
  kw::Vector<)" + type + R"(, kVector> q_v[kPieces];
  grad = quotient * kw::sign(kw::round_to<T>(T32(p_v[v][k]) - T32(q_v[v][k])));
}
void tvd() { tvd_elements<4>(rows); }
)";
    int count = 0;
    for (const Mutant& mutant : mutants_of(source, {})) count += mutant.kind == "rounding";
    return count;
  };
  EXPECT_EQ(roundings("T"), 0);
  EXPECT_EQ(roundings("W"), 1);
}

TEST(Mutants, ABlockThatComputesNothingIsLeftAlone) {
  for (const Mutant& mutant : mutants_of(kKernel, {}))
    EXPECT_TRUE(mutant.line < 12 || mutant.line > 16) << mutant.after;
}

TEST(Mutants, AKernelsStridesAreChangedAndTheScheduleIsNot) {
  const std::vector<Mutant> numbers = of_kind("number");
  EXPECT_TRUE(changes(numbers, "norm_rows<4>({x, {0, 1}}, rows, cols);", "norm_rows<4>({x, {0, 2}}, rows, cols);"));
  EXPECT_FALSE(changes(numbers, "norm_rows<4>({x, {0, 1}}, rows, cols);", "norm_rows<5>({x, {0, 1}}, rows, cols);"));
  EXPECT_TRUE(changes(of_kind("name"), "norm_rows<4>({x, {0, 1}}, rows, cols);",
                      "norm_rows<4>({x, {0, 1}}, rows, x_stride_0);"));
}

TEST(Mutants, NoVariableStandsInItsOwnValue) {
  for (const Mutant& mutant : mutants_of(
           "KW_DEVICE void f(Index point, Index rows) {\n  const Index row = point / rows;\n  use(row, point);\n}\n",
           {}, {}))
    EXPECT_EQ(mutant.after.find("= row / rows"), std::string::npos) << mutant.after;
}

TEST(Mutants, EachDiffersFromTheOriginalInOneLine) {
  for (const Mutant& mutant : mutants_of(kKernel, {})) {
    EXPECT_NE(mutant.before, mutant.after);
    EXPECT_NE(mutant.text, kKernel);
  }
}

TEST(Mutants, WhatFetchesARowAheadIsMarked) {
  const std::string source = R"(template <int kVector>
KW_DEVICE void norm_rows(Index rows) {
  if constexpr (kAhead) {
    x_v[v] = a - b;
  }
  const Index later = c - d;
}
void norm() { norm_rows<4>(rows); }
)";
  EXPECT_FALSE(of_line(source, "x_v[v] = a - b;").empty());
  EXPECT_FALSE(of_line(source, "const Index later = c - d;").empty());
  for (const Mutant& mutant : mutants_of(source, {}))
    EXPECT_EQ(mutant.ahead, mutant.before.starts_with("x_v")) << mutant.before;
}

TEST(Mutants, AFunctionThatIsSkippedHasNone) {
  for (const Mutant& mutant : mutants_of(kKernel, {"norm_rows"})) EXPECT_EQ(mutant.function, "norm");
}

TEST(Mutants, ATrapStandsBeforeItsLine) {
  EXPECT_NE(with_trap(kKernel, 11).find("__builtin_trap();\n    kw::barrier();"), std::string::npos);
}

}  // namespace
}  // namespace kw::test
