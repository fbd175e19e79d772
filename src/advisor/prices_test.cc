#include "advisor/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advisor/planners/recommend.h"

namespace souk::advisor {
namespace {

using namespace base::literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PriceCatalog catalog() {
  return {.provider = "ec2",
          .region = "us-east-1",
          .date = *base::parse_time("2020-03-23T00:00:00Z"),
          .types = {{.name = "p3.2xlarge",
                     .on_demand = 3.06_cr,
                     .spot = 0.95_cr,
                     .revocations_per_hour = 0.05,
                     .quota = 20},
                    {.name = "g4dn.xlarge", .on_demand = 0.526_cr},
                    {.name = "m4.large", .on_demand = 0.1_cr, .bandwidth_mbps = 450}}};
}

MachineType measured(std::string name, std::int32_t quota = 4) {
  return {.name = std::move(name), .quota = quota, .price = 9_cr, .batch = 64, .compute_s = 0.5};
}

std::vector<std::string> names(const Priced& p) {
  std::vector<std::string> out;
  for (const auto& type : p.types) out.push_back(type.name);
  return out;
}

TEST(Prices, PriceAndQuotaAreTheCatalogsAndTheSpeedIsTheMeasuredOne) {
  const auto out = priced(std::vector{measured("p3.2xlarge")}, catalog(), Buy::spot);
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(names(*out), std::vector<std::string>{"p3.2xlarge"});
  EXPECT_EQ(out->types[0].price, 0.95_cr);
  EXPECT_EQ(out->types[0].quota, 20);
  EXPECT_EQ(out->types[0].revocations_per_hour, 0.05);
  EXPECT_EQ(out->types[0].compute_s, 0.5);
  EXPECT_TRUE(out->remarks.empty());
}

TEST(Prices, BoughtBothWaysATypeIsTwo) {
  const auto out =
      priced(std::vector{measured("p3.2xlarge"), measured("g4dn.xlarge")}, catalog(), Buy::both);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_THAT(names(*out), ElementsAre("p3.2xlarge (spot)", "p3.2xlarge (on demand)",
                                       "g4dn.xlarge (on demand)"));
  EXPECT_EQ(out->types[1].price, 3.06_cr);
  EXPECT_EQ(out->types[1].revocations_per_hour, 0);
  EXPECT_EQ(out->types[2].quota, 4);  // The profile's: the catalog has none.
}

TEST(Prices, OnDemandMachinesAreNeverTakenBack) {
  auto type = measured("p3.2xlarge");
  type.revocations_per_hour = 2;
  EXPECT_EQ(priced(std::vector{type}, catalog(), Buy::on_demand)->types[0].revocations_per_hour, 0);
}

TEST(Prices, SpotMachinesOfUnknownLifeAreRemarked) {
  auto c = catalog();
  c.types[0].revocations_per_hour.reset();
  auto type = measured("p3.2xlarge");
  auto out = priced(std::vector{type}, c, Buy::spot);
  EXPECT_EQ(out->types[0].revocations_per_hour, 0);
  EXPECT_THAT(out->remarks, ElementsAre(HasSubstr("how often a spot p3.2xlarge is taken back")));
  type.revocations_per_hour = 0.3;  // Measured: no remark.
  out = priced(std::vector{type}, c, Buy::spot);
  EXPECT_EQ(out->types[0].revocations_per_hour, 0.3);
  EXPECT_TRUE(out->remarks.empty());
}

TEST(Prices, WhatCannotBeBoughtIsLeftOutAndSaid) {
  const auto out = priced(std::vector{measured("p3.2xlarge"), measured("k80"),
                                      measured("g4dn.xlarge"), measured("m4.large", 0)},
                          catalog(), Buy::spot);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_THAT(names(*out), ElementsAre("p3.2xlarge"));
  EXPECT_THAT(out->remarks,
              ElementsAre("k80 is left out: ec2 us-east-1 has no such type",
                          "g4dn.xlarge is left out: ec2 us-east-1 has no spot price of it",
                          "m4.large is left out: its quota is 0, or nobody told one"));
}

TEST(Prices, NothingInCommonNamesBothSides) {
  const auto out = priced(std::vector{measured("k80"), measured("a100")}, catalog(), Buy::both);
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, HasSubstr("measured are k80, a100; ec2 us-east-1 sells "
                                             "p3.2xlarge, g4dn.xlarge, m4.large"));
  EXPECT_THAT(out.error().hint, HasSubstr("k80 is left out"));
}

// What both ways are for: spot machines that leave all the time miss a deadline that machines which
// stay would meet, and the other way round cost more.
TEST(Prices, ATightDeadlineMixesBothWays) {
  auto c = catalog();
  c.types[0].revocations_per_hour = 4;
  c.types[0].quota = 4;
  const auto types = priced(std::vector{measured("p3.2xlarge")}, c, Buy::both);
  ASSERT_TRUE(types) << types.error().message;
  const Request loose{.problem = {.types = types->types,
                                  .work = Iterations{28'800},
                                  .recovery = {.interval_s = 600, .restart_s = 300}},
                      .deadline_s = 8 * 3'600.0};
  const auto cheap = recommend(loose);
  ASSERT_TRUE(cheap) << cheap.error().message;
  const auto& slow = cheap->candidates[cheap->chosen].mix;
  EXPECT_GT(slow[0], 0);
  EXPECT_EQ(slow[1], 0);
  auto tight = loose;
  tight.deadline_s = 3'600;
  const auto dear = recommend(tight);
  ASSERT_TRUE(dear) << dear.error().message;
  EXPECT_GT(dear->candidates[dear->chosen].mix[0], 0);
  EXPECT_GT(dear->candidates[dear->chosen].mix[1], 0);
}

TEST(Prices, AClusterHasServersWithABandwidthAndWorkersWithAPrice) {
  const auto on_demand = cluster_types(catalog(), Buy::on_demand);
  ASSERT_EQ(on_demand.servers.size(), 1u);
  EXPECT_EQ(on_demand.servers[0].name, "m4.large");
  EXPECT_EQ(on_demand.servers[0].bandwidth_mbps, 450);
  EXPECT_EQ(on_demand.workers.size(), 3u);
  const auto spot = cluster_types(catalog(), Buy::spot);
  ASSERT_EQ(spot.workers.size(), 1u);
  EXPECT_EQ(spot.workers[0].price, 0.95_cr);
  EXPECT_EQ(spot.servers[0].price, 0.1_cr);  // On demand all the same.
}

TEST(Prices, APlaceAndADayAreSpelled) {
  EXPECT_EQ(place_of(catalog()), "ec2 us-east-1");
  EXPECT_EQ(place_of({.provider = "lab"}), "lab");
  EXPECT_EQ(date_of(catalog()), "2020-03-23");
}

}  // namespace
}  // namespace souk::advisor
