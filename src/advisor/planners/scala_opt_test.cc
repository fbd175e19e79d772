#include "advisor/planners/scala_opt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advisor/planners/time_opt.h"
#include "advisor/testing/fc2.h"

namespace souk::advisor {
namespace {

using testing::fc2_catalog;
using ::testing::HasSubstr;
using testing::kCpuTypes;
using testing::kFastTypes;
using testing::kMixedTypes;
using namespace base::literals;

// Traffic that the type which the paper reports asks for, and half of that for all others: the
// paper publishes the sizes that came of it, not the traffic.
ClusterRequest request(std::string server, const std::vector<std::string>& types,
                       const std::string& fastest, double mbps) {
  ClusterRequest out{.server = std::move(server), .types = types, .max_workers = 6};
  for (const auto& type : types) out.bandwidth_mbps[type] = type == fastest ? mbps : mbps / 2;
  return out;
}

struct Row {
  std::string section, server;
  std::vector<std::string> types;
  std::string type;
  double above, up_to;  // Mbps that give these workers.
  std::int32_t workers;
  Credits per_hour;
  Binding binding;
  double saved;  // Percent of what Time-Opt's cluster costs.
};

// planning.md: what FC2's sections 8.1 to 8.4 report, by the intervals of bandwidth behind it.
const Row kReported[] = {
    {"8.1, batch 64", "m4.large", kCpuTypes, "t2.xlarge", 142.5, 213.75, 2, 0.5922_cr,
     Binding::bandwidth, 63.6},
    {"8.1, batch 128", "m4.large", kCpuTypes, "t2.xlarge", 106.875, 142.5, 3, 0.8258_cr,
     Binding::bandwidth, 49.2},
    {"8.2, batch 128", "m4.large", kMixedTypes, "p2.xlarge", 142.5, 213.75, 2, 3.561_cr,
     Binding::bandwidth, 65.9},
    {"8.2, batch 512", "m4.large", kMixedTypes, "p2.xlarge", 106.875, 142.5, 3, 5.279_cr,
     Binding::bandwidth, 49.4},
    {"8.2, batch 1280", "m4.large", kMixedTypes, "p2.xlarge", 71.25, 85.5, 5, 8.715_cr,
     Binding::bandwidth, 16.5},
    {"8.3, batch 128", "m4.2xlarge", kFastTypes, "g3.4xlarge", 950.0 / 3, 475, 2, 3.84_cr,
     Binding::bandwidth, 66.9},
    {"8.3, batch 512", "m4.2xlarge", kFastTypes, "g3.4xlarge", 190, 237.5, 4, 7.18_cr,
     Binding::bandwidth, 38.0},
    {"8.4", "m4.10xlarge", kFastTypes, "g3.4xlarge", 200, 1'357, 6, 12.52_cr, Binding::max_workers,
     7.9},
};

TEST(ScalaOpt, RecommendsTheClustersOfThePaper) {
  for (const auto& row : kReported) {
    for (const auto mbps : {row.above * 1.0001, (row.above + row.up_to) / 2, row.up_to}) {
      SCOPED_TRACE(row.section + " at " + std::to_string(mbps));
      const auto out = scala_opt(fc2_catalog(), request(row.server, row.types, row.type, mbps));
      ASSERT_TRUE(out) << out.error().message;
      EXPECT_EQ(out->server.name, row.server);
      EXPECT_EQ(out->size.type.name, row.type);
      EXPECT_EQ(out->size.workers(), row.workers);
      EXPECT_EQ(out->per_hour(), row.per_hour);
      EXPECT_EQ(out->size.binding(), row.binding);
    }
  }
}

TEST(ScalaOpt, SavesWhatThePaperSaves) {
  for (const auto& row : kReported) {
    const auto r = request(row.server, row.types, row.type, row.up_to);
    const auto out = scala_opt(fc2_catalog(), r), dear = time_opt(fc2_catalog(), r);
    ASSERT_TRUE(out && dear);
    const auto part =
        static_cast<double>(out->per_hour().micro) / static_cast<double>(dear->per_hour().micro);
    EXPECT_NEAR(100 * (1 - part), row.saved, 0.051) << row.section;
  }
}

TEST(ScalaOpt, IntervalsOfBandwidthEndWhereOneMoreWorkerFits) {
  for (const auto& row : kReported) {
    if (row.binding != Binding::bandwidth) continue;
    const auto out = scala_opt(fc2_catalog(), request(row.server, row.types, row.type, row.above));
    ASSERT_TRUE(out) << row.section;
    EXPECT_EQ(out->size.workers(), row.workers + 1) << row.section;
  }
}

TEST(ScalaOpt, ABudgetThatBindsDoesNotBuyTheDearestType) {
  auto r = request("m4.large", kCpuTypes, "t2.xlarge", 100);
  r.budget = 0.8_cr;  // Two of each type: "the smallest size" would not decide.
  const auto out = scala_opt(fc2_catalog(), r);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->size.type.name, "t2.xlarge");
  EXPECT_EQ(out->size.workers(), 2);
  EXPECT_EQ(out->size.binding(), Binding::budget);
  EXPECT_LE(out->per_hour(), 0.8_cr);
}

TEST(ScalaOpt, ABudgetThatIsExactlyEnoughIsEnough) {
  auto r = request("m4.large", kCpuTypes, "t2.xlarge", 100);
  r.budget = 0.5922_cr;
  EXPECT_EQ(scala_opt(fc2_catalog(), r)->size.workers(), 2);
  r.budget = 0.592199_cr;
  EXPECT_EQ(scala_opt(fc2_catalog(), r)->size.workers(), 1);
}

TEST(ScalaOpt, WithoutAServerTheOneWithTheLargestBandwidthIsTaken) {
  const auto out = scala_opt(fc2_catalog(), request("", kFastTypes, "g3.4xlarge", 400));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->server.name, "m4.10xlarge");
}

TEST(ScalaOpt, ASmallBudgetIsToldTheLeastThatWorks) {
  auto r = request("m4.large", kCpuTypes, "t2.xlarge", 100);
  r.budget = 0.3_cr;
  const auto out = scala_opt(fc2_catalog(), r);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message, "a budget of 0.3 an hour buys no c4.xlarge beside m4.large");
  EXPECT_EQ(out.error().hint, "the least that works is 0.356 (0.125 + 0.231)");
  r.budget = 0.356_cr;
  EXPECT_EQ(scala_opt(fc2_catalog(), r)->size.type.name, "c4.xlarge");
  r.budget = 0.01_cr;  // Less than the server alone.
  EXPECT_FALSE(scala_opt(fc2_catalog(), r));
}

TEST(ScalaOpt, TrafficThatFillsTheNetworkAsksForALargerServer) {
  ClusterRequest r{.server = "m4.large", .bandwidth_mbps = {{"p2.xlarge", 500}}};
  const auto out = scala_opt(fc2_catalog(), r);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message,
            "one p2.xlarge asks for 500 Mbps, more than 427.5 (0.95 of m4.large's 450)");
  EXPECT_EQ(out.error().hint, "m4.2xlarge would carry it");
  r.bandwidth_mbps["p2.xlarge"] = 20'000;
  EXPECT_EQ(scala_opt(fc2_catalog(), r).error().hint, "no server of the catalog carries it");
}

TEST(ScalaOpt, MistakesAreNamed) {
  const auto error = [](const ClusterRequest& r) {
    const auto out = scala_opt(fc2_catalog(), r);
    return out ? "none" : out.error().message + " / " + out.error().hint;
  };
  EXPECT_EQ(error({.server = "m4.larg", .bandwidth_mbps = {{"t2.xlarge", 100}}}),
            "the catalog has no parameter server 'm4.larg' / did you mean 'm4.large'?");
  EXPECT_EQ(error({.bandwidth_mbps = {{"t2.xlarg", 100}}}),
            "the catalog has no worker type 't2.xlarg' / did you mean 't2.xlarge'?");
  EXPECT_THAT(error({}), HasSubstr("nobody measured the bandwidth of any worker type"));
  EXPECT_THAT(error({.types = {"c4.xlarge"}, .bandwidth_mbps = {{"t2.xlarge", 100}}}),
              HasSubstr("nobody measured the bandwidth of c4.xlarge"));
  EXPECT_THAT(error({.bandwidth_mbps = {{"t2.xlarge", 0}}}), HasSubstr("is 0 Mbps"));
  EXPECT_THAT(error({.bandwidth_mbps = {{"t2.xlarge", 9}}, .share = 1.5}), HasSubstr("p is 1.5"));
  EXPECT_THAT(error({.bandwidth_mbps = {{"t2.xlarge", 9}}, .max_workers = 0}),
              HasSubstr("at most 0 workers"));
}

}  // namespace
}  // namespace souk::advisor
