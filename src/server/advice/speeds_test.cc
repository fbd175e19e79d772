#include "server/advice/speeds.h"

#include <gtest/gtest.h>

#include "market/testing/world.h"
#include "server/advice/profiles.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using namespace base::literals;
using base::MachineId;
using base::seconds;
using market::testing::kBoss;

struct SpeedsTest : ::testing::Test {
  market::testing::World w;
  base::AccountId lena = w.account("lena"), bob = w.account("bob", 50_cr);
  MachineId a = w.machine(lena), b = w.machine(lena);
  ParsedWorks works;
  Speeds speeds{[](base::JobId) { return 0.25; }, works};

  SpeedsTest() {
    w.offer(a);
    w.offer(b);
  }
  void rule(const std::string& name) {
    auto slot_class = w.s.slot_class(w.slot_class());
    slot_class.mechanism = name;
    w.run(kBoss, market::SetClass{slot_class});
  }
  base::JobId submit(const std::string& model) {
    wire::Batch batch;
    batch.train.emplace() = {
        .config = {{"name", model}}, .epochs = 4, .batch = 10, .shards = {{"s1", 100}}};
    market::SubmitJob command{
        .name = model, .kind = "train", .slot_class = w.slot_class(), .work = wire::to_json(batch)};
    command.terms = market::testing::wants(1, 1, 1_cr, 9_cr);
    command.terms.deadline = w.now + base::minutes(30);
    command.pay = market::Pay::work;
    w.run(market::testing::user(bob), command);
    return w.s.jobs.before(w.s.jobs.next());
  }
  // Seconds of a step on a and on b.
  void know(const std::string& model, std::int64_t on_a, std::int64_t on_b) {
    wire::Batch batch;
    batch.train.emplace().config = {{"name", model}};
    wire::Profile p{.runs = 1};
    for (const auto& [machine, step] : {std::pair(a, on_a), std::pair(b, on_b)})
      p.machines.push_back({.machine = machine,
                            .batch = 10,
                            .units = 1,
                            .steps = 10,
                            .spent = {.compute = seconds(10 * step)}});
    w.run(market::kSystem, market::LearnProfile{profile_key(batch, "c1"), wire::to_json(p)});
  }
  market::Clear round() {
    market::Clear out{.slot_class = w.slot_class(), .seed = 1};
    speeds.tell(w.s, w.now, out);
    return out;
  }
};

TEST_F(SpeedsTest, OnlyRulesThatTellMachinesApartAreTold) {
  know("m", 1, 2);
  submit("m");
  EXPECT_TRUE(round().paces.empty());
  EXPECT_TRUE(round().works.empty());
}

TEST_F(SpeedsTest, WhatIsKnownOfWaitingTrainingsIsTold) {
  rule("las");
  know("m", 1, 4);
  const auto known = submit("m"), fresh = submit("another");
  w.now = w.now + seconds(60);
  const auto r = round();
  ASSERT_EQ(r.works.size(), 2u);
  EXPECT_EQ(r.works[0].job, known);
  EXPECT_EQ(r.works[1].job, fresh);
  // 40 steps, a quarter of them done.
  EXPECT_EQ(r.works[0].work, (mechanism::JobProgress{30, 10, 60, 29 * 60}));
  ASSERT_EQ(r.paces.size(), 2u);
  EXPECT_EQ(r.paces[0].machine, a);
  EXPECT_DOUBLE_EQ(r.paces[0].steps_per_s, 1);
  EXPECT_DOUBLE_EQ(r.paces[1].steps_per_s, 0.25);
  w.now = w.now + seconds(1);
  know("another", 3, 3);  // Learnt meanwhile.
  EXPECT_EQ(round().paces.size(), 4u);
}

TEST_F(SpeedsTest, EachTrainingGetsTheMachineItGainsMostFrom) {
  rule("las");
  know("left", 1, 4);
  know("right", 4, 1);
  // Whoever came first would otherwise have the first machine.
  const auto right = submit("right"), left = submit("left");
  w.run(market::kSystem, round());
  EXPECT_EQ(w.s.leases.at(w.at(left).leases.front()).machine, a);
  EXPECT_EQ(w.s.leases.at(w.at(right).leases.front()).machine, b);
}

}  // namespace
}  // namespace souk::server
