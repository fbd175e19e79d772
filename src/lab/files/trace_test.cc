#include "lab/files/trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "lab/testing/shared_data.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using testing::shared_data;

constexpr std::string_view kPhilly =
    "timestamp,duration,num_gpus,gpu_time,cluster\n"
    "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
    "2017-10-09 06:13:03,2951.0,4,2951.0,6214e9\n"
    "2017-10-09 06:14:03,0.0,1,0.0,6214e9\n";

TEST(Trace, PhillyIsPutInOrder) {
  const auto jobs = parse_philly(kPhilly, "philly.csv", {});
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(*jobs, (std::vector<TraceJob>{{0, 2951, 4}, {2932, 66, 1}}));
  EXPECT_EQ(parse_philly(kPhilly, "philly.csv", {.most = 1})->size(), 1u);
  EXPECT_EQ(*parse_philly(kPhilly, "philly.csv", {.from = 60}),
            (std::vector<TraceJob>{{0, 66, 1}}));
}

TEST(Trace, DamageIsNamedByItsLine) {
  EXPECT_EQ(parse_philly("a,b\n", "p.csv", {}).error().message,
            "p.csv:1: this is not a philly trace");
  const auto bad = std::string(kPhilly) + "yesterday,1,1\n";
  EXPECT_TRUE(parse_philly(bad, "p.csv", {}).error().message.starts_with("p.csv:5:"));
  EXPECT_TRUE(parse_gavel("a\tb\n", "g", "", {}).error().message.starts_with("g:1:"));
}

constexpr std::string_view kGavel =
    "LM (batch size 5)\tpython3 x\tlanguage\t--steps\t1\t1000\t2\t1\t-1.000000\t30\n"
    "LM (batch size 5)\tpython3 x\t--steps\t1\t500\t10.0\t1\n";  // Both forms.

TEST(Trace, GavelsStepsBecomeTime) {
  const auto even = parse_gavel(kGavel, "g", "", {.steps_per_second = 10});
  ASSERT_TRUE(even) << even.error().message;
  EXPECT_EQ(*even, (std::vector<TraceJob>{{0, 50, 1}, {20, 100, 2}}));
  const std::string table = R"-({"v100":{"('LM (batch size 5)', 1)":{"null":5.0},
      "('LM (batch size 5)', 2)":{"null":20.0}}})-";
  const auto rates = parse_gavel(kGavel, "g", table, {});
  ASSERT_TRUE(rates) << rates.error().message;
  EXPECT_EQ(*rates, (std::vector<TraceJob>{{0, 100, 1}, {20, 50, 2}}));
}

TEST(Trace, AMissingRateIsAnError) {
  const auto missing = parse_gavel(kGavel, "g", R"({"v100":{}})", {.throughputs = "t.json"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "g:1: t.json has no rate for ('LM (batch size 5)', 2)");
  const auto unknown = parse_gavel(kGavel, "g", R"({"v100":{}})", {.worker = "v10"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().hint, "did you mean 'v100'?");
}

std::string text_of(const std::string& path) {
  std::stringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

TEST(Trace, TheRealGavelTraceIsRead) {
  const auto trace = shared_data("gavel/traces_physical/minimize_makespan.trace");
  const auto rates = shared_data("gavel/simulation_throughputs.json");
  if (trace.empty() || rates.empty()) GTEST_SKIP() << "the traces are not on this machine";
  const auto jobs = parse_gavel(text_of(trace), trace, text_of(rates), {.throughputs = rates});
  ASSERT_TRUE(jobs) << wire::one_line(jobs.error());
  EXPECT_EQ(jobs->size(), 100u);
}

TEST(Trace, TheRealPhillyTraceIsRead) {
  const auto trace = shared_data("pollux/philly.csv");
  if (trace.empty()) GTEST_SKIP() << "the traces are not on this machine";
  const auto jobs = parse_philly(text_of(trace), trace, {});
  ASSERT_TRUE(jobs) << wire::one_line(jobs.error());
  EXPECT_GT(jobs->size(), 80'000u);
}

}  // namespace
}  // namespace souk::lab
