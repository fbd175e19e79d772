#include "mechanism/schedule/scheduled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/schedule/slot_types.h"
#include "mechanism/sharing/karma.h"
#include "mechanism/testing/books.h"

namespace souk::mechanism {
namespace {

using testing::asks;
using testing::bids;
using testing::clear;
using testing::Cleared;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::whole;

constexpr Objective kAll[] = {Objective::las,      Objective::ftf,   Objective::makespan,
                              Objective::cost_slo, Objective::hadar, Objective::price_discovery};

Scheduled rule(Objective objective, Scheduled::Prices prices = Scheduled::Prices::dual) {
  return {objective, prices};
}

// Each bid is its owner's only one.
Book owned(Book book) {
  for (std::size_t i = 0; i < book.bids.size(); ++i) book.bids[i].owner = i + 1;
  return book;
}

// The same book again and again. Says who held ask 0, as often as that was, by bid.
std::vector<int> rounds_with_first(const Mechanism& mechanism, Book book, int rounds) {
  std::vector<int> out(book.bids.size(), 0);
  for (int k = 0; k < rounds; ++k) {
    auto cleared = clear(mechanism, book);
    for (const auto& t : cleared.outcome.trades)
      if (t.ask == 0) ++out[t.bid];
    book.standing = std::move(cleared.outcome.standing);
  }
  return out;
}

// Two jobs on three types: the best level has 13/31 and 18/31 of the first (max_min_las_test.cc).
Book known_book() {
  Book book = owned({bids({9, 9}), {{1, {}, 1}, {2, {}, 2}, {3, {}, 3}}, whole(4)});
  book.rates = {2, 1, .5, 3, 2, 1};
  return book;
}

TEST(Scheduled, TheFirstRoundOfTheKnownInstance) {
  const auto out = clear(rule(Objective::las), known_book());
  EXPECT_EQ(out.by_id(), (std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t>{
                             {{1, 2}, 1}, {{2, 1}, 1}}));
}

TEST(Scheduled, OverTimeTheFastMachineIsSharedAsTheScheduleSays) {
  const auto first = rounds_with_first(rule(Objective::las), known_book(), 310);
  EXPECT_NEAR(first[0], 130, 6);
  EXPECT_NEAR(first[1], 180, 6);
}

TEST(Scheduled, OwnersTakeTurnsForWhatIsNotEnoughForAll) {
  for (const auto objective : {Objective::las, Objective::price_discovery, Objective::makespan}) {
    const auto got =
        rounds_with_first(rule(objective), owned({bids({9, 9, 9}), asks({1}), {}}), 30);
    EXPECT_THAT(got, ElementsAre(10, 10, 10)) << static_cast<int>(objective);
  }
}

TEST(Scheduled, EachGetsTheMachineItIsFastOn) {
  for (const auto objective : kAll) {
    Book book = owned({bids({9, 9}), asks({1, 1}), whole(4)});
    book.rates = {1, 3, 5, 1};
    const auto out = clear(rule(objective), book);
    EXPECT_EQ(out.by_id(), (std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t>{
                               {{1, 2}, 1}, {{2, 1}, 1}}))
        << static_cast<int>(objective);
  }
}

TEST(Scheduled, WhoHasWaitedLongestGoesFirstUnderFtf) {
  Book book = owned({bids({9, 9}), asks({1}), {}});
  book.works = {{.steps = 3600}, {.steps = 3600, .elapsed_s = 7200}};
  EXPECT_EQ(clear(rule(Objective::ftf), book).bought(1), 1);
}

TEST(Scheduled, TheLongestJobHasTheFastMachineUnderMakespan) {
  Book book = owned({bids({9, 9}), asks({1, 1}), {}});
  book.rates = {2, 1, 2, 1};
  book.works = {{.steps = 1000}, {.steps = 9000}};
  EXPECT_EQ(clear(rule(Objective::makespan), book).by_id().count({2, 1}), 1u);
}

TEST(Scheduled, ATimeLimitBuysTheDearMachineUnderCostSlo) {
  // The first machine is five times as dear and twice as fast.
  Book book = owned({bids({9, 9}), asks({5, 1}), {}});
  book.rates = {2, 1, 2, 1};
  book.works = {{.steps = 7200, .slo_s = 3600}, {.steps = 7200}};
  EXPECT_EQ(clear(rule(Objective::cost_slo), book).by_id().count({1, 1}), 1u);
  // One that nobody can keep is no reason not to trade.
  book.works[0].slo_s = 1;
  EXPECT_EQ(clear(rule(Objective::cost_slo), book).trades(), 2);
}

TEST(Scheduled, WhatOthersAreAfterCostsMore) {
  // Both are faster on the first machine, and there is one of each.
  Book book = owned({{{1, whole(90)}, {2, whole(90)}, {3, whole(90)}}, asks({1, 1}), whole(10)});
  book.rates = {4, 1, 4, 1, 4, 1};
  const auto out = clear(rule(Objective::las), book);
  ASSERT_EQ(out.outcome.trades.size(), 2u);
  Credits fast, slow;
  for (const auto& t : out.outcome.trades) (t.ask == 0 ? fast : slow) = t.pays;
  EXPECT_EQ(fast, whole(16)) << "four times the slow one, and the mean is the reference";
  EXPECT_EQ(slow, whole(4));
  EXPECT_EQ(out.platform_surplus, Credits());
}

TEST(Scheduled, NobodyPaysAboveItsLimitOrBelowTheReserve) {
  Book book = owned({bids({3, 3, 3}), asks({1, 2}), whole(10)});
  for (const auto& t : clear(rule(Objective::las), book).outcome.trades)
    EXPECT_EQ(t.pays, whole(3));
  book.reference = {};
  for (const auto& t : clear(rule(Objective::las), book).outcome.trades)
    EXPECT_EQ(t.pays, book.asks[t.ask].reserve);
}

TEST(Scheduled, WhatIsNotShortCostsItsReserve) {
  const Book book = owned({bids({9}), asks({1, 2}), whole(5)});
  for (const auto objective : {Objective::las, Objective::ftf, Objective::makespan})
    EXPECT_EQ(clear(rule(objective), book).buyers_pay, whole(1)) << static_cast<int>(objective);
  const Book scarce = owned({bids({9, 9}), asks({1}), whole(5)});
  EXPECT_EQ(clear(rule(Objective::las), scarce).buyers_pay, whole(5));
  EXPECT_EQ(clear(rule(Objective::las, Scheduled::Prices::reserve), scarce).buyers_pay, whole(1));
}

// A slot of a free ask, or slots of several, that a bid would pay for and could use.
std::string unused(const Cleared& out) {
  const auto& book = out.book;
  for (std::size_t i = 0; i < book.bids.size(); ++i) {
    const auto got = out.bought(i), want = book.bids[i].units - got;
    if (want <= 0 || book.bids[i].gang > book.bids[i].units) continue;
    std::int64_t could = 0;
    for (std::size_t a = 0; a < book.asks.size(); ++a)
      if (book.asks[a].reserve <= book.bids[i].limit && rate_of(book, i, a) > 0)
        could += book.asks[a].units - out.sold(a);
    if (could >= (got > 0 ? 1 : std::max(1, book.bids[i].gang)))
      return fmt::format("bid {} could have {} more", i, std::min(could, want));
  }
  return {};
}

TEST(Scheduled, NoSlotStaysFreeThatSomebodyWouldPayFor) {
  for (const auto objective : kAll)
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      base::Random random(seed);
      const auto book = testing::random_book(random, {.most_asks = 30, .measured = seed % 2 == 0});
      ASSERT_EQ(unused(clear(rule(objective), book)), "")
          << static_cast<int>(objective) << ", seed " << seed;
    }
}

TEST(Scheduled, NobodyRunsWhereItCannot) {
  for (const auto objective : kAll)
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      base::Random random(seed);
      const auto out =
          clear(rule(objective), testing::random_book(random, {.most_asks = 40, .measured = true}));
      for (const auto& t : out.outcome.trades)
        ASSERT_GT(rate_of(out.book, t.bid, t.ask), 0)
            << static_cast<int>(objective) << ", seed " << seed;
    }
}

// More than any program is solved for exactly, and numbers at the ends of what can be read.
TEST(Scheduled, ABookOfAnySizeIsCleared) {
  base::Random random(1);
  Book many{.reference = whole(2)};
  for (std::uint64_t i = 1; i <= 60'000; ++i)
    many.bids.push_back({i, Credits(random.between(1, 9'000'000)), 1 + static_cast<int>(i % 3),
                         1 + static_cast<int>(i % 2), i % 500});
  for (std::uint64_t i = 1; i <= 40'000; ++i)
    many.asks.push_back({i, Credits(random.between(0, 5'000'000)), 1});
  Book extreme = owned({bids({9, 9, 9}), asks({1, 1, 1}), whole(2)});
  extreme.bids[0].units = extreme.asks[0].units = std::numeric_limits<std::int32_t>::max();
  extreme.rates = {1e300, 1e-300, 1, 1e-300, 1e-300, 1e-300, 5, 0, 1e300};
  extreme.works = {{1e300, 1e300, 1e300, 1e-300}, {1e-300, 0, 0, 1e300}, {}};
  for (const auto objective : kAll)
    for (const auto* book : {&many, &extreme}) {
      const auto out = clear(rule(objective), *book);
      EXPECT_TRUE(verify(*book, out.outcome)) << static_cast<int>(objective);
      EXPECT_TRUE(fit_to_settle(out.outcome)) << static_cast<int>(objective);
      EXPECT_GT(out.trades(), 0) << static_cast<int>(objective);
    }
}

// A market may change its rule, and karma refuses a standing that is not its own.
TEST(Scheduled, KarmaCanTakeOverItsStandingAndTheOtherWayAbout) {
  Book book = owned({bids({9, 9, 9}), asks({1}), {}});
  const KarmaShares karma(500'000, kKarmaPerSlot);
  for (int k = 0; k < 100; ++k) book.standing = clear(rule(Objective::las), book).outcome.standing;
  EXPECT_EQ(book.standing.size(), 3u);
  ASSERT_TRUE(karma.accepts(book));
  book.standing = clear(karma, book).outcome.standing;
  EXPECT_EQ(clear(rule(Objective::las), book).trades(), 1);
}

TEST(Scheduled, WhoIsGoneIsForgotten) {
  Book book = owned({bids({9, 9}), asks({1}), {}});
  book.standing = clear(rule(Objective::las), book).outcome.standing;
  book.bids.pop_back();
  for (int k = 0; k < 40; ++k) book.standing = clear(rule(Objective::las), book).outcome.standing;
  EXPECT_EQ(book.standing.size(), 1u);
}

TEST(Scheduled, MeasuresThatAreNoneAreRefused) {
  const auto why = [](auto&& spoil) {
    auto book = known_book();
    book.works.resize(2);
    spoil(book);
    const auto accepted = rule(Objective::las).accepts(book);
    return accepted ? "" : accepted.error().message;
  };
  EXPECT_EQ(why([](auto&) {}), "");
  EXPECT_THAT(why([](auto& b) { b.rates.pop_back(); }), HasSubstr("5 rates for 2 bids and 3 asks"));
  EXPECT_THAT(why([](auto& b) { b.rates[3] = -1; }), HasSubstr("a rate is -1"));
  EXPECT_THAT(why([](auto& b) { b.works.pop_back(); }), HasSubstr("the work of 1 jobs"));
  EXPECT_THAT(why([](auto& b) { b.works[1].steps = std::nan(""); }), HasSubstr("bid 2 has nan"));
}

TEST(Scheduled, ParametersAreRead) {
  EXPECT_TRUE(make("las", {{"prices", "reserve"}}));
  EXPECT_TRUE((*make("hadar"))->wants_rates());
  const auto wrong = make("ftf", {{"prices", "dull"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().hint, "it can be dual or reserve");
}

}  // namespace
}  // namespace souk::mechanism
