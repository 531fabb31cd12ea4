#include "act/package/package.h"

#include <gtest/gtest.h>

#include "act/package/expression_text.h"

namespace kw::act {
namespace {

TEST(ExpressionText, GuardsAndSizesReadAsCppWithFloorDivision) {
  EXPECT_EQ(*cpp_size("(rows + 3)//4*cols"), "kw_host::floor_div(rows + 3, 4) * cols");
  EXPECT_EQ(*cpp_size("a - (b - c)"), "a - (b - c)");
  EXPECT_EQ(*cpp_size("max(1, min(rows, multiprocessors*2))"),
            "kw_host::max(1, kw_host::min(rows, kw_multiprocessors * 2))");
  EXPECT_EQ(*cpp_size("shape(x, -1) % 8"), "kw_host::floor_mod(kw_host::shape(x, -1), 8)");
  EXPECT_EQ(*cpp_condition("cols % 8 == 0 and aligned(x, 16)"),
            "(kw_host::floor_mod(cols, 8) == 0) && kw_host::aligned(x, 16)");
  EXPECT_EQ(*cpp_condition("not dense(x) or beta < 0.5"), "(!kw_host::dense(x)) || (beta < 0.5)");
  EXPECT_EQ(*cpp_condition("same_strides(x, y)"), "kw_host::same_strides(x, y)");
}

TEST(ExpressionText, WhatIsNoExpressionIsRefused) {
  EXPECT_FALSE(cpp_size("rows +"));
  EXPECT_FALSE(cpp_size("dense(x)"));
  EXPECT_FALSE(cpp_condition("rows"));
}

TEST(Package, ItsFolderNamesIt) {
  EXPECT_EQ(*set_directory("package:out/my-kernels/", "package"), "out/my-kernels");
  EXPECT_EQ(package_name("out/my-kernels"), "my_kernels");
  EXPECT_EQ(package_name("kernels"), "kernels");
}

TEST(Package, APlaceOfNoKnownSetIsRefused) {
  for (const char* into : {"", "package:", "out", "wheel:out"}) {
    const auto directory = set_directory(into, "package");
    ASSERT_FALSE(directory) << into;
    EXPECT_EQ(directory.error().hint, "package:DIR or cpp:DIR, as in package:my_kernels");
  }
}

TEST(Package, ANameThatPythonCannotImportIsRefused) {
  PackageOptions options;
  for (const char* name : {"", "2fast", "a.b", "a b"}) {
    options.name = name;
    const auto files = package({}, options);
    ASSERT_FALSE(files) << name;
    EXPECT_NE(files.error().message.find("is no name for a Python package"), std::string::npos);
  }
}

}  // namespace
}  // namespace kw::act
