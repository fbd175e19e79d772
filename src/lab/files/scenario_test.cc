#include "lab/files/scenario.h"

#include <gtest/gtest.h>

#include "lab/testing/scenarios.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using testing::scenario;
using testing::with;

constexpr std::string_view kSmallBook = R"(name: small
world: book
horizon: 10
seeds: 3
mechanisms: [k-double, {name: posted, params: {price: 2}}]
borrowers:
  - count: 4
    values: {uniform: [0, 1]}
    strategy: {name: shading, by: 0.2}
lenders:
  - costs: [1, 2]
    count: 2
)";

constexpr std::string_view kCluster = R"(name: cluster
world: market
horizon: 2d
round: 5m
seeds: [7, 9]
mechanisms: [k-double]
market: {term: 30m, fee: 0.05}
lenders:
  - name: desktops
    count: 3
    units: 4
    costs: 0.1
    windows: ["daily 20:00-08:00"]
    churn: {up: {exponential: 10h}, down: 1h}
    longest_lease: 3d
borrowers:
  - arrivals: {poisson: 2}
    run_time: {lognormal: [30m, 1]}
    values: 0.5
    patience: 3h
shocks:
  - {at: 1d, for: 2h, demand: 2}
  - {at: 1d, dies: desktops}
faults:
  - {at: 3h, share: 0.5}
)";

std::string refusal(std::string_view text) {
  const auto s = parse_scenario(text, "f.yaml", ".");
  return s ? "accepted" : wire::one_line(s.error());
}

TEST(Scenario, ABookReadsAsWritten) {
  const auto s = scenario(kSmallBook);
  EXPECT_EQ(s.world, World::book);
  EXPECT_EQ(s.periods, 10);
  EXPECT_EQ(s.seeds, (std::vector<std::uint64_t>{1, 2, 3}));
  ASSERT_EQ(s.mechanisms.size(), 2u);
  EXPECT_EQ(s.mechanisms[1].label, "posted(price=2)");
  EXPECT_EQ(s.borrowers[0].count, 4);
  EXPECT_EQ(s.borrowers[0].strategy.name, "shading");
  EXPECT_EQ(s.borrowers[0].strategy.params.at("by"), .2);
  EXPECT_EQ(s.highest_price(), 2);
  EXPECT_EQ(s.lowest_price(), 0);
  EXPECT_EQ(s.hash.size(), 64u);
}

TEST(Scenario, AMarketReadsAsWritten) {
  const auto s = scenario(kCluster);
  EXPECT_EQ(s.horizon, base::days(2));
  EXPECT_EQ(s.seeds, (std::vector<std::uint64_t>{7, 9}));
  EXPECT_EQ(s.rules.term, base::minutes(30));
  EXPECT_EQ(s.lenders[0].windows.size(), 1u);
  EXPECT_EQ(s.lenders[0].churn->up.a, 36'000);
  EXPECT_EQ(s.lenders[0].longest_lease, base::days(3));
  EXPECT_EQ(s.borrowers[0].arrivals.per_hour, 2);
  EXPECT_EQ(s.borrowers[0].patience, base::hours(3));
  EXPECT_EQ(s.demand_at(86'400 + 10), 2);
  EXPECT_EQ(s.demand_at(86'400 - 10), 1);
  EXPECT_EQ(s.faults[0].share, .5);
}

TEST(Scenario, MistakesNameTheKeyTheLineAndTheNearest) {
  EXPECT_EQ(refusal(with(kSmallBook, "horizon: 10", "horizon: 10\nhorzion: 3")),
            "f.yaml:4: unknown key 'horzion' (did you mean 'horizon'?)");
  EXPECT_EQ(refusal(with(kSmallBook, "k-double,", "k-duoble,")),
            "f.yaml:5: there is no mechanism 'k-duoble' (did you mean 'k-double'?)");
  EXPECT_EQ(refusal(with(kSmallBook, "uniform", "unifrom")),
            "f.yaml:8: unknown key 'unifrom' (did you mean 'uniform'?)");
  EXPECT_EQ(refusal(with(kSmallBook, "shading", "shadow")).substr(0, 9), "f.yaml:9:");
  EXPECT_EQ(refusal(with(kSmallBook, "by: 0.2", "bye: 0.2")),
            "f.yaml:9: the strategy shading has no parameter 'bye' (did you mean 'by'?)");
}

TEST(Scenario, WhatMakesNoSenseIsRefused) {
  EXPECT_NE(refusal(with(kSmallBook, "horizon: 10", "horizon: 2h")), "accepted");
  EXPECT_NE(refusal(with(kCluster, "horizon: 2d", "horizon: 10")), "accepted");
  EXPECT_NE(refusal(with(kSmallBook, "seeds: 3", "seeds: [1, 1]")), "accepted");
  EXPECT_NE(refusal(with(kSmallBook, "seeds: 3", "seeds: 0")), "accepted");
  EXPECT_NE(refusal(with(kSmallBook, "costs:", "values:")), "accepted");
  EXPECT_NE(refusal(with(kSmallBook, "horizon: 10", "horizon: 10\nround: 1m")), "accepted");
  EXPECT_NE(refusal(with(kCluster, "patience: 3h", "keep: true")), "accepted");
  EXPECT_NE(refusal(with(kCluster, "dies: desktops", "dies: laptops")), "accepted");
  EXPECT_NE(refusal(with(kCluster, "share: 0.5", "share: 2")), "accepted");
  EXPECT_NE(refusal(with(kCluster, "demand: 2", "demand: 2, supply: 0.5")), "accepted");
  EXPECT_NE(refusal(with(kCluster, "{poisson: 2}", "{poisson: 2, every: 1h}")), "accepted");
  EXPECT_NE(refusal(with(kCluster, "arrivals: {poisson: 2}",
                         "trace: {format: gavel, file: x}\n    arrivals: {poisson: 2}")),
            "accepted");
}

TEST(Scenario, MechanismsOfACommandLine) {
  const auto m = parse_mechanism("k-double:kappa=0.25", World::book);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->label, "k-double(kappa=0.25)");
  EXPECT_FALSE(parse_mechanism("k-double:kappa", World::book));
  EXPECT_FALSE(parse_mechanism("k-double:kapa=1", World::book));
}

TEST(Scenario, CanBeRunUnderOtherMechanismsAndSeeds) {
  auto s = *parse_scenario(kSmallBook, "f.yaml", ".");
  ASSERT_TRUE(change(s, {}, std::nullopt));
  EXPECT_EQ(s.mechanisms.size(), 2u);
  EXPECT_EQ(s.seeds.size(), 3u);
  ASSERT_TRUE(change(s, {"mcafee", "k-double:kappa=0.25"}, 5));
  EXPECT_EQ(s.mechanisms[1].label, "k-double(kappa=0.25)");
  EXPECT_EQ(s.seeds, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_FALSE(change(s, {"posted", "posted"}, std::nullopt));
  for (const std::uint64_t seeds : {0UL, kMostSeeds + 1}) EXPECT_FALSE(change(s, {}, seeds));
}

}  // namespace
}  // namespace souk::lab
