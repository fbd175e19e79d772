#include "provider/demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "provider/testing/start.h"

namespace souk::provider {
namespace {

using base::literals::operator""_cr;
using testing::kStart;

const DemandRules kRules{.floor = 0.5_cr, .slots_per_machine = 2};

TEST(Demand, CountsOnlyBidsThatPayTheFloor) {
  const wire::Book book{.bids = {{0.9_cr, 3}, {0.5_cr, 2}, {0.4_cr, 50}}};
  EXPECT_EQ(need_of(book, {}, kRules, kStart).machines, 3);
}

TEST(Demand, WhatTheCommunityOffersForLessIsNotRented) {
  const wire::Book book{.asks = {{0_cr, 1, true}, {0.3_cr, 3}, {0.8_cr, 20}},
                        .bids = {{0.9_cr, 6}}};
  EXPECT_EQ(need_of(book, {}, kRules, kStart).machines, 1);
}

TEST(Demand, BusyMachinesStayAndIdleOnesServeTheDemandThatIsLeft) {
  const wire::Book book{.asks = {{0.5_cr, 2}}, .bids = {{0.9_cr, 2}}};
  const std::map<std::string, MachineUse> uses{{"busy", {2, 0, true, kStart}},
                                               {"idle", {2, 2, true, kStart - base::hours(1)}}};
  const auto need = need_of(book, uses, kRules, kStart);
  EXPECT_EQ(need.machines, 2);
  EXPECT_TRUE(need.surplus.empty());
}

TEST(Demand, TheLongestIdleGoFirstAndThoseThatJustBecameIdleStay) {
  const std::map<std::string, MachineUse> uses{{"a", {2, 2, true, kStart - base::minutes(1)}},
                                               {"b", {2, 2, true, kStart - base::minutes(6)}},
                                               {"c", {2, 2, true, kStart - base::minutes(9)}},
                                               {"d", {2, 1, true, kStart}}};
  const wire::Book book{.asks = {{0.5_cr, 7}}};
  const auto need = need_of(book, uses, kRules, kStart);
  EXPECT_EQ(need.machines, 1);
  EXPECT_THAT(need.surplus, ::testing::ElementsAre("c", "b"));
}

TEST(Demand, AMachineThatIsNotOnlineYetIsNotIdle) {
  const std::map<std::string, MachineUse> uses{{"a", {2, 2, false, kStart - base::hours(1)}}};
  EXPECT_TRUE(need_of({}, uses, kRules, kStart).surplus.empty());
}

TEST(Demand, TheLeastNumberIsKeptWithoutDemand) {
  auto rules = kRules;
  rules.min_machines = 2;
  EXPECT_EQ(need_of({}, {}, rules, kStart).machines, 2);
}

}  // namespace
}  // namespace souk::provider
