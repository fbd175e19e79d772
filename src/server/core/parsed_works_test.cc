#include "server/core/parsed_works.h"

#include <gtest/gtest.h>

namespace souk::server {
namespace {

market::Job job(std::uint64_t id, std::string work = R"({"run":"x"})") {
  market::Job out;
  out.id = base::JobId(id);
  out.work = std::move(work);
  return out;
}

TEST(ParsedWorks, ATextIsParsedOnceHoweverManyLeasesNeedIt) {
  ParsedWorks works;
  const auto mine = job(1);
  const auto first = works.of(mine);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->run, "x");
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(works.of(mine), first);
  EXPECT_EQ(works.parsed(), 1u);
}

TEST(ParsedWorks, NoWorkAndWorkOfAnotherKindAreNothingAndNotTriedAgain) {
  ParsedWorks works;
  EXPECT_FALSE(works.of(job(1, "")));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(works.of(job(2, "not JSON")));
  EXPECT_EQ(works.parsed(), 1u);
}

TEST(ParsedWorks, WhatWasUsedLongestAgoGoesAndWhatIsOutStaysGood) {
  const auto each = job(1).work.size();
  ParsedWorks works(2 * each);
  const auto first = works.of(job(1));
  (void)works.of(job(2));
  (void)works.of(job(1));
  (void)works.of(job(3));  // Instead of 2.
  EXPECT_EQ(works.size(), 2u);
  (void)works.of(job(1));
  EXPECT_EQ(works.parsed(), 3u);
  (void)works.of(job(2));  // Instead of 3.
  EXPECT_EQ(works.parsed(), 4u);
  works.forget(base::JobId(1));
  works.forget(base::JobId(9));
  EXPECT_EQ(works.size(), 1u);
  EXPECT_EQ(first->run, "x");
}

TEST(ParsedWorks, OneTextLargerThanTheBoundIsStillParsed) {
  ParsedWorks works(1);
  EXPECT_TRUE(works.of(job(1)));
  EXPECT_TRUE(works.of(job(2)));
  EXPECT_EQ(works.size(), 1u);
}

}  // namespace
}  // namespace souk::server
