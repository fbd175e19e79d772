#include <gtest/gtest.h>

#include "market/limits.h"
#include "market/testing/world.h"

namespace souk::market {
namespace {

using namespace base::literals;

using testing::kBoss;
using testing::user;
using testing::wants;

class Services : public ::testing::Test {
 protected:
  testing::World w;
  AccountId ann = w.account("ann"), bob = w.account("bob", 100_cr);
  MachineId machine = w.machine(ann);

  Services() { w.offer(machine, {.slots = 4, .reserve = 0.1_cr}); }

  SubmitJob service(std::int32_t max = 1) {
    SubmitJob c{"api", "service", w.slot_class(), wants(1, max, 1_cr, 10_cr), "work"};
    return c;
  }
  JobId submit(const SubmitJob& c) {
    w.run(user(bob), c);
    return w.s.jobs.before(w.s.jobs.next());
  }
  LeaseId running(JobId job) {
    w.clear();
    return w.start_all(job).front();
  }
  void serve(LeaseId id, std::int64_t n) { w.run(kBoss, ServeRequests{id, w.at(id).epoch, n}); }
  SaveVolume save(LeaseId id, std::string name, std::string blob) {
    return {id, w.at(id).epoch, std::move(name), std::move(blob)};
  }
};

TEST_F(Services, PayForRequestsBesideTheTimeAndNeverMoreThanTheBudget) {
  auto c = service();
  c.per_request = 0.01_cr;
  const auto job = submit(c);
  const auto lease = running(job);
  serve(lease, 200);
  EXPECT_EQ(w.at(job).spent, 2_cr);
  EXPECT_EQ(w.balance(ann).available, 2_cr);
  EXPECT_EQ(w.at(lease).requests, 200);
  serve(lease, 1'000'000);
  EXPECT_LE(w.at(job).spent, 10_cr);
  EXPECT_GT(w.at(job).spent, 8_cr);
  w.pass(base::hours(1));  // What was promised for the time is still there.
  EXPECT_LE(w.at(job).spent, 10_cr);
  EXPECT_GT(w.at(lease).earned, 2_cr);
}

TEST_F(Services, TakeTheFeeOfRequestsToo) {
  auto settings = w.s.settings;
  settings.fee_ppm = 250'000;
  w.settings(settings);
  auto c = service();
  c.per_request = 0.01_cr;
  const auto lease = running(submit(c));
  serve(lease, 100);
  EXPECT_EQ(w.balance(ann).available, 0.75_cr);
}

TEST_F(Services, AreCountedByTheMarketAlone) {
  const auto lease = running(submit(service()));
  EXPECT_EQ(w.refused(w.agent(machine), ServeRequests{lease, w.at(lease).epoch, 5}).code,
            base::Code::forbidden);
  EXPECT_EQ(w.refused(kBoss, ServeRequests{lease, w.at(lease).epoch, 0}).field, "requests");
  EXPECT_EQ(w.refused(kBoss, ServeRequests{lease, w.at(lease).epoch + 1, 5}).field, "epoch");
}

TEST_F(Services, ShrinkAtOnceWhenToldSo) {
  const auto job = submit(service(4));
  w.clear();
  const auto leases = w.start_all(job);
  ASSERT_EQ(leases.size(), 4u);
  w.run(kBoss, ResizeJob{job, 2, "few requests", true});
  EXPECT_EQ(w.at(leases[1]).state, LeaseState::running);
  EXPECT_EQ(w.at(leases[2]).state, LeaseState::draining);
  EXPECT_EQ(w.at(leases[3]).state, LeaseState::draining);
}

TEST_F(Services, AVolumeOutlivesTheJobThatChangedIt) {
  auto c = service();
  c.volumes = {"work"};
  const auto job = submit(c);
  const auto lease = running(job);
  w.run(w.agent(machine), save(lease, "work", "blob1"));
  w.run(w.agent(machine), save(lease, "work", "blob2"));
  EXPECT_EQ(w.s.volumes.at(volume_key(bob, "work")).blob, "blob2");
  EXPECT_EQ(w.refused(w.agent(machine), save(lease, "other", "blob")).code, base::Code::forbidden);
  EXPECT_EQ(w.refused(user(bob), c).code, base::Code::conflict) << "one job at a time";
  EXPECT_EQ(w.refused(user(bob), RemoveVolume{bob, "work"}).code, base::Code::conflict);
  w.run(user(bob), CancelJob{job, ""});
  w.run(w.agent(machine), save(lease, "work", "last"));  // What it left when it was told to stop.
  EXPECT_EQ(w.s.volumes.at(volume_key(bob, "work")).blob, "last");
  w.now = w.now + w.s.settings.drain + base::seconds(1);
  EXPECT_EQ(w.refused(w.agent(machine), save(lease, "work", "late")).code, base::Code::conflict);
  EXPECT_FALSE(w.refused(user(ann), RemoveVolume{bob, "work"}).message.empty());
  w.run(user(bob), RemoveVolume{bob, "work"});
  EXPECT_TRUE(w.s.volumes.empty());
}

TEST_F(Services, RefuseVolumesThatCannotWork) {
  auto c = service(2);
  c.volumes = {"work"};
  EXPECT_EQ(w.refused(user(bob), c).field, "volumes") << "two workers";
  c = service();
  for (const std::string name : {"", "..", "a/b", ".hidden"}) {
    c.volumes = {name};
    EXPECT_EQ(w.refused(user(bob), c).field, "volumes") << name;
  }
  c.volumes = {"a", "a"};
  EXPECT_EQ(w.refused(user(bob), c).field, "volumes");
  c.volumes.clear();
  for (std::size_t i = 0; i <= kVolumesPerJob; ++i) c.volumes.push_back("v" + std::to_string(i));
  EXPECT_EQ(w.refused(user(bob), c).field, "volumes");
}

TEST_F(Services, AnAccountHasSoManyVolumes) {
  for (std::size_t i = 0; i < kVolumesPerAccount; ++i) {
    const auto name = "v" + std::to_string(i);
    w.s.volumes[volume_key(bob, name)] = {.owner = bob, .name = name, .blob = "b"};
  }
  auto c = service();
  c.volumes = {"more"};
  EXPECT_EQ(w.refused(user(bob), c).code, base::Code::exhausted);
  c.volumes = {"v7"};
  w.run(user(bob), c);
}

}  // namespace
}  // namespace souk::market
