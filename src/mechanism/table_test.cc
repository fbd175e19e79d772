#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "mechanism/mechanism.h"
#include "mechanism/testing/searches.h"

namespace souk::mechanism {
namespace {

using ::testing::HasSubstr;

TEST(Table, EveryRowIsCompleteAndCanBeMadeByName) {
  std::set<std::string_view> names;
  for (const auto& entry : all()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second) << "a name is used twice";
    EXPECT_TRUE(entry.summary.ends_with('.'));
    for (const auto& row : entry.parameters) {
      EXPECT_TRUE(row.meaning.ends_with('.')) << row.name;
      EXPECT_NE(row.default_value.empty(), row.default_words.empty()) << row.name;
    }
    EXPECT_TRUE(make(entry.name));
  }
  EXPECT_TRUE(names.contains("posted") && names.contains("k-double"));
}

TEST(Table, NoMechanismEverGivesAnIllegalOrUnrepeatableOutcome) {
  for (const auto& entry : all()) {
    const auto mechanism = *make(entry.name);
    int taken = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
      base::Random random(seed);
      const auto book =
          testing::random_book(random, {.most_asks = seed % 3 == 0 ? 40u : 12u,
                                        .gangs = seed % 2 == 0,
                                        .measured = seed % 4 > 1 && mechanism->wants_rates()});
      if (!mechanism->accepts(book)) continue;
      ++taken;
      ASSERT_EQ(testing::fault(*mechanism, book, seed), "") << entry.name << ", seed " << seed;
    }
    // Bundles of single goods are another kind of book.
    const Book bundles{.bids = {{1, Credits(1)}}, .items = {"a"}, .bundles = {{0}}};
    EXPECT_TRUE(taken >= 1000 || mechanism->accepts(bundles)) << entry.name;
  }
}

// A market clears whatever its jobs and offers amount to, and settles what comes out.
TEST(Table, WhateverIsFitForAMarketTakesEveryBookAndCanBeSettled) {
  int fit = 0;
  for (const auto& entry : all()) {
    const auto mechanism = *make(entry.name);
    if (!mechanism->fit_for_live()) continue;
    ++fit;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
      base::Random random(seed);
      const auto book = testing::random_book(random);
      ASSERT_TRUE(mechanism->accepts(book)) << entry.name << ", seed " << seed;
      const auto settles = fit_to_settle(testing::clear(*mechanism, book, seed).outcome);
      ASSERT_TRUE(settles) << entry.name << ", seed " << seed << ": " << settles.error().message;
    }
  }
  EXPECT_GE(fit, 7);
}

TEST(Table, WhoeverIsNotFitForAMarketSaysWhyAndWhatIs) {
  for (const auto* name : {"vcg", "muda"}) {
    const auto refused = (*make(name))->fit_for_live();
    ASSERT_FALSE(refused) << name;
    EXPECT_FALSE(refused.error().message.empty() || refused.error().hint.empty()) << name;
  }
}

// With the parameters that a live market needs.
std::unique_ptr<Mechanism> made_live(const MechanismInfo& info) {
  Params params;
  for (const auto& row : info.parameters)
    if (!row.suggested.empty()) params.emplace(row.name, row.suggested);
  return *make(info.name, params);
}

TEST(Claims, WhatARowSaysOfBooksAndMarketsIsWhatTheMechanismDoes) {
  const Book gang{.bids = {{1, Credits(9), 2, 2}}, .asks = {{1, Credits(1), 2}}};
  const Book bundles{.bids = {{1, Credits(1)}}, .items = {"a"}, .bundles = {{0}}};
  for (const auto& info : all()) {
    SCOPED_TRACE(info.name);
    const auto mechanism = made_live(info);
    const auto& p = info.properties;
    EXPECT_EQ(mechanism->accepts(gang).has_value(), p.gangs);
    EXPECT_EQ(mechanism->accepts(bundles).has_value(), p.goods == Goods::bundles);
    EXPECT_EQ(mechanism->wants_rates(), p.measurements != Measurements::none);
    EXPECT_EQ(mechanism->fit_for_live().has_value(), p.live);
  }
}

// Whether any of many books with so many orders comes to a trade.
bool ever_trades(const Mechanism& mechanism, std::size_t bids, std::size_t asks) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    base::Random random(seed);
    Book book{.reference = Credits(60)};
    for (std::uint64_t i = 0; i < bids; ++i)
      book.bids.push_back({i + 1, Credits(random.between(50, 120)),
                           static_cast<std::int32_t>(random.between(1, 3)), 1, i + 1});
    for (std::uint64_t i = 0; i < asks; ++i)
      book.asks.push_back(
          {i + 1, Credits(random.between(0, 70)), static_cast<std::int32_t>(random.between(1, 3))});
    if (!mechanism.clear(book, random).trades.empty()) return true;
  }
  return false;
}

TEST(Claims, ABookTradesFromTheNumberOfOrdersOnThatTheRowSays) {
  for (const auto& info : all()) {
    if (info.properties.goods != Goods::slots || !info.properties.live) continue;
    const auto mechanism = made_live(info);
    for (int bids = 1; bids <= 3; ++bids)
      for (int asks = 1; asks <= 3; ++asks)
        EXPECT_EQ(ever_trades(*mechanism, bids, asks), info.least.met(bids, asks))
            << info.name << " with " << bids << " bids and " << asks << " asks";
  }
}

TEST(Claims, MoneyGoesWhereTheRowSays) {
  for (const auto& info : all()) {
    if (info.properties.goods != Goods::slots) continue;
    const auto mechanism = *make(info.name);
    bool deficit = false, surplus = false;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
      base::Random random(seed);
      const auto book = testing::random_book(random, {.gangs = info.properties.gangs});
      const auto outcome = testing::clear(*mechanism, book, seed).outcome;
      const auto platform = totals(book, outcome).platform();
      deficit |= platform < Credits();
      surplus |= platform > Credits();
      for (const auto& t : outcome.trades) {
        if (info.properties.sets_prices) break;
        ASSERT_EQ(t.pays, book.asks[t.ask].reserve) << info.name << ", seed " << seed;
        ASSERT_EQ(t.gets, book.asks[t.ask].reserve) << info.name << ", seed " << seed;
      }
    }
    EXPECT_EQ(deficit, info.properties.budget_balance == BudgetBalance::deficit) << info.name;
    EXPECT_EQ(surplus, info.properties.budget_balance == BudgetBalance::weak) << info.name;
  }
}

// Prices are far apart, so that what rounding gains is told from a lie.
constexpr testing::ManyBooks kFew{
    .count = 300,
    .shape = {.most_bids = 4, .most_asks = 4, .most_units = 2, .gangs = false, .highest_micro = 6},
    .scale = 60};
constexpr testing::Lies kLies{.highest_micro = 360, .step = 30, .spare_per_unit = 1};

TEST(Claims, ALiePaysOnlyWhereTheRowDoesNotRuleItOut) {
  for (const auto& info : all()) {
    const auto truthfulness = info.properties.truthfulness;
    if (info.properties.goods != Goods::slots || truthfulness == Truthfulness::in_units) continue;
    const auto one_side = truthfulness == Truthfulness::for_buyers;
    auto lies = kLies;
    lies.units = one_side || truthfulness == Truthfulness::in_price_and_units;
    const auto found = testing::first_lie(**make(info.name), kFew, lies,
                                          one_side ? testing::buyers : testing::everybody);
    EXPECT_EQ(found.empty(), truthfulness != Truthfulness::none) << info.name << ": " << found;
  }
}

TEST(Claims, FalseNamesGainNothingWhereTheRowSaysSo) {
  for (const auto& info : all()) {
    const auto proof = info.properties.sybil_proofness;
    if (proof == SybilProofness::none) continue;
    const auto mechanism = *make(info.name);
    const auto found = proof == SybilProofness::for_buyers
                           ? testing::first_twin(*mechanism, {.count = 100, .shape = kFew.shape})
                           : testing::first_names(*mechanism, kFew, kLies);
    EXPECT_EQ(found, "") << info.name;
  }
}

// With gangs of others, many ties, and prices that differ.
TEST(Claims, OwnDemandNeverRaisesOnesPriceWhereTheRowSaysSo) {
  for (const auto& info : all()) {
    if (info.properties.goods != Goods::slots) continue;
    const auto mechanism = *make(info.name);
    std::string found;
    for (const auto highest : {6, 200})
      for (const auto gangs : {false, true}) {
        if (!found.empty() || (gangs && !info.properties.gangs)) continue;
        found = testing::first_raise(*mechanism, {.count = 3000,
                                                  .shape = {.most_bids = 7,
                                                            .most_asks = 7,
                                                            .most_units = 4,
                                                            .gangs = gangs,
                                                            .highest_micro = highest}});
      }
    EXPECT_EQ(found.empty(), info.properties.own_demand == OwnDemand::never_raises_price)
        << info.name << ": " << found;
  }
}

// The searches that the tests of mechanisms rely on do find lies, where a rule invites them.
TEST(Searches, FindWhatTheHeadersWarnOf) {
  const struct {
    const char* what;
    const char* rule;
    testing::Shape shape;
    testing::Lies lies;
    bool names = false;
  } cases[] = {
      {"a price", "k-double", {.most_units = 1, .gangs = false}, {}},
      {"units", "trade-reduction", {.gangs = false}, {.units = true}},
      {"units", "huang", {.gangs = false}, {.units = true}},
      {"units", "mcafee", {.gangs = false}, {.units = true}},
      {"names", "trade-reduction", {.most_units = 2, .gangs = false}, {}, true},
      {"names", "k-double", {.most_units = 2, .gangs = false}, {}, true},
      {"a price", "las", {.most_units = 1, .gangs = false}, {}},
      {"units", "las", {.gangs = false}, {.units = true}},
      {"units", "makespan", {.gangs = false}, {.units = true}},
      {"names", "las", {.most_units = 2, .gangs = false}, {}, true},
  };
  for (const auto& c : cases) {
    const auto rule = *make(c.rule);
    auto shape = c.shape;
    auto lies = c.lies;
    shape.most_bids = shape.most_asks = 5;
    shape.highest_micro = lies.highest_micro = 6;
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 300 && found == 0; ++seed) {
      base::Random random(seed);
      const auto book = testing::random_book(random, shape);
      const auto search = c.names ? testing::profitable_names : testing::profitable_lie;
      found += !search(*rule, book, lies, testing::everybody, seed).empty();
    }
    EXPECT_GT(found, 0) << c.rule << " about " << c.what;
  }
}

TEST(Table, AMistypedNameOrParameterIsAnsweredWithTheNearest) {
  const auto name = make("k-duoble");
  ASSERT_FALSE(name);
  EXPECT_THAT(name.error().message, HasSubstr("'k-duoble'"));
  EXPECT_THAT(name.error().hint, HasSubstr("'k-double'"));
  EXPECT_EQ(name.error().field, "mechanism");

  const auto far = make("lottery-of-babylon");
  ASSERT_FALSE(far);
  EXPECT_THAT(far.error().hint, HasSubstr("posted"));

  const auto param = make("k-double", {{"kapa", "0.5"}});
  ASSERT_FALSE(param);
  EXPECT_THAT(param.error().message, HasSubstr("'kapa'"));
  EXPECT_THAT(param.error().hint, HasSubstr("'kappa'"));
  EXPECT_EQ(param.error().field, "kapa");
}

}  // namespace
}  // namespace souk::mechanism
