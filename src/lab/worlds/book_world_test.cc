#include "lab/worlds/book_world.h"

#include <gtest/gtest.h>

#include "lab/report/statistics.h"
#include "lab/testing/scenarios.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using testing::scenario;

// Smith's first chart: P0 2.00, six units, a surplus of 7.50.
constexpr std::string_view kSmith = R"(name: smith
world: book
horizon: 10
seeds: 4
mechanisms: [k-double]
borrowers:
  - name: buyers
    count: 11
    values: [3.25, 3, 2.75, 2.5, 2.25, 2, 1.75, 1.5, 1.25, 1, 0.75]
    keep: true
lenders:
  - name: sellers
    count: 11
    costs: [0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25]
    keep: true
)";

// `text` with every `from` replaced by `to`.
std::string with_each(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

Record record_of_book(const Scenario& s, std::size_t mechanism = 0, std::uint64_t seed = 1) {
  auto r = run_book(s, s.mechanisms[mechanism], seed);
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  return r ? *std::move(r) : Record{};
}

TEST(BookWorld, SmithsChartInEquilibriumIsKnown) {
  const auto r = record_of_book(scenario(kSmith));
  EXPECT_NEAR(r.most_gain, 75, 1e-9);
  EXPECT_NEAR(r.gain, 75, 1e-9);  // Truthful traders in a call find all of it.
  const auto m = measure(r);
  EXPECT_NEAR(*m.efficiency, 1, 1e-12);
  EXPECT_NEAR(*m.price, 2, 1e-9);
  EXPECT_NEAR(*m.alpha, 0, 1e-9);
  EXPECT_NEAR(*m.units, 60, 1e-9);
  EXPECT_NEAR(*m.buyers_share, .5, 1e-9);
}

TEST(BookWorld, TradersWithoutIntelligenceFindNearlyAllGains) {
  // Known answer 19: mean efficiency of at least .92 on this chart.
  const auto s = scenario(with_each(
      with_each(std::string(kSmith), "keep: true", "keep: true\n    strategy: zero-intelligence"),
      "horizon: 10", "horizon: 20\nrounds: 200\nregret: {books: 0}"));
  std::vector<double> efficiency;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    efficiency.push_back(*measure(record_of_book(s, 0, seed)).efficiency);
  EXPECT_GE(mean_of(efficiency), .92);
  EXPECT_LT(mean_of(efficiency), 1);
}

TEST(BookWorld, EveryMechanismMeetsTheSameDraws) {
  const auto s = scenario(
      with_each(with_each(std::string(kSmith), "[k-double]", "[k-double, posted]"),
                "values: [3.25, 3, 2.75, 2.5, 2.25, 2, 1.75, 1.5, 1.25, 1, 0.75]\n    keep: true",
                "values: {uniform: [0, 4]}\n    strategy: zero-intelligence"));
  EXPECT_EQ(record_of_book(s, 0).most_gain, record_of_book(s, 1).most_gain);
  EXPECT_NE(record_of_book(s, 0, 1).most_gain, record_of_book(s, 0, 2).most_gain);
}

TEST(BookWorld, MoneyIsNeitherMadeNorLost) {
  const auto r =
      record_of_book(scenario(with_each(std::string(kSmith), "keep: true",
                                        "keep: true\n    strategy: {name: false-names, names: 3}\n"
                                        "    units: {uniform: [1, 6]}\n    credits: 100")));
  double sum = r.platform;
  for (const auto c : r.credits) sum += c;
  EXPECT_NEAR(sum, 2200, 1e-6);
  EXPECT_NEAR(r.buyers_gain + r.sellers_gain + r.platform, r.gain, 1e-6);
}

TEST(BookWorld, LyingPaysUnderTheCallAndNotUnderAPostedPrice) {
  auto text = with_each(std::string(kSmith), "[k-double]",
                        "[k-double, {name: posted, params: {price: 2}}]");
  text = with_each(text, "values: [3.25, 3, 2.75, 2.5, 2.25, 2, 1.75, 1.5, 1.25, 1, 0.75]",
                   "values: {uniform: [0, 4]}");
  const auto s = scenario(text);
  EXPECT_GT(*measure(record_of_book(s, 0)).regret, 0);
  EXPECT_EQ(*measure(record_of_book(s, 1)).regret, 0);
}

TEST(BookWorld, TwiceTheDemandMovesThePriceUp) {
  const auto calm = scenario(kSmith);
  const auto shock = scenario(std::string(kSmith) + "shocks:\n  - {at: 5, for: 3, demand: 2}\n");
  const auto r = record_of_book(shock);
  EXPECT_EQ(r.prices[4].price, record_of_book(calm).prices[4].price);
  EXPECT_GT(r.prices[5].equilibrium, 2.1);
  EXPECT_GT(r.prices[5].price, 2.1);
  EXPECT_EQ(*measure(r).recovery, 0);  // The call needs no time.
}

TEST(BookWorld, WhoDiedSellsNothing) {
  const auto r =
      record_of_book(scenario(std::string(kSmith) + "shocks:\n  - {at: 5, dies: sellers}\n"));
  for (const auto& t : r.trades) EXPECT_LT(t.time, 5);
}

TEST(BookWorld, AdaptiveTradersComeToTheEquilibrium) {
  const auto s =
      scenario(with_each(with_each(std::string(kSmith), "horizon: 10", "horizon: 100"),
                         "keep: true", "keep: true\n    strategy: {name: adaptive, margin: 0.3}"));
  const auto r = record_of_book(s);
  std::vector<double> late;
  for (const auto& p : r.prices)
    if (p.time >= 50) late.push_back(p.price);
  EXPECT_NEAR(mean_of(late), 2, .15);
  EXPECT_LT(deviation_of(late), .15);
}

}  // namespace
}  // namespace souk::lab
