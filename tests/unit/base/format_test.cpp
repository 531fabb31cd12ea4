#include "base/format.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(FormatTest, NamesAreOfModulesTensorsAndTheirPlacesInLists) {
  for (const char* name : {"x", "weight_2", "self.weight", "norms.0.weight", "layers.12.norm.bias"})
    EXPECT_TRUE(is_identifier(name)) << name;
  for (const char* name : {"", ".", "x.", ".x", "0.weight", "2x", "a..b", "a.0x", "a b", "a-b"})
    EXPECT_FALSE(is_identifier(name)) << name;
}

}  // namespace
}  // namespace kw
