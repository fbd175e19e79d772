#include "provider/ec2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::provider {
namespace {

using net::parse_xml;

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

// As EC2 answers, shortened.
constexpr const char* kDescribe = R"(<?xml version="1.0" encoding="UTF-8"?>
<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
  <requestId>8f7724cf-496f-496e-8fe3-example</requestId>
  <reservationSet><item><reservationId>r-1</reservationId><instancesSet>
    <item><instanceId>i-1</instanceId><instanceState><code>16</code><name>running</name></instanceState>
      <tagSet><item><key>souk-intent</key><value>00aa &amp; &#65;</value></item></tagSet></item>
    <item><instanceId>i-2</instanceId></item></instancesSet></item></reservationSet>
  <nextToken/>
</DescribeInstancesResponse>)";

TEST(Xml, ReadsAnAnswerOfEc2) {
  const auto root = parse_xml(kDescribe);
  ASSERT_TRUE(root) << root.error().message;
  const auto items = root->at("reservationSet/item/instancesSet").all("item");
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0]->at("instanceState/name").text, "running");
  EXPECT_EQ(items[0]->at("tagSet/item/value").text, "00aa & A");
  EXPECT_EQ(items[1]->at("instanceState/name").text, "");
  EXPECT_EQ(root->at("nextToken").text, "");
}

TEST(Xml, EveryBeginningOfAnAnswerIsAnError) {
  const std::string_view whole = kDescribe;
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(parse_xml(whole.substr(0, n))) << n;
}

TEST(Xml, WhatIsNotWellFormedIsAnErrorAndNotACrash) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  for (const auto& text : {std::string("<a></b>"), std::string("<a>&nbsp;</a>"), std::string("<>"),
                           std::string("<a/><b/>"), std::string("<a>&#0;</a>"), deep})
    EXPECT_FALSE(parse_xml(text)) << text;
}

StartRequest request(bool spot) {
  return {
      .name = {"ann-1", "ec2", "00aa"},
      .kind = {.where = "us-east-1", .type = "c7i.large", .spot = spot, .hourly = Credits(50'000)},
      .join = {.server = "https://market.example", .token = "souk_x", .flags = {"--class", "c1"}}};
}

TEST(Ec2, AnInstanceIsOneHoweverOftenItIsAskedForAndCarriesItsIntent) {
  const base::FakeClock clock{Time(0)};
  const Ec2 ec2({.regions = {"us-east-1"}, .images = {{"", "ami-1"}}, .lifetime = base::hours(2)},
                {"ann-1", "ec2", ""}, {}, clock);
  const auto p = ec2.run_instances(request(true));
  EXPECT_THAT(p, Contains(Pair("ClientToken", "souk.ann-1.ec2.00aa")));
  EXPECT_THAT(p, Contains(Pair("TagSpecification.1.Tag.4.Value", "00aa")));
  EXPECT_THAT(p, Contains(Pair("InstanceMarketOptions.SpotOptions.MaxPrice", "0.050000")));
  EXPECT_THAT(p, Contains(Pair("InstanceInitiatedShutdownBehavior", "terminate")));
  EXPECT_THAT(p, Contains(Pair("MetadataOptions.HttpPutResponseHopLimit", "1")));
  EXPECT_THAT(ec2.run_instances(request(false)),
              ::testing::Not(Contains(Pair("InstanceMarketOptions.MarketType", "spot"))));
}

// EC2 takes 64 characters, and refuses another request under the same token for ever.
TEST(Ec2, MachinesWithLongNamesHaveTokensOfTheirOwn) {
  const base::FakeClock clock{Time(0)};
  const Ec2 ec2({.regions = {"us-east-1"}, .images = {{"", "ami-1"}}, .lifetime = base::hours(2)},
                {"ann-1", "ec2", ""}, {}, clock);
  const auto token = [&](const std::string& intent) {
    auto asked = request(false);
    asked.name = {std::string(39, 'a'), std::string(40, 'p'), intent};
    for (const auto& [name, value] : ec2.run_instances(asked))
      if (name == "ClientToken") return value;
    return std::string();
  };
  EXPECT_EQ(token("00aa").size(), 64u);
  EXPECT_EQ(token("00aa"), token("00aa"));
  EXPECT_NE(token("00aa"), token("00ab"));
}

TEST(Ec2, AnInstanceEndsItselfBeforeAnythingElseCanFail) {
  const auto script = user_data(request(true), base::hours(2));
  const auto timer = script.find("shutdown -h +120");
  ASSERT_NE(timer, script.npos);
  EXPECT_LT(timer, script.find("curl"));
  EXPECT_LT(script.find("trap 'shutdown -h now' EXIT"), script.find("curl"));
  EXPECT_THAT(script, HasSubstr("--preempt-when"));
  EXPECT_EQ(user_data(request(false), base::hours(2)).find("--preempt-when"), std::string::npos);
}

TEST(UrlEncoded, LeavesNothingThatAQueryWouldRead) {
  EXPECT_EQ(url_encoded("a b&c=d/e+~"), "a%20b%26c%3Dd%2Fe%2B~");
}

}  // namespace
}  // namespace souk::provider
