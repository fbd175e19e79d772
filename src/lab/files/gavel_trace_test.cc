#include "lab/files/gavel_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace souk::lab {
namespace {

constexpr std::string_view kBoth =
    "LM (batch size 5)\tpython3 x\tlanguage\t--steps\t1\t1000\t2\t3\t1.5\t30\n"
    "LM (batch size 5)\tpython3 x\t--steps\t1\t500\t10.0\t1\n";

TEST(GavelTrace, BothFormsAreRead) {
  const auto jobs = parse_gavel_jobs(kBoth, "g");
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 2u);
  const auto& a = jobs->at(0);
  EXPECT_EQ(a.key(), "('LM (batch size 5)', 2)");
  EXPECT_EQ(std::tuple(a.steps, a.arrival, a.weight, a.slo), std::tuple(1000, 30, 3, 1.5));
  const auto& b = jobs->at(1);
  EXPECT_EQ(std::tuple(b.steps, b.arrival, b.workers, b.weight, b.slo, b.line),
            std::tuple(500, 10, 1, 1, -1, 2u));
}

TEST(GavelTrace, WhatIsWrittenIsReadBack) {
  const auto jobs = parse_gavel_jobs(kBoth, "g").value();
  const auto again = parse_gavel_jobs(gavel_trace_text(jobs), "again").value();
  ASSERT_EQ(again.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(std::tuple(again[i].key(), again[i].steps, again[i].arrival, again[i].weight),
              std::tuple(jobs[i].key(), jobs[i].steps, jobs[i].arrival, jobs[i].weight));
}

constexpr std::string_view kRatesFile = R"-({"v100":{"('LM', 1)":{"null":5.0,"('A3C', 1)":[1,2]},
    "('LM', 2)":{"null":8.0},"('LM', 4)":{"null":9.0},"('LM', 8)":{"null":10.0}},"k80":{}})-";

TEST(GavelTrace, RatesAreThoseOfJobsAlone) {
  const auto rates = parse_gavel_rates(kRatesFile, "t.json").value();
  EXPECT_EQ(rates.at("v100").at("('LM', 1)"), 5);
  EXPECT_TRUE(rates.at("k80").empty());
  EXPECT_EQ(rates_of(rates, "v10", "t.json").error().hint, "did you mean 'v100'?");
  EXPECT_EQ(parse_gavel_rates("[1]", "t.json").error().message,
            "t.json is not a table of throughputs");
}

TEST(GavelTrace, DrawnJobsHaveTheLengthsAndSizesOfGavels) {
  const auto rates = parse_gavel_rates(kRatesFile, "t.json").value();
  const auto jobs = draw_gavel_jobs({.jobs = 4'000}, rates, "t.json").value();
  std::map<int, int> sizes;
  int long_ones = 0;
  for (const auto& job : jobs) {
    ++sizes[job.workers];
    const auto minutes = job.steps / rates.at("v100").at(job.key()) / 60;
    EXPECT_GE(minutes, std::pow(10, 1.5) * .99);
    EXPECT_LE(minutes, 1e4);
    long_ones += minutes > 1'000;
    EXPECT_EQ(job.arrival, 0);
  }
  EXPECT_NEAR(sizes[1] / 4'000., .70, .03);
  EXPECT_NEAR(sizes[4] / 4'000., .15, .03);
  EXPECT_NEAR(long_ones / 4'000., .20, .03);
}

TEST(GavelTrace, TheSameSeedDrawsTheSame) {
  const auto rates = parse_gavel_rates(kRatesFile, "t.json").value();
  const GavelDraw draw{.jobs = 50, .seed = 3, .hourly = 2, .single = true};
  const auto a = draw_gavel_jobs(draw, rates, "t.json").value();
  EXPECT_EQ(gavel_trace_text(a), gavel_trace_text(draw_gavel_jobs(draw, rates, "t.json").value()));
  EXPECT_TRUE(std::ranges::is_sorted(a, {}, &GavelJob::arrival));
  EXPECT_NEAR(a.back().arrival / 3600, 25, 12);
  EXPECT_TRUE(std::ranges::all_of(a, [](const auto& j) { return j.workers == 1; }));
}

}  // namespace
}  // namespace souk::lab
