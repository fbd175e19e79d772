#include "provider/steward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "provider/testing/cloud.h"
#include "provider/testing/start.h"

namespace souk::provider {
namespace {

using testing::Cloud;
using testing::Faults;
using testing::kStart;

// A steward that is started again, from the journal alone, whenever it is killed.
class Keeper {
 public:
  Keeper(Cloud& cloud, base::FakeClock& clock, Rules rules)
      : cloud_(cloud), clock_(clock), rules_(rules) {
    rules_.delays = cloud.delays();
    begin();
  }

  void pass() {
    try {
      ASSERT_TRUE(steward_->pass());
    } catch (const testing::Killed&) {
      begin();
    }
  }
  void stop_all() {
    stopping_ = true;
    steward_->stop_all();
  }
  [[nodiscard]] const Fleet& fleet() const { return fleet_; }
  [[nodiscard]] bool empty() const { return steward_->empty(); }

 private:
  void begin() {
    fleet_ = {};
    for (const auto& r : cloud_.records) apply(fleet_, r);
    steward_ = std::make_unique<Steward>(
        Steward::Parts{.provider = cloud_,
                       .market = cloud_,
                       .log = cloud_,
                       .clock = clock_,
                       .fresh_intent = [this] { return "i" + std::to_string(++intents_); }},
        MachineName{"ann", "pool", ""}, rules_, fleet_);
    if (stopping_) steward_->stop_all();
  }

  Cloud& cloud_;
  base::FakeClock& clock_;
  Rules rules_;
  Fleet fleet_;
  std::unique_ptr<Steward> steward_;
  int intents_ = 0;
  bool stopping_ = false;
};

struct Outcome {
  std::int64_t injected = 0;
  std::int64_t machines = 0;
};

// A random history: faults and changing needs, then faults end and nothing is needed any more.
Outcome run_history(std::uint64_t seed) {
  base::Random random(seed);
  const auto rate = [&](std::uint64_t most) {
    return random.chance(2) ? 0 : 2 + random.below(most);
  };
  const Faults faults{.kill = random.chance(3) ? 0 : 8 + random.below(40),
                      .lost_reply = rate(6),
                      .doubled = rate(10),
                      .throttle = rate(6),
                      .empty_list = rate(8),
                      .stale_list = rate(8),
                      .failed_list = rate(8),
                      .lost_stop = rate(6),
                      .taken_back = random.chance(2) ? 0 : 10 + random.below(40),
                      .market_away = rate(8)};
  base::FakeClock clock(kStart);
  Cloud cloud(random.next(), faults, clock);
  const Rules rules{.max_machines = random.between(1, 6),
                    .max_spend = Credits(random.between(2, 40) * 1'000'000),
                    .lifetime = base::minutes(random.between(10, 90))};
  Keeper keeper(cloud, clock, rules);
  const auto passes = random.between(20, 120);
  for (std::int64_t i = 0; i < passes; ++i) {
    if (random.chance(8)) cloud.wanted = random.between(0, 8);
    keeper.pass();
    if (::testing::Test::HasFatalFailure()) return {};
    // A request that the network delivered twice is another machine until it is listed.
    EXPECT_LE(cloud.alive() - cloud.doubled_requests, rules.max_machines) << "seed " << seed;
    EXPECT_LE(committed(keeper.fleet()), *rules.max_spend) << "seed " << seed;
    clock.advance(base::seconds(random.between(1, 60)));
  }
  keeper.stop_all();
  cloud.faults = {};
  for (int i = 0; i < 40 && !(keeper.empty() && cloud.alive() == 0); ++i) {
    keeper.pass();
    clock.advance(base::seconds(15));
  }
  EXPECT_EQ(cloud.alive(), 0) << "a machine was forgotten, seed " << seed;
  EXPECT_TRUE(keeper.empty()) << "seed " << seed;
  // Every machine there ever was came from an intent that was written down before.
  for (const auto& [handle, m] : cloud.machines)
    EXPECT_TRUE(keeper.fleet().intents.contains(m.intent)) << "seed " << seed;
  return {cloud.injected, static_cast<std::int64_t>(cloud.machines.size())};
}

TEST(Steward, ForgetsDoublesAndOverspendsNothingInFiveThousandRandomHistories) {
  Outcome sum;
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    const auto one = run_history(seed);
    sum.injected += one.injected;
    sum.machines += one.machines;
    if (HasFailure()) break;
  }
  RecordProperty("faults", std::to_string(sum.injected));
  EXPECT_GT(sum.injected, 50'000);
  EXPECT_GT(sum.machines, 20'000);
}

struct SmallWorld {
  base::FakeClock clock{kStart};
  Cloud cloud{1, {}, clock};
};

TEST(Steward, StartsWhatIsNeededAndNoMoreWhenAskedAgain) {
  SmallWorld w;
  Keeper keeper(w.cloud, w.clock, {.max_machines = 4});
  w.cloud.wanted = 3;
  for (int i = 0; i < 5; ++i) keeper.pass();
  EXPECT_EQ(w.cloud.alive(), 3);
  EXPECT_EQ(active(keeper.fleet()), 3);
}

TEST(Steward, AMachineWhoseReplyWasLostIsFoundByItsName) {
  SmallWorld w;
  w.cloud.faults = {.lost_reply = 1};
  w.cloud.wanted = 1;
  Keeper keeper(w.cloud, w.clock, {.max_machines = 1});
  // Half of the lost replies are of requests that never arrived.
  for (int i = 0; i < 100 && w.cloud.alive() == 0; ++i) {
    keeper.pass();
    w.clock.advance(base::seconds(30));
  }
  w.cloud.faults = {};
  keeper.pass();
  EXPECT_EQ(w.cloud.alive(), 1);
  const auto& intents = keeper.fleet().intents;
  EXPECT_EQ(std::ranges::count_if(intents,
                                  [](const auto& i) { return i.second.phase == Phase::running; }),
            1);
}

TEST(Steward, AnEmptyListingEndsNothing) {
  SmallWorld w;
  w.cloud.wanted = 2;
  Keeper keeper(w.cloud, w.clock, {.max_machines = 2});
  keeper.pass();
  w.cloud.faults = {.empty_list = 1};
  for (int i = 0; i < 3; ++i) {
    w.clock.advance(base::minutes(1));
    keeper.pass();
  }
  EXPECT_EQ(w.cloud.machines.size(), 2u) << "machines that ran were started again";
  EXPECT_EQ(active(keeper.fleet()), 2);
}

TEST(Steward, AMachineOfALostJournalIsStopped) {
  SmallWorld w;
  w.cloud.wanted = 1;
  {
    Keeper(w.cloud, w.clock, {.max_machines = 1}).pass();
  }
  ASSERT_EQ(w.cloud.alive(), 1);
  w.cloud.records.clear();
  w.cloud.wanted = 0;
  Keeper(w.cloud, w.clock, {.max_machines = 1}).pass();
  EXPECT_EQ(w.cloud.alive(), 0);
}

TEST(Steward, AMachineThatOutlivesItsEndIsStopped) {
  SmallWorld w;
  w.cloud.wanted = 1;
  Keeper keeper(w.cloud, w.clock, {.max_machines = 1, .lifetime = base::minutes(30)});
  keeper.pass();
  w.cloud.machines.begin()->second.end = base::kNever;
  w.cloud.wanted = 0;
  w.clock.advance(base::minutes(31));
  keeper.pass();
  EXPECT_EQ(w.cloud.alive(), 0);
}

TEST(Steward, TheCeilingOnSpendingCountsWhatRunsUntilItsLatestEnd) {
  SmallWorld w;  // One credit an hour.
  w.cloud.wanted = 8;
  Keeper keeper(w.cloud, w.clock,
                {.max_machines = 8, .max_spend = Credits(2'500'000), .lifetime = base::hours(1)});
  keeper.pass();
  EXPECT_EQ(w.cloud.alive(), 2);
}

TEST(Steward, ThrottledStartsAreSpacedFurtherApart) {
  SmallWorld w;
  w.cloud.wanted = 1;
  w.cloud.faults = {.throttle = 1};
  Keeper keeper(w.cloud, w.clock, {.max_machines = 1});
  for (int i = 0; i < 600; ++i) {
    keeper.pass();
    w.clock.advance(base::seconds(1));
  }
  // After 5, 10, 20, 40, 80, 160 and 320 seconds.
  EXPECT_EQ(keeper.fleet().intents.size(), 7u);
}

}  // namespace
}  // namespace souk::provider
