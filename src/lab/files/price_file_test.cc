#include "lab/files/price_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/testing/source_tree.h"

namespace souk::lab {
namespace {

using ::testing::HasSubstr;
using namespace base::literals;

TEST(PriceFile, ACatalogWithADateIsRead) {
  const auto out = parse_prices(
      R"({"provider":"ec2","region":"us-east-1","date":"2020-01-15","source":"a page","types":[
          {"name":"p3.2xlarge","on_demand":3.06,"spot":0.95,"vcpus":8,"memory_gib":61,"gpus":1,
           "gpu":"V100","revocations_per_hour":0.05,"quota":20},
          {"name":"m4.large","on_demand":0.1,"bw_mbps":450}]})",
      "ec2.json");
  ASSERT_TRUE(out) << out.error().message << out.error().hint;
  EXPECT_EQ(place_of(*out), "ec2 us-east-1");
  EXPECT_EQ(date_of(*out), "2020-01-15");
  ASSERT_EQ(out->types.size(), 2u);
  EXPECT_EQ(out->types[0].on_demand, 3.06_cr);
  EXPECT_EQ(out->types[0].spot, 0.95_cr);
  EXPECT_EQ(out->types[0].revocations_per_hour, 0.05);
  EXPECT_EQ(out->types[0].quota, 20);
  EXPECT_FALSE(out->types[1].spot);
  EXPECT_FALSE(out->types[1].quota);
  EXPECT_EQ(out->types[1].bandwidth_mbps, 450);
}

TEST(PriceFile, MistakesAreNamed) {
  const auto message = [](std::string_view types, std::string_view date = "2020-01-15") {
    const auto out = parse_prices(
        fmt::format(R"({{"provider":"ec2","date":"{}","types":{}}})", date, types), "e.json");
    return out ? "none" : out.error().message + " / " + out.error().hint;
  };
  EXPECT_EQ(message(R"([{"name":"a","spot":1}])"), "none");
  EXPECT_THAT(message("[]"), HasSubstr("e.json: there are no types"));
  EXPECT_THAT(message(R"([{"name":"a","spot":1}])", "in spring"),
              HasSubstr("e.json: date is 'in spring' / the day of the prices, as 2020-03-23"));
  EXPECT_THAT(message(R"([{"name":"a","spot":1}])", "2020-02-31"), HasSubstr("date is"));
  EXPECT_THAT(message(R"([{"name":"a"}])"), HasSubstr("a has no price / give on_demand, spot"));
  EXPECT_THAT(message(R"([{"name":"a","spots":1}])"), HasSubstr("did you mean 'spot'?"));
  EXPECT_THAT(message(R"([{"name":"a","spot":-1}])"), HasSubstr("a costs -1"));
  EXPECT_THAT(message(R"([{"name":"a","spot":1,"quota":-1}])"), HasSubstr("a quota of -1"));
  EXPECT_THAT(message(R"([{"name":"a","spot":1,"bw_mbps":0}])"), HasSubstr("a has 0 Mbps"));
  EXPECT_THAT(message(R"([{"name":"a","spot":1,"revocations_per_hour":-2}])"),
              HasSubstr("a has -2 revocations per hour"));
  EXPECT_THAT(message(R"([{"name":"a","spot":1},{"name":"a","spot":2}])"),
              HasSubstr("a is there twice"));
}

TEST(PriceFile, TheShippedCatalogIsRead) {
  const auto path = base::source_tree() / "examples/catalogs/ec2-us-east-1-2020-03.json";
  const auto text = base::read_file(path.string(), "");
  ASSERT_TRUE(text) << text.error().message;
  const auto out = parse_prices(*text, "ec2.json");
  ASSERT_TRUE(out) << out.error().message << out.error().hint;
  EXPECT_EQ(date_of(*out), "2020-03-23");
  for (const auto& type : out->types)
    if (type.spot) EXPECT_LT(*type.spot, *type.on_demand) << type.name;
}

}  // namespace
}  // namespace souk::lab
