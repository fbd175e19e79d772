#include "cli/shell/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::cli {
namespace {

using ::testing::HasSubstr;

TEST(Values, AnyTakesALimitAway) {
  Names names{{"eu"}};
  ASSERT_TRUE(read_value("any", names));
  EXPECT_TRUE(names.items.empty());
  ASSERT_TRUE(read_value("eu, us", names));
  EXPECT_THAT(names.items, ::testing::ElementsAre("eu", "us"));
  OrAny<double> share{0.9};
  ASSERT_TRUE(read_value("any", share));
  EXPECT_FALSE(share.value);
}

TEST(Values, MarketIsAPrice) {
  AskPrice price;
  ASSERT_TRUE(read_value("0.5", price));
  EXPECT_EQ(price.credits, base::Credits(500'000));
  ASSERT_TRUE(read_value("market", price));
  EXPECT_FALSE(price.credits);
  EXPECT_THAT(read_value("marekt", price).error().hint, HasSubstr("market"));
}

TEST(Values, AnIdOfAnotherKindIsRefused) {
  base::JobId job;
  ASSERT_TRUE(read_value("j17", job));
  EXPECT_EQ(job.value, 17u);
  const auto wrong = read_value("o17", job);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "'o17' is not the id of a job");
}

TEST(Values, AHeldLeaseNeedsItsEpoch) {
  EXPECT_EQ(parse_held("l17:3")->epoch, 3);
  EXPECT_FALSE(parse_held("l17"));
  EXPECT_FALSE(parse_held("17:3"));
}

}  // namespace
}  // namespace souk::cli
