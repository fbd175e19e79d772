#include "job/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::job {
namespace {

using ::testing::ElementsAre;

const std::string kWheelHash(64, 'a');

wire::Batch with(std::vector<wire::Wheel> wheels) {
  return {.run = "true", .environment = wire::BatchEnvironment{.python = "3.11", .wheels = wheels}};
}

TEST(EnvironmentOfWheels, DemandsTheHostsThatTheyAreOnOnceEach) {
  const auto work = with({{"https://files.example/a-1.whl", kWheelHash, 10},
                          {"https://files.example/b-1.whl", kWheelHash, {}},
                          {"http://127.0.0.1:8080/c-1.whl", kWheelHash, {}}});
  ASSERT_TRUE(check_environment(work));
  EXPECT_THAT(environment_demands(*work.environment),
              ElementsAre("python>=3.11,<3.12", "@x86_64", "@index:files.example",
                          "@index:127.0.0.1:8080"));
}

TEST(EnvironmentOfWheels, AddressesThatNobodyShouldFetchAreRefused) {
  for (const auto* url : {"file:///etc/x.whl", "https://a.whl", "https:///x.whl", "ftp://a/x.whl",
                          "https://user@a/x.whl", "https://a/x.tar.gz", "https://A.b/x.whl", ""})
    EXPECT_FALSE(check_environment(with({{url, kWheelHash, {}}}))) << url;
  EXPECT_FALSE(check_environment(with({{"https://a/x.whl", "short", {}}})));
  EXPECT_FALSE(check_environment(with({{"https://a/x.whl", kWheelHash, -1}})));
  EXPECT_FALSE(
      check_environment(with({{"https://a/" + std::string(3'000, 'x') + ".whl", kWheelHash, {}}})));
  EXPECT_FALSE(
      check_environment(with(std::vector<wire::Wheel>(501, {"https://a/x.whl", kWheelHash, {}}))));
  EXPECT_FALSE(check_environment(with({})));
  auto both = with({{"https://a/x.whl", kWheelHash, {}}});
  both.environment->blob = kWheelHash;
  EXPECT_FALSE(check_environment(both));
}

TEST(EnvironmentOfWheels, AFileSaysWhoBuilds) {
  const auto read = [](std::string text) { return read_environment({std::move(text)}, {}); };
  EXPECT_TRUE(read(R"({"requirements": ["six"], "build": "lender"})")->by_lender);
  EXPECT_FALSE(read(R"({"requirements": ["six"], "build": "here"})")->by_lender);
  EXPECT_FALSE(read(R"({"requirements": ["six"]})")->by_lender);
  EXPECT_FALSE(read(R"({"requirements": ["six"], "build": "elsewhere"})"));
}

}  // namespace
}  // namespace souk::job
