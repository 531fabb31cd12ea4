#include "device/emulate/launch_bounds.h"

#include <gtest/gtest.h>

namespace kw::device::emulate {
namespace {

using Bounds = std::map<std::string, std::string>;

TEST(LaunchBounds, AreReadInTheFilesOwnWords) {
  EXPECT_EQ(launch_bounds("KW_KERNEL(256, 2) void norm(const float* x) {}\n"
                          "KW_KERNEL((kw::most_in<512, 2048, T>()), 1)\nvoid long_norm (int64_t n) {}\n"),
            (Bounds{{"norm", "256"}, {"long_norm", "(kw::most_in<512, 2048, T>())"}}));
}

TEST(LaunchBounds, AreNotReadFromComments) {
  EXPECT_EQ(launch_bounds("// KW_KERNEL(threads, blocks) void name(\n/* KW_KERNEL(1, 1) void other( */ int x;\n"
                          "KW_KERNEL(64 /* one warp a row */, 1) void norm() {}\n"),
            (Bounds{{"norm", "64  "}}));
}

TEST(LaunchBounds, OfAKernelThatIsWrittenTwiceAreNotKnown) {
  EXPECT_EQ(launch_bounds("#if A\nKW_KERNEL(64, 1) void norm() {}\n#else\nKW_KERNEL(128, 1) void norm() {}\n#endif\n"),
            Bounds{});
}

TEST(LaunchBounds, OfTextThatEndsEarlyAreNone) {
  for (const char* text : {"", "KW_KERNEL(", "KW_KERNEL(64", "KW_KERNEL(64,", "KW_KERNEL(64, 1", "KW_KERNEL(64, 1)",
                           "KW_KERNEL(64, 1) void", "KW_KERNEL(64, 1) int x", "/* KW_KERNEL(64, 1) void f(", "//"})
    EXPECT_EQ(launch_bounds(text), Bounds{}) << text;
}

}  // namespace
}  // namespace kw::device::emulate
