#include "server/advice/asks.h"

#include <gtest/gtest.h>

#include "market/testing/world.h"

namespace souk::server {
namespace {

using namespace base::literals;
using market::testing::kBoss;
using market::testing::wants;

struct AsksTest : ::testing::Test {
  market::testing::World w;
  base::AccountId lena = w.account("lena"), bob = w.account("bob", 50_cr),
                  zoe = w.account("zoe", 50_cr);
  wire::NewJob job{.workers = {1, 4}, .limit = 2_cr, .budget = 9_cr};

  AsksTest() {
    auto c = w.s.slot_class(w.slot_class());
    c.mechanism = market::kDefaultMechanism;
    w.run(kBoss, market::SetClass{c});
  }
  wire::PlanPrices prices(base::Credits limit) {
    job.limit = limit;
    market::SubmitJob as{.name = "job", .kind = "batch", .slot_class = w.slot_class()};
    as.terms = wants(job.workers.min, job.workers.max, limit, job.budget);
    const auto all = prices_now(w.s, job, as, bob, w.now);
    EXPECT_EQ(all.size(), 1u);
    return all.front();
  }
};

TEST_F(AsksTest, WhatWouldBePaidIsWhatTheNextRoundTakes) {
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.5_cr});
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.6_cr});
  const auto p = prices(2_cr);
  EXPECT_EQ(p.cheapest, 0.5_cr);
  EXPECT_EQ(p.workers, 2);
  EXPECT_EQ(p.pays, 0.55_cr);
  EXPECT_TRUE(p.limit_given);
  EXPECT_FALSE(p.enough);
  const auto id = w.job(bob, wants(1, 4, 2_cr, 9_cr));
  w.clear();
  base::Credits paid;
  for (const auto lease : w.s.jobs.at(id).leases) paid += w.s.leases.at(lease).term.pays;
  EXPECT_EQ(paid, 1.1_cr);
}

TEST_F(AsksTest, ALimitBelowEveryAskIsAnsweredWithThePriceThatWouldDo) {
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.5_cr});
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.6_cr});
  const auto one = prices(0.4_cr);
  EXPECT_FALSE(one.pays);
  EXPECT_EQ(one.enough, 0.5_cr);
  job.workers = {2, 4};
  EXPECT_EQ(prices(0.5_cr).enough, 0.6_cr);
  job.workers = {3, 4};  // There are not as many at any price.
  EXPECT_FALSE(prices(0.5_cr).enough);
}

TEST_F(AsksTest, AnOfferAtMarketCountsAsTheSuggestedPrice) {
  w.offer(w.machine(lena), {.slots = 2});
  const auto p = prices(2_cr);
  EXPECT_EQ(p.cheapest, p.suggested);
  EXPECT_EQ(p.pays, p.suggested);
}

TEST_F(AsksTest, OthersWhoWaitCountAndOnesOwnJobsDoNot) {
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.5_cr});
  w.job(bob, wants(1, 4, 0.9_cr, 9_cr));
  EXPECT_EQ(prices(2_cr).pays, 0.5_cr);
  w.job(zoe, wants(1, 4, 0.8_cr, 9_cr));
  EXPECT_EQ(prices(2_cr).pays, 0.8_cr);
  EXPECT_FALSE(prices(0.7_cr).pays);  // The others bid more.
  EXPECT_EQ(prices(0.7_cr).cheapest, 0.5_cr);
}

TEST_F(AsksTest, OthersWhoCannotRunOnWhatIsThereTakeNothingAway) {
  w.offer(w.machine(lena), {.slots = 1, .reserve = 0.5_cr});
  auto terms = wants(1, 1, 0.9_cr, 9_cr);
  terms.constraints.packages = {"@torch"};
  w.job(zoe, terms);
  EXPECT_EQ(prices(0.7_cr).pays, 0.5_cr);
}

}  // namespace
}  // namespace souk::server
