#include "hub/staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hub/testing/names.h"

namespace souk::hub {
namespace {

using base::Code;
using testing::kNow;

TEST(Staging, PutsPiecesTogetherEvenIfTheyArriveTwice) {
  Staging staging;
  EXPECT_EQ(staging.put("u", 0, "abc", kNow), 3);
  EXPECT_EQ(staging.put("u", 0, "abc", kNow), 3);
  EXPECT_EQ(staging.put("u", 3, "de", kNow), 5);
  EXPECT_EQ(staging.put("u", 2, "cdef", kNow), 6);
  EXPECT_EQ((*staging.take("u"))->bytes(), "abcdef");
  EXPECT_EQ(staging.usage().bytes, 6);
}

TEST(Staging, LeavesNoGaps) {
  Staging staging;
  EXPECT_EQ(staging.put("u", 1, "b", kNow).error().code, Code::conflict);
  EXPECT_EQ(staging.put("u", -1, "b", kNow).error().code, Code::conflict);
  EXPECT_EQ(staging.usage().updates, 0);
}

TEST(Staging, WhatWasJudgedCannotBeChangedBeforeItIsFolded) {
  Staging staging;
  ASSERT_TRUE(staging.put("u", 0, "good", kNow));
  const auto judged = *staging.take("u");
  EXPECT_EQ(staging.put("u", 0, "worse", kNow).error().code, Code::conflict);
  EXPECT_EQ(staging.put("u", 4, "s", kNow).error().code, Code::conflict);
  EXPECT_EQ(staging.put("u", 0, "evil", kNow), 4);  // Nothing new: answered, not taken.
  EXPECT_EQ((*staging.take("u"))->bytes(), "good");
  EXPECT_EQ(judged->bytes(), "good");
}

TEST(Staging, IsBoundedInOneInAllAndInNumber) {
  Staging staging({.most_bytes = 4, .most_in_all = 6, .most = 2});
  EXPECT_EQ(staging.put("a", 0, "12345", kNow).error().code, Code::too_large);
  EXPECT_TRUE(staging.put("a", 0, "1234", kNow));
  EXPECT_EQ(staging.put("b", 0, "123", kNow).error().code, Code::exhausted);
  EXPECT_TRUE(staging.put("b", 0, "1", kNow));
  EXPECT_EQ(staging.put("c", 0, "1", kNow).error().code, Code::exhausted);
  staging.drop("a");
  staging.drop("never");
  EXPECT_TRUE(staging.put("c", 0, "1234", kNow));
  EXPECT_EQ(staging.usage().bytes, 5);
}

TEST(Staging, ForgetsWhatNobodyAskedFor) {
  Staging staging({.most = 1, .forgotten_after = base::seconds(10)});
  ASSERT_TRUE(staging.put("a", 0, "1", kNow));
  EXPECT_FALSE(staging.put("b", 0, "1", kNow + base::seconds(10)));
  EXPECT_TRUE(staging.put("b", 0, "1", kNow + base::seconds(11)));
  EXPECT_EQ(staging.take("a").error().code, Code::not_found);
  EXPECT_EQ(staging.usage().updates, 1);
}

}  // namespace
}  // namespace souk::hub
