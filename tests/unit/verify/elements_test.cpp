#include "verify/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace kw::verify {
namespace {

using ir::DType;

TEST(Elements, EverySixteenBitWordReadsAsItsNumberAndWritesBack) {
  for (const DType dtype : {DType::BF16, DType::F16})
    for (int word = 0; word < 1 << 16; ++word) {
      const auto bits = static_cast<std::uint16_t>(word);
      std::byte memory[2];
      std::memcpy(memory, &bits, 2);
      const double value = read_element(memory, dtype);
      if (std::isnan(value)) continue;
      EXPECT_EQ(ir::round_to(dtype, value), value);
      std::byte back[2];
      write_element(back, dtype, value);
      ASSERT_EQ(std::memcmp(memory, back, 2), 0) << word;
    }
}

TEST(Elements, EveryEightBitFloatReadsAsItsNumberAndWritesBack) {
  for (const DType dtype : {DType::F8E4M3, DType::F8E5M2}) {
    int numbers = 0;
    for (int word = 0; word < 1 << 8; ++word) {
      const auto memory = static_cast<std::byte>(word);
      const double value = read_element(&memory, dtype);
      if (std::isnan(value)) continue;
      ++numbers;
      EXPECT_EQ(ir::round_to(dtype, value), value);
      std::byte back;
      write_element(&back, dtype, value);
      ASSERT_EQ(memory, back) << word;
    }
    EXPECT_EQ(numbers, dtype == DType::F8E4M3 ? 254 : 250);
  }
}

TEST(Elements, AKnownNumberHasItsKnownBits) {
  std::byte memory[2];
  write_element(memory, DType::BF16, 1.0);
  EXPECT_EQ(static_cast<int>(memory[1]) << 8 | static_cast<int>(memory[0]), 0x3F80);
  write_element(memory, DType::F16, -2.0);
  EXPECT_EQ(static_cast<int>(memory[1]) << 8 | static_cast<int>(memory[0]), 0xC000);
  write_element(memory, DType::F16, 0x1p-24);
  EXPECT_EQ(static_cast<int>(memory[1]) << 8 | static_cast<int>(memory[0]), 0x0001);
  write_element(memory, DType::F8E4M3, 448.0);
  EXPECT_EQ(static_cast<int>(memory[0]), 0x7E);
  write_element(memory, DType::F8E4M3, NAN);
  EXPECT_EQ(static_cast<int>(memory[0]), 0x7F);
  write_element(memory, DType::F8E5M2, 0.1875);
  EXPECT_EQ(static_cast<int>(memory[0]), 0x32);
}

TEST(Elements, OffsetsFollowTheStrides) {
  const kernel::Tensor transposed{DType::F32, {2, 3}, {1, 2}, 0};
  EXPECT_EQ(offsets(transposed), (std::vector<std::int64_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_TRUE(offsets({DType::F32, {0, 3}, {3, 1}, 0}).empty());
}

}  // namespace
}  // namespace kw::verify
