#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace kw {
namespace {

// The examples of FIPS 180-4.
TEST(Sha256, AgreesWithThePublishedExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesAreCut) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i);
  for (std::size_t size = 0; size <= text.size(); ++size) {
    Sha256 hash;
    hash.add(std::string_view(text).substr(0, size / 3));
    hash.add(std::string_view(text).substr(size / 3, size - size / 3));
    ASSERT_EQ(hash.hex(), sha256_hex(std::string_view(text).substr(0, size))) << size;
  }
}

// Stored nowhere, but a change would reorder everything that is sorted by it.
TEST(Hash64, HasItsValueOnEveryMachine) {
  EXPECT_EQ(hash64(""), 0x282B953B24E886A9u);
  EXPECT_EQ(hash64("rms_norm"), 0x17AB03B4CA144EF2u);
}

TEST(Hash64, TellsTheBoundariesOfStringsApart) {
  const auto pair = [](std::string_view a, std::string_view b) { return Hash64().add(a).add(b).value(); };
  EXPECT_NE(pair("ab", "c"), pair("a", "bc"));
  EXPECT_NE(pair("", "a"), pair("a", ""));
  EXPECT_NE(hash64("a"), hash64(std::string_view("a\0", 2)));
}

TEST(Hash64, TellsZerosAndOrdersApart) {
  EXPECT_NE(Hash64().add(0.0).value(), Hash64().add(-0.0).value());
  EXPECT_NE(Hash64().value(), Hash64().add(std::uint64_t{0}).value());
  EXPECT_NE(Hash64().add(std::uint64_t{1}).add(std::uint64_t{2}).value(),
            Hash64().add(std::uint64_t{2}).add(std::uint64_t{1}).value());
}

TEST(Hash64, SpreadsSmallNumbersWithoutACollision) {
  std::set<std::uint64_t> values, low;
  for (std::uint64_t a = 0; a < 300; ++a) {
    for (std::uint64_t b = 0; b < 300; ++b) {
      const std::uint64_t value = Hash64().add(a).add(b).value();
      values.insert(value);
      low.insert(value & 0xFFFF);
    }
  }
  EXPECT_EQ(values.size(), 90'000u);
  // 90,000 balls in 65,536 boxes leave about e^-1.373, a quarter of them, empty.
  EXPECT_NEAR(static_cast<double>(low.size()), 65536 * (1 - 0.2533), 600);
}

}  // namespace
}  // namespace kw
