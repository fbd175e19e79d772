#include <gtest/gtest.h>

#include "base/random.h"
#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::minutes;

// An operator who knows a result, and lenders with a slot each.
struct Probed : World {
  AccountId olga = account("olga", 100_cr);
  std::vector<AccountId> lenders;
  std::vector<MachineId> machines;

  explicit Probed(int count = 4) {
    for (int i = 0; i < count; ++i) {
      lenders.push_back(account("lender" + std::to_string(i)));
      machines.push_back(machine(lenders.back()));
      offer(machines.back(), {.slots = 1, .reserve = 0.1_cr});
    }
  }
  [[nodiscard]] Actor boss() const { return {olga, Scope::operator_, {}}; }
  [[nodiscard]] SubmitJob known(std::int32_t uses = 10) const {
    SubmitJob command{"sums", "batch", slot_class(), wants(1, uses, 1_cr, 50_cr), "sort"};
    command.retry = {.lost = true, .failed = true, .max = 3};
    command.expect = "right";
    return command;
  }
  JobId probe(std::int32_t uses = 10) {
    run(boss(), known(uses));
    return s.jobs.before(s.jobs.next());
  }
  void aim(JobId job, MachineId at) { run(kSystem, AimProbe{job, at}); }
  // The machine gets the probe and gives this result half a minute later.
  LeaseId answer(JobId job, MachineId who, const std::string& result, bool doubts = true) {
    aim(job, who);
    beat(who);
    clear();
    EXPECT_EQ(at(job).leases.size(), 1u);
    const auto lease = at(job).leases.front();
    EXPECT_EQ(at(lease).machine, who);
    start(lease);
    now = now + base::seconds(30);
    run(agent(who), FinishLease{lease, at(lease).epoch, LeaseOutcome::completed, "exit", result,
                                false, doubts});
    return lease;
  }
  [[nodiscard]] std::int32_t reliability(MachineId m) const {
    return s.machines.at(m).reliability_ppm;
  }
};

TEST(Probes, RunWhereTheyAreAimedAndNowhereElse) {
  Probed w;
  const auto probe = w.probe();
  w.clear();
  EXPECT_TRUE(w.at(probe).leases.empty()) << "not aimed yet";
  w.aim(probe, w.machines[2]);
  w.clear();
  ASSERT_EQ(w.at(probe).leases.size(), 1u) << "one use at a time";
  EXPECT_EQ(w.at(w.at(probe).leases.front()).machine, w.machines[2]);
  w.clear();
  EXPECT_EQ(w.at(probe).leases.size(), 1u);
}

TEST(Probes, WhoGivesTheRightResultIsPaidLikeForAnyJob) {
  Probed w;
  const auto probe = w.probe();
  const auto before = w.reliability(w.machines[0]);
  const auto lease = w.answer(probe, w.machines[0], "right");
  EXPECT_GT(w.at(lease).paid, Credits());
  EXPECT_GT(w.reliability(w.machines[0]), before);
  EXPECT_EQ(w.at(probe).done, 1);
}

TEST(Probes, AWrongResultIsNotPaidAndItsMachineLendsNothing) {
  Probed w;
  const auto probe = w.probe();
  w.answer(probe, w.machines[0], "right");
  const auto before = w.reliability(w.machines[1]);
  const auto lie = w.answer(probe, w.machines[1], "made up");
  EXPECT_EQ(w.at(lie).paid, Credits());
  EXPECT_EQ(w.reliability(w.machines[1]), before - before / 5);
  EXPECT_FALSE(w.s.machines.at(w.machines[1]).doubted.empty());
  const auto nothing = w.answer(probe, w.machines[2], "", false);
  EXPECT_EQ(w.at(nothing).paid, Credits());
  EXPECT_TRUE(w.s.machines.at(w.machines[2]).doubted.empty()) << "it could never clear itself";
  EXPECT_EQ(w.at(probe).state, JobState::queued) << "the probe goes on";
}

TEST(Probes, AnOperatorWhoIsWrongPunishesNobody) {
  Probed w;
  const auto probe = w.probe();
  for (int i = 0; i < 2; ++i) {
    const auto before = w.reliability(w.machines[i]);
    const auto lease = w.answer(probe, w.machines[i], "what everybody gets");
    EXPECT_GT(w.at(lease).paid, Credits());
    EXPECT_GE(w.reliability(w.machines[i]), before);
    EXPECT_TRUE(w.s.machines.at(w.machines[i]).doubted.empty());
  }
  EXPECT_EQ(w.at(probe).state, JobState::failed);
  EXPECT_NE(w.at(probe).reason.find("what everybody gets"), std::string::npos);
}

TEST(Probes, NobodyHasOneTwice) {
  Probed w;
  const auto probe = w.probe();
  w.answer(probe, w.machines[0], "right");
  EXPECT_EQ(w.refused(kSystem, AimProbe{probe, w.machines[0]}).code, base::Code::conflict);
}

TEST(Probes, AFailedProgramCostsTheProbeNothing) {
  Probed w;
  const auto probe = w.probe();
  w.aim(probe, w.machines[0]);
  w.clear();
  const auto lease = w.at(probe).leases.front();
  w.start(lease);
  w.run(w.agent(w.machines[0]),
        FinishLease{lease, w.at(lease).epoch, LeaseOutcome::failed, "no python", ""});
  EXPECT_EQ(w.at(probe).state, JobState::queued);
  EXPECT_TRUE(w.s.machines.at(w.machines[0]).doubted.empty());
}

TEST(Probes, EndWhenTheyAreUsedUp) {
  Probed w;
  const auto probe = w.probe(2);
  w.answer(probe, w.machines[0], "right");
  w.answer(probe, w.machines[1], "wrong");
  EXPECT_EQ(w.at(probe).state, JobState::succeeded);
  EXPECT_EQ(w.at(probe).spent, w.s.leases.at(LeaseId(1)).paid);
}

TEST(Probes, OnlyOperatorsHaveThem) {
  Probed w;
  const auto bob = w.account("bob", 100_cr);
  EXPECT_EQ(w.refused(user(bob), w.known()).code, base::Code::forbidden)
      << "a borrower who names a wrong result would have work for nothing";
  EXPECT_EQ(w.refused(user(bob), AimProbe{w.probe(), w.machines[0]}).code, base::Code::forbidden);
  const auto refused = [&](auto change) {
    auto command = w.known();
    change(command);
    return w.refused(w.boss(), command).field;
  };
  EXPECT_EQ(refused([](SubmitJob& c) { c.work.clear(); }), "expect");
  EXPECT_EQ(refused([](SubmitJob& c) { c.replicate = 2; }), "expect");
  EXPECT_EQ(refused([](SubmitJob& c) { c.terms.workers.max = 1'001; }), "workers");
  EXPECT_EQ(refused([](SubmitJob& c) { c.expect = std::string(200, 'x'); }), "expect");
}

}  // namespace
}  // namespace souk::market::testing
