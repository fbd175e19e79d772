#include "provider/reconcile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "provider/testing/start.h"

namespace souk::provider {
namespace {

using testing::kStart;

const MachineKind kKind{.hourly = Credits(1'000'000)};

Fleet fleet_of(const std::vector<Record>& records) {
  Fleet out;
  for (const auto& r : records) apply(out, r);
  return out;
}

Record intended(const std::string& id, Time at = kStart) {
  return {.kind = RecordKind::intended,
          .at = at,
          .intent = id,
          .machine = kKind,
          .end = at + base::hours(1)};
}
Record started(const std::string& id, const std::string& handle) {
  return {.kind = RecordKind::started, .at = kStart, .intent = id, .handle = handle};
}

TEST(Reconcile, AProviderThatDoesNotAnswerStartsNothing) {
  Fleet fleet;
  const auto out =
      reconcile(fleet, std::nullopt, {.machines = 3}, kKind, {.max_machines = 3}, kStart);
  EXPECT_EQ(out.starts, 0);
  EXPECT_TRUE(out.facts.empty());
}

TEST(Reconcile, ASecondMachineOfOneIntentIsStoppedAndTheFirstKept) {
  auto fleet = fleet_of({intended("a"), started("a", "m1")});
  const std::vector<ListedMachine> listed{{"a", "m2", MachineState::running},
                                          {"a", "m1", MachineState::running}};
  const auto out = reconcile(fleet, listed, {.machines = 1}, kKind, {.max_machines = 2}, kStart);
  ASSERT_EQ(out.stops.size(), 1u);
  EXPECT_EQ(out.stops[0].handle, "m2");
  EXPECT_TRUE(out.stops[0].hard);
  EXPECT_EQ(out.starts, 0);
}

TEST(Reconcile, TheEndOfADoubleDoesNotEndTheMachineItself) {
  auto fleet = fleet_of({intended("a"), started("a", "m1")});
  const std::vector<ListedMachine> listed{{"a", "m2", MachineState::ended},
                                          {"a", "m1", MachineState::running}};
  EXPECT_TRUE(reconcile(fleet, listed, {.machines = 1}, kKind, {}, kStart).facts.empty());
}

TEST(Reconcile, WhatIsStoppingCountsAgainstTheCeilingUntilItHasEnded) {
  auto fleet = fleet_of({intended("a"),
                         started("a", "m1"),
                         {.kind = RecordKind::stopping, .at = kStart, .intent = "a"}});
  const std::vector<ListedMachine> listed{{"a", "m1", MachineState::running}};
  const auto out = reconcile(fleet, listed, {.machines = 1}, kKind, {.max_machines = 1}, kStart);
  EXPECT_EQ(out.starts, 0);
  EXPECT_FALSE(out.held_back.empty());
}

TEST(Reconcile, APoliteStopBecomesAHardOne) {
  auto fleet = fleet_of({intended("a"),
                         started("a", "m1"),
                         {.kind = RecordKind::stopping, .at = kStart, .intent = "a"}});
  const std::vector<ListedMachine> listed{{"a", "m1", MachineState::running}};
  EXPECT_FALSE(reconcile(fleet, listed, {}, kKind, {}, kStart + base::seconds(10)).stops[0].hard);
  EXPECT_TRUE(reconcile(fleet, listed, {}, kKind, {}, kStart + base::seconds(90)).stops[0].hard);
}

TEST(Reconcile, AProviderThatWasAwayWaitsBeforeItBelievesThatAMachineIsGone) {
  auto fleet = fleet_of({intended("a"), started("a", "m1")});
  const auto later = kStart + base::minutes(30);
  const std::vector<ListedMachine> nothing;
  EXPECT_TRUE(reconcile(fleet, nothing, {}, kKind, {}, later).facts.empty());
  EXPECT_TRUE(reconcile(fleet, nothing, {}, kKind, {}, later + base::minutes(1)).facts.empty());
  const auto out = reconcile(fleet, nothing, {}, kKind, {}, later + base::minutes(2));
  ASSERT_EQ(out.facts.size(), 1u);
  EXPECT_EQ(out.facts[0].kind, RecordKind::ended);
}

TEST(Reconcile, AShortenedJournalSaysTheSameOfWhatLives) {
  auto records = std::vector<Record>{intended("a"), started("a", "m1"), intended("b"),
                                     intended("c"), started("c", "m3")};
  records.push_back(
      {.kind = RecordKind::ended, .at = kStart + base::minutes(30), .intent = "a", .text = "x"});
  records.push_back({.kind = RecordKind::stopping, .at = kStart, .intent = "c"});
  const auto before = fleet_of(records);
  const auto after = fleet_of(shortened(before, kStart));
  EXPECT_EQ(alive(after), 2);
  EXPECT_EQ(active(after), 1);
  EXPECT_EQ(after.intents.at("c").handle, "m3");
  EXPECT_EQ(committed(after), committed(before));
}

TEST(MachineName, IsReadBackAndNothingElseIs) {
  const MachineName name{"ann-1f", "slurm", "00ff"};
  EXPECT_EQ(parse_machine_name(to_string(name)), name);
  for (const auto* other : {"souk.a.b", "souk.a.b.c.d", "x.a.b.c", "souk..b.c", "souk.A.b.c", ""})
    EXPECT_EQ(parse_machine_name(other), std::nullopt) << other;
  EXPECT_EQ(clean_name("Ann B. Müller"), "ann-b--m--ller");
}

}  // namespace
}  // namespace souk::provider
