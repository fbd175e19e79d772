#include "lab/worlds/market_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "lab/testing/scenarios.h"
#include "lab/worlds/population.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using testing::scenario;
using testing::with;

constexpr std::string_view kTwentyUsers = R"(name: m
world: market
horizon: 2d
mechanisms: [k-double, {name: posted, params: {price: 0.3}}]
market: {settle_every: 5m, fee: 0.1}
lenders:
  - name: desktops
    count: 20
    units: {uniform: [1, 4]}
    costs: {uniform: [0.1, 0.4]}
borrowers:
  - name: users
    count: 20
    arrivals: {poisson: 0.5}
    units: {uniform: [1, 3]}
    run_time: {exponential: 30m}
    values: {uniform: [0.2, 1]}
    checkpoint: 10m
    credits: 1000
)";

Record record_of_market(const Scenario& s, std::size_t mechanism = 0, std::uint64_t seed = 1) {
  auto r = run_market(s, {}, s.mechanisms[mechanism], seed);
  EXPECT_TRUE(r) << (r ? "" : wire::one_line(r.error()));
  return r ? *std::move(r) : Record{};
}

void check_sums(const Record& r) {
  EXPECT_NEAR(r.buyers_gain + r.sellers_gain + r.platform, r.gain, 1e-6);
  EXPECT_LE(r.gain, r.most_gain);
  EXPECT_LE(r.used, r.offered + 1e-6);
  EXPECT_LE(r.jobs_done, r.jobs);
}

TEST(MarketWorld, AnEasyMarketServesNearlyEverybody) {
  for (const std::size_t mechanism : {0u, 1u}) {
    const auto r = record_of_market(scenario(kTwentyUsers), mechanism);
    check_sums(r);
    const auto m = measure(r);
    EXPECT_GT(*m.completed, mechanism == 0 ? .9 : .5);
    EXPECT_GT(*m.efficiency, .3);
    EXPECT_GT(*m.platform_drift, 0);  // Its fee.
    EXPECT_LT(*m.wait_p50, 120);
    EXPECT_GT(r.events, 10'000u);
  }
}

TEST(MarketWorld, CreditsAreNeitherMadeNorLost) {
  const auto r = record_of_market(scenario(kTwentyUsers));
  const auto sum = std::accumulate(r.credits.begin(), r.credits.end(), 0.0) + r.platform;
  EXPECT_NEAR(sum, 20 * 1000 + 20 * 10'000, 1e-4);
}

TEST(MarketWorld, TheSameSeedIsTheSameHistory) {
  const auto s = scenario(kTwentyUsers);
  const auto a = record_of_market(s), b = record_of_market(s);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.gain, b.gain);
  EXPECT_EQ(a.trades.size(), b.trades.size());
  EXPECT_NE(a.gain, record_of_market(s, 0, 2).gain);
  EXPECT_EQ(a.most_gain, record_of_market(s, 1).most_gain);  // Another mechanism, the same people.
}

TEST(MarketWorld, MachinesThatComeAndGoCostWorkAndNotMoney) {
  const auto steady = record_of_market(scenario(kTwentyUsers));
  const auto shaky =
      record_of_market(scenario(with(kTwentyUsers, "costs: {uniform: [0.1, 0.4]}",
                                     "costs: {uniform: [0.1, 0.4]}\n    churn: {up: {exponential: "
                                     "2h}, down: {exponential: 30m}}")));
  check_sums(shaky);
  EXPECT_LT(*measure(shaky).completed, *measure(steady).completed + 1e-9);
  EXPECT_GT(*measure(shaky).completed, .5);
}

TEST(MarketWorld, NoticeSavesWork) {
  const auto churn = [&](const char* notice) {
    return record_of_market(scenario(with(
        kTwentyUsers, "costs: {uniform: [0.1, 0.4]}",
        fmt::format("costs: {{uniform: [0.1, 0.4]}}\n    churn: {{up: {{exponential: 2h}}, down: "
                    "{{exponential: 30m}}, notice: {}}}",
                    notice))));
  };
  const auto warned = churn("true"), silent = churn("false");
  check_sums(warned);
  EXPECT_GT(warned.gain, silent.gain);
}

TEST(MarketWorld, GangsRunWholeOrNotAtAll) {
  const auto r = record_of_market(
      scenario(with(kTwentyUsers, "units: {uniform: [1, 3]}", "units: 6\n    gang: true")));
  check_sums(r);
  EXPECT_GT(r.jobs_done, 0);
}

TEST(MarketWorld, WhoCannotAffordAJobDoesNotGetIt) {
  const auto r = record_of_market(scenario(with(kTwentyUsers, "credits: 1000", "credits: 1")));
  check_sums(r);
  EXPECT_LT(*measure(r).completed, .7);
  for (const auto c : r.credits) EXPECT_GE(c, 0);
}

TEST(MarketWorld, ADeadMarketMakesPeopleLeave) {
  const auto text = with(kTwentyUsers, "credits: 1000", "leaves: true") +
                    "shocks:\n  - {at: 1h, dies: desktops}\n";
  const auto r = record_of_market(scenario(text));
  check_sums(r);
  const auto m = measure(r);
  EXPECT_GT(*m.defection, .5);
  EXPECT_LT(*m.completed, .2);
}

TEST(MarketWorld, PatienceEndsAWait) {
  const auto r = record_of_market(scenario(with(kTwentyUsers, "credits: 1000", "patience: 1h") +
                                           "faults:\n  - {at: 0s, share: 1}\n"));
  EXPECT_EQ(r.jobs_done, 0);
  // Nobody waited longer than that, nor shorter unless the run ended.
  for (const auto w : r.waits) EXPECT_LE(w, 3601);
}

TEST(MarketWorld, EveryStrategyPlays) {
  for (const auto& entry : strategies()) {
    auto s = scenario(with(with(kTwentyUsers, "credits: 1000", "revise: 30m"),
                           "units: {uniform: [1, 4]}", "units: {uniform: [1, 4]}\n    revise: 1h"));
    s.borrowers[0].strategy = *check_strategy({std::string(entry.name), {}});
    s.lenders[0].strategy = s.borrowers[0].strategy;
    const auto r = record_of_market(s);
    check_sums(r);
    EXPECT_GT(r.trades.size(), 50u) << entry.name;
  }
}

TEST(MarketWorld, WindowsAreKept) {
  const auto r = record_of_market(
      scenario(with(kTwentyUsers, "costs: {uniform: [0.1, 0.4]}",
                    "costs: {uniform: [0.1, 0.4]}\n    windows: [\"daily 00:00-06:00\"]")));
  check_sums(r);
  ASSERT_FALSE(r.trades.empty());
  for (const auto& t : r.trades) EXPECT_LT(std::fmod(t.time, 86'400), 6 * 3600);
}

TEST(MarketWorld, AnUnknownClassIsAnError) {
  const auto s = scenario(with(kTwentyUsers, "credits: 1000", "class: c3"));
  const auto r = run_market(s, {}, s.mechanisms[0], 1);
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("c3"), std::string::npos);
}

}  // namespace
}  // namespace souk::lab
