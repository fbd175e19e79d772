#include "lab/strategies/spot_bid.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace souk::lab {
namespace {

// Known answers: Zheng et al. 2015 as recomputed in the economics notes, number 12.
TEST(SpotBid, AOneTimeRequestBidsThePriceItIsOutbidAtOnceInItsLife) {
  EXPECT_NEAR(one_time_bid(UniformPrices(.03, .15), {.slot = 300, .run_time = 3600}), .14, 1e-12);
}

TEST(SpotBid, AJobOfLessThanASlotBidsTheFloor) {
  EXPECT_DOUBLE_EQ(one_time_bid(UniformPrices(.03, .15), {.slot = 300, .run_time = 200}), .03);
}

TEST(SpotBid, APersistentRequestTradesRecoveriesAgainstThePrice) {
  const ExponentialPrices law(.03, .02);
  const SpotJob job{.slot = 300, .run_time = 3600, .recovery = 150};
  const auto bid = persistent_bid(law, job);
  EXPECT_NEAR(bid, .05886, 5e-6);
  EXPECT_NEAR(persistent_cost(law, job, bid), .044635, 5e-7);
}

TEST(SpotBid, WhereRecoveringIsCheapAPersistentRequestBidsTheFloor) {
  EXPECT_DOUBLE_EQ(persistent_bid(ExponentialPrices(.03, .02), {.slot = 300, .recovery = 30}), .03);
}

TEST(SpotBid, NoOtherBidIsCheaperThanThePersistentOne) {
  const ExponentialPrices law(.03, .02);
  const SpotJob job{.slot = 300, .run_time = 3600, .recovery = 150};
  const auto best = persistent_cost(law, job, persistent_bid(law, job));
  for (double p = .031; p < .2; p += .001) EXPECT_GE(persistent_cost(law, job, p), best) << p;
}

TEST(SpotBid, SeenPricesAnswerLikeTheLawTheyCameFrom) {
  base::Random random(7);
  std::vector<double> seen;
  const ExponentialPrices law(.03, .02);
  for (int i = 0; i < 50'000; ++i)
    seen.push_back(law.quantile(static_cast<double>(random.below(1 << 30)) / (1 << 30)));
  const SeenPrices empirical(seen);
  EXPECT_NEAR(empirical.below(.05), law.below(.05), .01);
  EXPECT_NEAR(empirical.partial(.05), law.partial(.05), .001);
  EXPECT_NEAR(empirical.quantile(.9), law.quantile(.9), .002);
  EXPECT_NEAR(persistent_bid(empirical, {.slot = 300, .recovery = 150}), .05886, .002);
}

}  // namespace
}  // namespace souk::lab
