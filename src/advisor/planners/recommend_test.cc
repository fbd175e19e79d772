#include "advisor/planners/recommend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "advisor/testing/resnet.h"

namespace souk::advisor {
namespace {

using ::testing::HasSubstr;
using testing::resnet110;

const Forecast& chosen(const Plans& plans) { return plans.candidates.at(plans.chosen); }

TEST(Recommend, ADeadlineGetsTheCheapestThatIsLikelyToMeetIt) {
  const auto out = recommend({.problem = resnet110(0.8), .deadline_s = 2'900});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_GE(*chosen(*out).chance, 0.9);
  EXPECT_THAT(out->why, HasSubstr("cheapest"));
  for (const auto& other : out->candidates)
    if (*other.chance >= 0.9) EXPECT_GE(other.cost.expected, chosen(*out).cost.expected);
}

// The model's own plan for this deadline is met in half of the runs only.
TEST(Recommend, WantsMoreThanAPlanThatIsJustInTimeOnPaper) {
  const auto out = recommend({.problem = resnet110(0.8), .deadline_s = 2'400, .confidence = 0.5});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(chosen(*out).mix, (Mix{2, 0, 4, 0, 0}));
  EXPECT_LT(*chosen(*out).chance, 0.9);
  const auto sure = recommend({.problem = resnet110(0.8), .deadline_s = 2'400});
  ASSERT_TRUE(sure) << sure.error().message;
  EXPECT_GE(*chosen(*sure).chance, 0.9);
  EXPECT_GT(chosen(*sure).cost.expected, chosen(*out).cost.expected);
}

TEST(Recommend, TheTightestDeadlineThatIsNamedIsMet) {
  const auto out = recommend({.problem = resnet110(0.8), .deadline_s = 100});
  ASSERT_FALSE(out);
  const std::string before = "the tightest deadline is ";
  ASSERT_TRUE(out.error().hint.starts_with(before)) << out.error().hint;
  const auto seconds = std::stod(out.error().hint.substr(before.size()));
  EXPECT_TRUE(recommend({.problem = resnet110(0.8), .deadline_s = seconds}));
  EXPECT_FALSE(recommend({.problem = resnet110(0.8), .deadline_s = seconds - 2}));
}

TEST(Recommend, ABudgetGetsTheFastestThatStaysWithinIt) {
  const auto out = recommend({.problem = resnet110(0.8), .budget = 3});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_LE(chosen(*out).cost_with_hub.high, 3);
  for (const auto& other : out->candidates)
    if (other.cost_with_hub.high <= 3)
      EXPECT_GE(other.time_s.expected, chosen(*out).time_s.expected);
}

TEST(Recommend, TheLeastBudgetThatIsNamedIsEnough) {
  const auto out = recommend({.problem = resnet110(0.8), .budget = 0.1});
  ASSERT_FALSE(out);
  const std::string before = "the least budget is ";
  ASSERT_TRUE(out.error().hint.starts_with(before)) << out.error().hint;
  const auto credits = std::stod(out.error().hint.substr(before.size()));
  EXPECT_TRUE(recommend({.problem = resnet110(0.8), .budget = credits}));
  EXPECT_FALSE(recommend({.problem = resnet110(0.8), .budget = credits - 0.001}));
}

TEST(Recommend, TheHubsPriceCountsInTheBudget) {
  auto p = resnet110(0.8);
  const auto without = recommend({.problem = p, .budget = 3});
  p.hub.price = base::Credits(3'000'000);
  const auto with = recommend({.problem = p, .budget = 3});
  ASSERT_TRUE(without);
  EXPECT_TRUE(!with || chosen(*with).mix != chosen(*without).mix);
}

TEST(Recommend, WithoutWishesTimeAndCostWeighAlike) {
  const auto out = recommend({.problem = resnet110(0.8)});
  ASSERT_TRUE(out);
  const auto product = [](const Forecast& f) { return f.time_s.expected * f.cost.expected; };
  for (const auto& other : out->candidates) EXPECT_GE(product(other), product(chosen(*out)));
}

TEST(Recommend, ReturnsNoMoreThanAskedForAndAlwaysTheChosen) {
  for (const std::size_t most : {1u, 2u, 3u, 5u, 100u}) {
    const auto all = recommend({.problem = resnet110(0.8), .most = 1'000});
    const auto out = recommend({.problem = resnet110(0.8), .most = most});
    ASSERT_TRUE(out && all);
    EXPECT_EQ(out->candidates.size(), std::min(most, all->candidates.size()));
    EXPECT_EQ(chosen(*out).mix, chosen(*all).mix);
  }
}

TEST(Recommend, WishesThatCannotBeAreNamed) {
  const auto message = [](Request r) {
    r.problem = resnet110(0.8);
    const auto out = recommend(r);
    return out ? "none" : out.error().message;
  };
  EXPECT_EQ(message({.budget = 0}), "a budget of 0");
  EXPECT_EQ(message({.deadline_s = -1}), "a deadline of -1 s");
  EXPECT_EQ(message({.confidence = 1}), "a confidence of 1");
  EXPECT_EQ(message({.most = 0}), "0 candidates");
}

}  // namespace
}  // namespace souk::advisor
