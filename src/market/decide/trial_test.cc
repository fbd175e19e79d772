#include <gtest/gtest.h>

#include "market/decide/program_books.h"
#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::minutes;

struct Trials : World {
  AccountId lena = account("lena"), bob = account("bob", 1000_cr), eve = account("eve", 1000_cr);

  // c1 with another rule, and perhaps one that takes turns with it.
  base::Result<Events> set(std::string mechanism, std::map<std::string, std::string> params,
                           std::optional<Trial> trial = {}) {
    auto c = *s.find_class("c1");
    c.mechanism = std::move(mechanism);
    c.params = std::move(params);
    c.trial = std::move(trial);
    return execute(s, {now, kBoss, SetClass{c}});
  }
  const Tallies& tallies() { return s.tallies[slot_class().value - 1]; }
  // One job and one round in which it gets its slot.
  void round() {
    job(bob, wants(1, 1, 3_cr, 3_cr));
    clear();
  }
};

TEST(Trial, TwoRulesTakeTurnsAndEachIsJudgedByItsOwnRounds) {
  Trials w;
  w.offer(w.machine(w.lena), {.slots = 8, .reserve = 1_cr});
  ASSERT_TRUE(w.set("k-double", {}, Trial{"posted", {{"price", "2"}}, minutes(10)}));
  const auto both = minutes(20).us;
  w.now = Time((w.now.us / both + 1) * both);  // The beginning of the first of two slices.
  w.round();
  EXPECT_EQ(w.tallies().in_force, "k-double");
  w.now = w.now + minutes(10);
  w.round();
  EXPECT_EQ(w.tallies().in_force, "posted");
  w.now = w.now + minutes(10);
  w.round();
  ASSERT_EQ(w.tallies().of.size(), 2u);
  const auto& call = w.tallies().of.at("k-double");
  EXPECT_EQ(call.rounds, 2);
  EXPECT_EQ(call.traded, 2);
  const auto& posted = w.tallies().of.at("posted");
  EXPECT_EQ(posted.rounds, 1);
  EXPECT_EQ(posted.pays, (2_cr).micro);
  EXPECT_EQ(posted.gain, (2_cr).micro);  // A limit of 3, a reserve of 1.
  EXPECT_EQ(posted.best, posted.gain);
  EXPECT_EQ(posted.wait(0.5), base::seconds(1));
}

TEST(Trial, RoundsWithoutATradeLowerTheEfficiency) {
  Trials w;
  w.offer(w.machine(w.lena), {.slots = 1, .reserve = 1_cr});
  ASSERT_TRUE(w.set("posted", {{"price", "9"}}));  // More than anybody pays.
  w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  w.now = w.now + minutes(6);  // Rounds without trades are recorded now and then.
  w.clear();
  EXPECT_EQ(w.tallies().of.at("posted").gain, 0);
  EXPECT_EQ(w.tallies().of.at("posted").best, (2_cr).micro);
}

TEST(Trial, BadTrialsAndUnfitMechanismsChangeNothing) {
  Trials w;
  const struct {
    const char* says;
    base::Result<Events> result;
  } cases[] = {
      {"slice", w.set("k-double", {}, Trial{"posted", {}, base::seconds(1)})},
      {"there is no mechanism", w.set("k-double", {}, Trial{"none", {}, minutes(10)})},
      {"takes from buyers", w.set("vcg", {})},
      {"needs a program", w.set("external", {})},
      {"needs a program", w.set("external", {{"program", "../sh"}})},
      {"no mechanism 'none'", w.set("external", {{"program", "mine"}, {"fallback", "none"}})},
  };
  for (const auto& c : cases) {
    ASSERT_FALSE(c.result) << c.says;
    EXPECT_NE(c.result.error().message.find(c.says), std::string::npos) << c.result.error().message;
  }
  EXPECT_EQ(w.s.find_class("c1")->mechanism, "k-double");
}

// Always the same price, whatever the book says.
struct Fixed final : mechanism::Mechanism {
  mechanism::Outcome clear(const mechanism::Book& book, base::Random&) const override {
    if (book.bids.empty() || book.asks.empty()) return {};
    return {.trades = {{0, 0, 1, 3_cr, 1_cr}}};
  }
};

TEST(Trial, AProgramClearsWhereThereIsOneAndItsFallbackWhereNot) {
  Trials w;
  w.offer(w.machine(w.lena), {.slots = 8, .reserve = 1_cr});
  ASSERT_TRUE(w.set("external", {{"program", "mine"}, {"fallback", "posted"}, {"price", "2"}}));
  const auto first = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  w.clear();
  EXPECT_EQ(w.at(w.at(first).leases.front()).term.pays, 2_cr);
  const auto second = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  const Fixed program;
  Clear round{.slot_class = w.slot_class(), .seed = 1};
  round.answer =
      ask_all(program_books(w.s, w.now, round), [&](const auto& book, std::uint64_t seed) {
        base::Random random(seed);
        return program.clear(book, random);
      });
  w.run(kSystem, round);
  const auto& term = w.at(w.at(second).leases.front()).term;
  EXPECT_EQ(term.pays, 3_cr);
  EXPECT_EQ(term.gets, 1_cr);
}

TEST(Trial, KarmaRemembersWhoBorrowedFromOneRoundToTheNext) {
  Trials w;
  w.offer(w.machine(w.lena), {.slots = 2});
  ASSERT_TRUE(w.set("karma", {}));
  w.job(w.bob, wants(1, 2, 3_cr, 30_cr));
  w.clear();
  const auto& standing = w.s.standings[w.slot_class().value - 1];
  ASSERT_EQ(standing.size(), 1u);
  EXPECT_EQ(standing.front().account, w.bob);
}

}  // namespace
}  // namespace souk::market::testing
