#include "act/emit/words.h"

#include <gtest/gtest.h>

namespace kw::act {
namespace {

TEST(Words, ANameIsMentionedWhereItStandsByItself) {
  EXPECT_TRUE(mentions("x.at(row, j)", "j"));
  EXPECT_TRUE(mentions("j", "j"));
  EXPECT_TRUE(mentions("jj + j", "j"));
}

TEST(Words, APartOfALongerNameIsNoMention) {
  EXPECT_FALSE(mentions("first_j + jj + j2", "j"));
  EXPECT_FALSE(mentions("", "j"));
}

TEST(Words, EveryMentionIsReplacedAndNoPartOfALongerName) {
  EXPECT_EQ(replace_word("j * j + jj", "j", "0"), "0 * 0 + jj");
}

TEST(Words, WhatReplacesANameMayMentionIt) { EXPECT_EQ(replace_word("j + j", "j", "(j + 1)"), "(j + 1) + (j + 1)"); }

}  // namespace
}  // namespace kw::act
