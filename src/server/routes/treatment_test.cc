#include <gtest/gtest.h>

#include "market/testing/world.h"
#include "server/routes/treatment.h"
#include "server/routes/views.h"

namespace souk::server {
namespace {

using namespace base::literals;
using base::minutes;
using market::testing::user;
using market::testing::wants;

struct TreatmentTest : ::testing::Test {
  market::testing::World w;
  base::AccountId lena = w.account("lena"), bob = w.account("bob", 50_cr);
  base::AccountId eve = w.account("eve", 50_cr);

  wire::Treatment seen() { return treatment_of(w.s, w.slot_class(), w.now); }
};

TEST_F(TreatmentTest, AMarketWithoutJobsHasNothingToSay) {
  const auto t = seen();
  EXPECT_EQ(t.borrowers, 0);
  EXPECT_FALSE(t.gini_access);
  EXPECT_FALSE(t.defection);
  EXPECT_FALSE(t.completed);
}

TEST_F(TreatmentTest, WhoWaitsFifteenTimesWhatJobsTakeCountsAsLost) {
  w.offer(w.machine(lena), {.slots = 1});
  const auto served = w.job(bob, wants(1, 1, 1_cr, 9_cr));
  const auto ignored = w.job(eve, wants(1, 1, 0.000001_cr, 1_cr));
  w.run(market::testing::kBoss,
        market::ChangeOffer{base::OfferId(1), {.slots = 1, .reserve = 0.1_cr}});
  w.clear();
  for (const auto lease : w.start_all(served)) {
    w.pass(minutes(10));
    w.finish(lease);
  }
  ASSERT_EQ(w.at(served).state, market::JobState::succeeded);
  ASSERT_EQ(w.at(ignored).state, market::JobState::queued);
  w.pass(minutes(139));
  EXPECT_EQ(seen().defection, 0);  // 149 minutes are not yet 15 times 10.
  w.pass(minutes(2));
  EXPECT_EQ(seen().defection, 0.5);
  EXPECT_EQ(seen().borrowers, 2);
  EXPECT_EQ(seen().completed, 1);
  EXPECT_NEAR(*seen().gini_access, 0.5, 1e-9);  // One had all it wanted, one nothing.
  EXPECT_EQ(seen().ended, 1);
  w.run(user(eve), market::CancelJob{ignored});
  EXPECT_EQ(seen().completed, 1) << "its owner ended it, not the market";
}

TEST_F(TreatmentTest, RecordsHaveTheLabsMetricsOfEachMechanism) {
  w.offer(w.machine(lena), {.slots = 2, .reserve = 0.2_cr});
  w.job(bob, wants(2, 2, 0.6_cr, 9_cr));
  w.clear();
  const auto records = records_view(w.s, *w.s.find_class("c1"), w.now);
  ASSERT_EQ(records.items.size(), 1u);
  const auto& r = records.items.front();
  EXPECT_EQ(r.price, 0.4_cr);  // Half way.
  EXPECT_EQ(r.alpha, 0);
  EXPECT_EQ(r.efficiency, 1);
  EXPECT_DOUBLE_EQ(*r.borrowers_share, 0.5);
  EXPECT_DOUBLE_EQ(*r.lenders_share, 0.5);
  EXPECT_DOUBLE_EQ(*r.platform_share, 0);
  EXPECT_FALSE(r.volatility);
  EXPECT_NEAR(*records.treatment.gini_credits, 0.5, 0.02);  // Of four accounts two have all.
}

}  // namespace
}  // namespace souk::server
