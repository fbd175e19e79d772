#include "lab/strategies/best_response.h"

#include <gtest/gtest.h>

#include "lab/testing/scenarios.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using testing::scenario;

constexpr std::string_view kTwo = R"(name: two
world: book
horizon: 4000
seeds: 5
mechanisms: [{name: k-double, params: {kappa: 0.5}}, {name: posted, params: {price: 0.5}}]
borrowers:
  - name: buyer
    values: {uniform: [0, 1]}
lenders:
  - name: seller
    costs: {uniform: [0, 1]}
)";

// Known answer 11. With 20,000 draws the lines are known to a few hundredths, as gains are flat at
// their top: a bid that is off by .03 costs its bidder a thousandth.
TEST(BestResponse, FindsTheEquilibriumOfChatterjeeAndSamuelson) {
  const auto s = scenario(kTwo);
  const auto found = search_best_responses(s, s.mechanisms[0]);
  ASSERT_TRUE(found) << wire::one_line(found.error());
  EXPECT_TRUE(found->settled);
  const auto &buyer = found->play[0], &seller = found->play[1];
  EXPECT_NEAR(buyer.slope, 2.0 / 3, .04);
  EXPECT_NEAR(buyer.intercept, 1.0 / 12, .03);
  EXPECT_NEAR(seller.slope, 2.0 / 3, .04);
  EXPECT_NEAR(seller.intercept, 1.0 / 4, .03);
  // What is bid at the two ends of what can trade.
  EXPECT_NEAR(buyer.intercept + buyer.slope, .75, .02);
  EXPECT_NEAR(seller.intercept, .25, .02);
  EXPECT_NEAR(found->efficiency, 27.0 / 32, .01);  // 84.4%
  EXPECT_NEAR(found->truthful, 1, 1e-9);
  EXPECT_NEAR(buyer.gain, 9.0 / 128, .004);
}

TEST(BestResponse, UnderAPostedPriceTheTruthIsGoodEnough) {
  const auto s = scenario(kTwo);
  const auto found = search_best_responses(s, s.mechanisms[1]);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->efficiency, found->truthful, 1e-9);
}

TEST(BestResponse, AMarketIsRefused) {
  auto s = scenario(kTwo);
  s.world = World::market;
  EXPECT_FALSE(search_best_responses(s, s.mechanisms[0]));
}

}  // namespace
}  // namespace souk::lab
