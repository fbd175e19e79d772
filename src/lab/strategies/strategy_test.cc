#include "lab/strategies/strategy.h"

#include <gtest/gtest.h>

#include <vector>

namespace souk::lab {
namespace {

std::unique_ptr<Strategy> make(std::string name, StrategyParams params = {}) {
  auto choice = check_strategy({std::move(name), std::move(params)});
  EXPECT_TRUE(choice) << (choice ? "" : choice.error().message);
  return make_strategy(*choice);
}

double quote(Strategy& s, const Situation& now) {
  base::Random random(1);
  return s.quote(now, random);
}

constexpr Situation kBuyer{.buys = true, .value = 2, .lowest = 0, .highest = 4};
constexpr Situation kSeller{.buys = false, .value = 2, .lowest = 0, .highest = 4};

TEST(Strategy, NobodyWhoNeedNotTradesAtALoss) {
  const std::vector<double> prices{1, 1.5, 2.5, 3, 2, 1, 2, 3, 4};
  for (const auto& entry : strategies()) {
    const auto s = make(std::string(entry.name));
    base::Random random(5);
    for (int i = 0; i < 200; ++i) {
      auto buyer = kBuyer, seller = kSeller;
      buyer.last_price = seller.last_price = prices[static_cast<std::size_t>(i) % prices.size()];
      buyer.history = seller.history = prices;
      EXPECT_LE(s->quote(buyer, random), 2) << entry.name;
      EXPECT_GE(s->quote(seller, random), 2) << entry.name;
      s->learn({true, 2, 1.5, i % 3 == 0, 1.8});
    }
  }
}

TEST(Strategy, TheSimpleOnesSayWhatTheyShould) {
  EXPECT_EQ(quote(*make("truthful"), kBuyer), 2);
  EXPECT_DOUBLE_EQ(quote(*make("shading", {{"by", .25}}), kBuyer), 1.5);
  EXPECT_DOUBLE_EQ(quote(*make("shading", {{"by", .25}}), kSeller), 2.5);
  EXPECT_DOUBLE_EQ(quote(*make("linear", {{"intercept", .25}, {"slope", .5}}), kBuyer), 1.25);
  EXPECT_DOUBLE_EQ(quote(*make("linear", {{"intercept", 3}, {"slope", .5}}), kBuyer), 2);
}

TEST(Strategy, TheResponderMeetsTheLastPrice) {
  auto now = kBuyer;
  const auto s = make("best-response", {{"step", .1}});
  EXPECT_EQ(quote(*s, now), 2);  // No price yet.
  now.last_price = 1;
  EXPECT_DOUBLE_EQ(quote(*s, now), 1.1);
  auto seller = kSeller;
  seller.last_price = 3;
  EXPECT_DOUBLE_EQ(quote(*s, seller), 2.7);
}

TEST(Strategy, TheAdaptiveWantMoreAfterATradeAndLessAfterNone) {
  const auto lucky = make("adaptive"), unlucky = make("adaptive");
  for (int i = 0; i < 50; ++i) {
    lucky->learn({false, 1, quote(*lucky, {.buys = false, .value = 1}), true, 2.0});
    unlucky->learn({false, 1, quote(*unlucky, {.buys = false, .value = 1}), false, std::nullopt});
  }
  EXPECT_NEAR(quote(*lucky, {.buys = false, .value = 1}), 2, .01);
  EXPECT_NEAR(quote(*unlucky, {.buys = false, .value = 1}), 1, .01);
}

TEST(Strategy, FalseNamesAskForLessAndLess) {
  const auto s = make("false-names", {{"names", 2}, {"spread", .2}});
  EXPECT_EQ(s->names(), 2);
  EXPECT_DOUBLE_EQ(s->quote_of(0, kBuyer, 2), 2);
  EXPECT_DOUBLE_EQ(s->quote_of(1, kBuyer, 2), 1.8);
  EXPECT_DOUBLE_EQ(s->quote_of(1, kSeller, 2), 2.2);
}

TEST(Strategy, TheSpotBidderReadsThePricesSeen) {
  std::vector<double> prices;
  for (int i = 0; i < 1'000; ++i) prices.push_back(.03 + .12 * i / 999);
  Situation now{.buys = true, .value = 1, .history = prices, .run_time = 3600, .slot = 300};
  EXPECT_NEAR(quote(*make("spot-bidder"), now), .14, .001);  // Known answer 12.
  now.history = std::span(prices).first(3);
  EXPECT_EQ(quote(*make("spot-bidder"), now), 1);  // Too few to go by.
}

TEST(Strategy, MistakesAreNamed) {
  EXPECT_EQ(check_strategy({"thruthful", {}}).error().hint, "did you mean 'truthful'?");
  EXPECT_EQ(check_strategy({"shading", {{"bye", .1}}}).error().field, "bye");
  EXPECT_EQ(check_strategy({"shading", {{"by", 2}}}).error().field, "by");
}

}  // namespace
}  // namespace souk::lab
