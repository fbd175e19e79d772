#include "lab/files/plan_files.h"
#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advisor/planners/exact.h"
#include "advisor/planners/scala_opt.h"
#include "advisor/planners/spotdnn.h"
#include "lab/files/trace.h"
#include "lab/testing/shared_data.h"

namespace souk::lab {
namespace {

using ::testing::HasSubstr;
using testing::shared_data;
using namespace base::literals;

constexpr std::string_view kCatalog =
    R"({"source":"a paper","ps":{"big":{"cost":0.5,"ecu":6.5,"mem":8,"net":"High","bw_mbps":1000}},
        "workers":{"w":{"cost":0.2336,"ecu":null,"gpu":0,"mem":16}},"p":0.95,"max_workers":6})";

TEST(PlanFiles, ACatalogIsRead) {
  const auto out = parse_catalog(kCatalog, "c.json");
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(out->catalog.servers.size(), 1u);
  EXPECT_EQ(out->catalog.servers[0].bandwidth_mbps, 1'000);
  ASSERT_EQ(out->catalog.workers.size(), 1u);
  EXPECT_EQ(out->catalog.workers[0].price, 0.2336_cr);
  EXPECT_EQ(out->share, 0.95);
  EXPECT_EQ(out->max_workers, 6);
}

TEST(PlanFiles, MistakesInACatalogAreNamed) {
  const auto message = [](std::string_view json) {
    const auto out = parse_catalog(json, "c.json");
    return out ? "none" : out.error().message + " / " + out.error().hint;
  };
  EXPECT_THAT(message(R"({"ps":{"a":{"cost":1,"bw_mbs":1}},"workers":{}})"), HasSubstr("bw_mbps"));
  EXPECT_THAT(message(R"({"ps":{"a":{"cost":1,"bw_mbps":0}},"workers":{}})"),
              HasSubstr("c.json: ps a costs 1 and has 0 Mbps"));
  EXPECT_THAT(message(R"({"workers":{"w":{"cost":-1}}})"), HasSubstr("worker w costs -1"));
  EXPECT_THAT(message("{"), HasSubstr("c.json: "));
}

constexpr std::string_view kPrices =
    R"({"provider":"ec2","date":"2020-03-23","types":[{"name":"w","on_demand":3,"spot":1},
        {"name":"big","on_demand":0.5,"bw_mbps":1000}]})";

TEST(PlanFiles, TheCatalogOfAProviderIsBoughtOneWay) {
  const auto out = parse_catalog(kPrices, "c.json");
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(out->catalog.servers.size(), 1u);
  ASSERT_EQ(out->catalog.workers.size(), 2u);
  EXPECT_EQ(out->catalog.workers[0].price, 3_cr);
  ASSERT_TRUE(out->prices);
  EXPECT_EQ(date_of(*out->prices), "2020-03-23");
  EXPECT_EQ(parse_catalog(kPrices, "c.json", advisor::Buy::spot)->catalog.workers[0].price, 1_cr);
  const auto both = parse_catalog(kPrices, "c.json", advisor::Buy::both);
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("bought one way"));
  const auto plain = parse_catalog(kCatalog, "c.json", advisor::Buy::spot);
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message, HasSubstr("c.json has one price for each type"));
}

TEST(PlanFiles, BandwidthIsAMapOfNumbers) {
  EXPECT_EQ(parse_bandwidth(R"({"a":1.5})")->at("a"), 1.5);
  EXPECT_FALSE(parse_bandwidth(R"({"a":"fast"})"));
}

constexpr std::string_view kProfile = R"({
  "types": [{"name":"c4","quota":8,"price":0.4,"batch":64,"step_s":0.8,"gpus":2,
             "revocations_per_hour":0.1,"residuals":[0.02,-0.01]},
            {"name":"c1","quota":2,"price":0.1,"step_s":2}],
  "model_mb": 10, "request_mb_s": 100, "pcie_mb_s": 1000,
  "hub": {"bandwidth_mb_s": 1200, "alpha1": 0.8, "beta1": -1.92, "folds_per_s": 900, "price": 0.1},
  "loss": {"gamma1": 876.5, "gamma2": -0.2, "gamma3": 2507.6, "gamma4": 0.3, "gamma5": 0.5},
  "recovery": {"interval_s": 60, "restart_s": 30}})";

TEST(PlanFiles, AProfileOfOurOwnIsRead) {
  const auto out = parse_profile(kProfile, "p.json");
  ASSERT_TRUE(out) << out.error().message << out.error().hint;
  const auto& p = out->problem;
  ASSERT_EQ(p.types.size(), 2u);
  EXPECT_DOUBLE_EQ(p.types[0].compute_s, 0.8 - 0.2 - 0.04);
  EXPECT_DOUBLE_EQ(p.types[1].compute_s, 1.8);  // No GPU, no PCIe.
  EXPECT_EQ(p.types[1].batch, 1);
  EXPECT_EQ(p.types[0].residuals, (std::vector{.02, -.01}));
  EXPECT_EQ(p.hub.folds_per_s, 900);
  EXPECT_EQ(p.hub.price, 0.1_cr);
  EXPECT_EQ(p.recovery, (advisor::Recovery{60, 0, 30}));
  EXPECT_EQ(out->curve->g4, 0.3);
}

TEST(PlanFiles, TypesAloneAreAProfile) {
  const auto out =
      parse_profile(R"({"types":[{"name":"a","quota":1,"price":1,"step_s":0.5}]})", "p.json");
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_FALSE(out->curve);
  EXPECT_DOUBLE_EQ(out->problem.types[0].compute_s, 0.5);
}

TEST(PlanFiles, AProfileNeedsNoPricesWhereTheyComeFromElsewhere) {
  constexpr std::string_view json = R"({"types":[{"name":"a","quota":1,"step_s":0.5}],"fit":[{}]})";
  const auto out = parse_profile(json, "p.json", Prices::elsewhere);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->problem.types[0].quota, 1);
  const auto inside = parse_profile(json, "p.json");
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().message, "p.json: missing key 'types[0].price'");
  EXPECT_THAT(inside.error().hint, HasSubstr("--prices"));
}

TEST(PlanFiles, MistakesInAProfileAreNamed) {
  const auto message = [](std::string_view json) {
    const auto out = parse_profile(json, "p.json");
    return out ? "none" : out.error().message + " / " + out.error().hint;
  };
  EXPECT_THAT(message(R"({"types":[{"name":"a","quotas":1,"price":1,"step_s":0.5}]})"),
              HasSubstr("did you mean 'quota'?"));
  EXPECT_THAT(message(R"({"types":[{"name":"a","quota":1,"price":1}]})"),
              HasSubstr("types[0].step_s"));
  EXPECT_THAT(message(R"({"types":[{"name":"a","quota":1,"price":1,"step_s":0.1}],
                          "model_mb":10,"request_mb_s":100})"),
              HasSubstr("a step of a takes 0.1 s, and its exchange alone 0.2 s"));
  EXPECT_THAT(message(R"({"types":["a"],"gpus":[1,2],"speed_samples_per_s":[1],"S_parm_MB":1,
      "B_req_MBps":1,"B_ps_MBps":1,"B_pcie_MBps":1,"alpha1":1,"beta1":1,"gamma1":1,"gamma2":1,
      "gamma3":1,"gamma5":1})"),
              HasSubstr("gpus has 2 entries for 1 types"));
}

TEST(PlanFiles, TheTablesOfFc2GiveItsClusters) {
  const auto path = shared_data("fc2/fc2_tables.json");
  if (path.empty()) GTEST_SKIP() << "the tables are not on this machine";
  const auto file = parse_catalog(*base::read_file(path, ""), path);
  ASSERT_TRUE(file) << file.error().message;
  const auto out = advisor::scala_opt(
      file->catalog,
      {.server = "m4.large",
       .bandwidth_mbps = {{"t2.xlarge", 180}, {"m4.xlarge", 150}, {"c4.xlarge", 160}},
       .max_workers = file->max_workers,
       .share = *file->share});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->size.type.name, "t2.xlarge");
  EXPECT_EQ(out->per_hour(), 0.5922_cr);
}

TEST(PlanFiles, TheTablesOfSpotDnnGiveTheKnownPlans) {
  const auto path = shared_data("spotdnn/spotdnn_tables.json");
  if (path.empty()) GTEST_SKIP() << "the tables are not on this machine";
  const auto file = parse_profile(*base::read_file(path, ""), path);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->curve);
  EXPECT_FALSE(file->curve->g4);  // The published code has no such term.
  struct Row {
    double loss, deadline_s;
    advisor::Mix mix;
    double time_s, cost, iterations;
  };
  // "our_recheck" of the same file.
  for (const auto& row : {Row{0.9, 1'900, {2, 0, 2, 0, 0}, 1'884.21, 1.6769, 10'637},
                          Row{0.8, 2'400, {2, 0, 4, 0, 0}, 2'351.08, 2.9859, 17'926},
                          Row{0.7, 3'700, {2, 0, 4, 0, 0}, 3'584.07, 4.5518, 27'327}}) {
    auto problem = file->problem;
    problem.work = advisor::TargetLoss{row.loss, *file->curve};
    const auto f = advisor::Forecaster::make(problem);
    ASSERT_TRUE(f) << f.error().message;
    EXPECT_EQ(*advisor::spotdnn(*f, row.deadline_s), row.mix);
    EXPECT_EQ(advisor::cheapest_plan(*f, row.deadline_s)->mix, row.mix);
    const auto e = f->estimate(row.mix);
    EXPECT_NEAR(e.time_s, row.time_s, 0.01);
    EXPECT_NEAR(e.cost, row.cost, 0.0001);
    EXPECT_EQ(e.iterations, row.iterations);
  }
}

}  // namespace
}  // namespace souk::lab
