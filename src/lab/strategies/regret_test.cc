#include "lab/strategies/regret.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace souk::lab {
namespace {

using mechanism::Book;

constexpr RegretSearch kAll{.books = 1, .traders = 100, .prices = 60};

Book book(std::initializer_list<int> bids, std::initializer_list<int> asks) {
  Book out{.reference = Credits(87'000'000)};
  std::uint64_t id = 0;
  for (const auto b : bids) out.bids.push_back({++id, Credits(b * 1'000'000L), 1, 1, id});
  for (const auto a : asks) out.asks.push_back({++id, Credits(a * 1'000'000L)});
  return out;
}

Regret search(const char* name, const Book& b) {
  const auto rule = mechanism::make(name);
  EXPECT_TRUE(rule) << name;
  return search_regret(**rule, b, kAll, 1);
}

// Known answer 1: two deals at 87.5, anything from 85 to 90 would do.
const Book kKnown = book({100, 90, 80, 70, 60}, {80, 85, 95, 100, 110});

TEST(Regret, OfTheCallIsWhatTheMarginalTradersCanTake) {
  // The buyer of 90 bids 85 and the price is 85; the seller of 85 asks 90 and it is 90. Both are
  // 2.5 better off. Nobody else sets the price, but the other two may step into the gap as well:
  // the buyer of 100 bids just above 85, and the seller of 80 asks just below 90.
  const auto found = search("k-double", kKnown);
  EXPECT_EQ(found.traders, 10);
  EXPECT_NEAR(found.price * 10, 4 * 2.5, .01);
}

TEST(Regret, RulesThatRewardTheTruthLeaveNone) {
  for (const auto* name : {"mcafee", "trade-reduction", "vcg", "posted"})
    for (const auto& b : {kKnown, book({17, 14, 13, 9, 6}, {1, 4, 5, 8, 13}), book({9, 8}, {3, 4})})
      EXPECT_NEAR(search(name, b).price, 0, 1e-9) << name;
}

TEST(Regret, TruthfulIsNotSybilProof) {
  // McAfee's price is (4 + 12) / 2 = 8. A buyer who also asks for 6 under another name makes it
  // (4 + 6) / 2 = 5; so does any buyer who trades. A threshold from outside cannot be moved.
  const auto b = book({9, 8, 4}, {3, 4, 12});
  EXPECT_EQ(search("mcafee", b).price, 0);
  EXPECT_GT(search("mcafee", b).names * 6, 5.9);
  const auto tpd = mechanism::make("tpd", {{"r", "6"}});
  ASSERT_TRUE(tpd);
  const auto proof = search_regret(**tpd, b, kAll, 1);
  EXPECT_NEAR(proof.price, 0, 1e-9);
  EXPECT_NEAR(proof.names, 0, 1e-9);
}

TEST(Regret, LuckIsNotTakenForSkill) {
  // Rules that draw lots and reward the truth: what is measured beside the choice averages out.
  for (const auto* name : {"sbba", "muda"}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      sum += search_regret(**mechanism::make(name), kKnown, kAll, seed).price;
    EXPECT_NEAR(sum / 20, 0, .35) << name;  // Of a gain of 2.5 for each trader.
  }
}

TEST(Regret, NobodyGainsWhereNobodyTrades) {
  const auto found = search("k-double", book({1, 2}, {5, 6}));
  EXPECT_EQ(found.price, 0);
  EXPECT_EQ(found.names, 0);
}

}  // namespace
}  // namespace souk::lab
