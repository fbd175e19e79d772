#include "lab/worlds/trace_world.h"
#include "base/file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/files/trace.h"
#include "lab/testing/shared_data.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using testing::shared_data;

const mechanism::ScheduleEntry& policy(std::string_view name) {
  return **mechanism::find_schedule_policy(name);
}

ClusterResult result_of_cluster(const ClusterStudy& study, std::string_view name) {
  const auto out = run_cluster(study, policy(name));
  EXPECT_TRUE(out) << name << ": " << (out ? "" : wire::one_line(out.error()));
  return out.value_or(ClusterResult{});
}

// One type, one machine, two jobs of 10 and 20 rounds.
ClusterStudy two_jobs() {
  return {.types = {"v100"},
          .machines = {1},
          .jobs = {{.steps = 3'600, .rates = {1}}, {.steps = 7'200, .rates = {1}}}};
}

TEST(TraceWorld, FirstComeFirstServedIsSeenInTheTimes) {
  const auto r = result_of_cluster(two_jobs(), "fifo");
  EXPECT_EQ(r.jobs, 2);
  EXPECT_DOUBLE_EQ(r.makespan, 10'800);
  EXPECT_DOUBLE_EQ(r.jct_mean, (3'600 + 10'800) / 2.);
  EXPECT_DOUBLE_EQ(r.utilisation, 1);
  EXPECT_EQ(r.leases, 2);  // Who stays keeps its lease.
  EXPECT_EQ(r.paid, 0);    // Without prices.
}

TEST(TraceWorld, FairSharesTakeTurns) {
  const auto r = result_of_cluster(two_jobs(), "max-min");
  EXPECT_DOUBLE_EQ(r.makespan, 10'800);
  EXPECT_NEAR(r.jct_mean, (7'200 + 10'800) / 2., 360);
  EXPECT_GT(r.leases, 10);
  // Three machine-hours at one credit each.
  EXPECT_NEAR(r.paid, 3, .01);
}

TEST(TraceWorld, ShortJobsFirstUnderPricesThatRiseWithUse) {
  const auto r = result_of_cluster(two_jobs(), "hadar");
  EXPECT_DOUBLE_EQ(r.makespan, 10'800);
  EXPECT_DOUBLE_EQ(r.jct_mean, (3'600 + 10'800) / 2.);
}

TEST(TraceWorld, AnIdleClusterSkipsToTheNextArrival) {
  auto study = two_jobs();
  study.jobs[1].arrival = 1e6;
  const auto r = result_of_cluster(study, "max-min");
  EXPECT_DOUBLE_EQ(r.makespan, 1e6 + 7'200);
  EXPECT_DOUBLE_EQ(r.jct_mean, (3'600 + 7'200) / 2.);
  EXPECT_LT(r.rounds, 40);
}

TEST(TraceWorld, StepsAreWholeAndTheLastRoundEndsEarly) {
  ClusterStudy study = two_jobs();
  study.jobs = {{.steps = 1'000, .rates = {1.0007}}};  // 360 steps a round, and 280 at last.
  EXPECT_DOUBLE_EQ(result_of_cluster(study, "max-min").makespan, 720 + 280 / 1.0007);
}

// A gang of three on two types with two machines each: only hadar spreads it.
TEST(TraceWorld, AGangMayHoldSeveralTypesAtOnce) {
  const ClusterStudy study{.types = {"fast", "slow"},
                           .machines = {2, 3},
                           .jobs = {{.steps = 7'200, .workers = 3, .rates = {4, 2}},
                                    {.steps = 72'000, .workers = 1, .rates = {4, 2}}}};
  const auto mixed = result_of_cluster(study, "hadar");
  EXPECT_EQ(mixed.jobs, 2);
  EXPECT_GT(mixed.utilisation_by_type[0], 0);
}

ClusterStudy drawn(std::size_t jobs, double hourly, bool single = false) {
  constexpr std::string_view table = R"-({
    "v100":{"('a', 1)":{"null":8},"('b', 1)":{"null":3},"('a', 2)":{"null":15},"('a', 4)":{"null":28},
            "('a', 8)":{"null":50}},
    "k80":{"('a', 1)":{"null":1},"('b', 1)":{"null":2},"('a', 2)":{"null":2},"('a', 4)":{"null":3},
           "('a', 8)":{"null":0}}})-";
  const auto rates = parse_gavel_rates(table, "table").value();
  const auto trace =
      draw_gavel_jobs({.jobs = jobs, .hourly = hourly, .single = single}, rates, "table").value();
  ClusterStudy out{.types = {"v100", "k80"}, .machines = {8, 8}};
  out.jobs = cluster_jobs(trace, rates, out.types, "drawn", 1'000).value();
  out.verify_every = 20;
  return out;
}

TEST(TraceWorld, TheMarketHoldsTogetherUnderEveryPolicy) {
  for (const auto& entry : mechanism::schedule_policies()) {
    if (entry.name == "cost") continue;  // Traces have no costs.
    for (const auto hourly : {0., 2.}) {
      const auto study = drawn(40, hourly);
      const auto r = result_of_cluster(study, entry.name);  // Verifies all invariants on the way.
      EXPECT_EQ(r.jobs, 40) << entry.name;
      EXPECT_LE(r.utilisation, 1 + 1e-12) << entry.name;
      EXPECT_GE(r.jct_p95, r.jct_p50) << entry.name;
      if (entry.name != "price-discovery") {
        EXPECT_LE(r.worst_gap, mechanism::kExact) << entry.name;
      }
    }
  }
}

TEST(TraceWorld, TheSameStudyGivesTheSameResult) {
  for (const auto* name : {"max-min", "ftf", "hadar"}) {
    const auto study = drawn(30, 3);
    EXPECT_EQ(wire::to_json(result_of_cluster(study, name)),
              wire::to_json(result_of_cluster(study, name)));
  }
}

// No schedule ends before the fluid bound, and without gangs, which leave machines over, the
// makespan policy comes near it.
TEST(TraceWorld, TheMakespanPolicyComesNearItsBound) {
  const auto study = drawn(60, 0, true);
  mechanism::ScheduleInstance s{.capacity = {8, 8}};
  for (const auto& job : study.jobs) {
    s.throughputs.insert(s.throughputs.end(), job.rates.begin(), job.rates.end());
    s.scale.push_back(job.workers);
    s.weights.push_back(1);
    s.steps.push_back(job.steps);
  }
  const auto bound = policy("makespan").policy.solve(s)->bound;
  const auto r = result_of_cluster(study, "makespan");
  EXPECT_NEAR(r.first_objective, bound, 1e-6 * bound);
  EXPECT_GE(r.makespan, bound * (1 - 1e-9));
  EXPECT_LE(r.makespan, bound * 1.05);
  EXPECT_LT(r.makespan, result_of_cluster(study, "fifo").makespan);
}

TEST(TraceWorld, WhatCannotRunIsRefused) {
  auto study = two_jobs();
  study.jobs[0].workers = 2;
  EXPECT_EQ(run_cluster(study, policy("fifo")).error().message,
            "a job wants 2 machines of one type");
  study.jobs.clear();
  EXPECT_EQ(run_cluster(study, policy("fifo")).error().message, "the trace has no jobs");
}

TEST(TraceWorld, JobsWithoutARateAreRefusedSkippedOrMadeSmaller) {
  const std::vector<GavelJob> trace{{.kind = "a", .steps = 5, .workers = 4, .line = 7},
                                    {.kind = "a", .steps = 6, .workers = 2, .line = 8}};
  const auto rates = parse_gavel_rates(R"-({"v100":{"('a', 2)":{"null":3}}})-", "table").value();
  const auto jobs = [&](Missing missing) {
    return cluster_jobs(trace, rates, {"v100"}, "t", 10, missing);
  };
  EXPECT_EQ(jobs(Missing::error).error().message, "t:7: there is no throughput for ('a', 4)");
  EXPECT_EQ(jobs(Missing::skip)->size(), 1u);
  EXPECT_EQ(jobs(Missing::fewer)->front().workers, 2);
}

TEST(TraceWorld, GavelsOwnTracesRunToTheirEnd) {
  const auto table = shared_data("gavel/simulation_throughputs.json");
  if (table.empty()) GTEST_SKIP() << "the traces are not on this machine";
  const auto rates = parse_gavel_rates(base::read_file(table, "").value(), table).value();
  for (const auto* name : {"traces_physical/minimize_makespan", "traces_msr_seed0/51b7ef"}) {
    const auto file = shared_data(std::string("gavel/") + name + ".trace");
    ClusterStudy study{.types = {"v100", "p100", "k80"}, .machines = {36, 36, 36}};
    const auto trace = parse_gavel_jobs(base::read_file(file, "").value(), file).value();
    study.jobs = cluster_jobs(trace, rates, study.types, file, 1'000, Missing::fewer).value();
    study.verify_every = 50;
    for (const auto* each : {"max-min", "makespan", "fifo"})
      EXPECT_EQ(result_of_cluster(study, each).jobs, static_cast<std::int64_t>(study.jobs.size()))
          << name;
  }
}

}  // namespace
}  // namespace souk::lab
