#include "lab/files/schedule_file.h"

#include <gtest/gtest.h>

namespace souk::lab {
namespace {

TEST(ScheduleFile, WhatIsLeftOutIsOne) {
  const auto s = read_schedule_instance(R"({"throughputs":[[2,1],[3,0]],"capacity":[1,2]})");
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->throughputs, (std::vector<double>{2, 1, 3, 0}));
  EXPECT_EQ(s->scale, (std::vector<double>{1, 1}));
  EXPECT_EQ(s->weights, (std::vector<double>{1, 1}));
  EXPECT_TRUE(s->steps.empty());
}

TEST(ScheduleFile, MistakesNameTheirField) {
  const auto field = [](std::string_view json) {
    return read_schedule_instance(json).error().field;
  };
  EXPECT_EQ(field(R"({"throughputs":[[2,1],[3]],"capacity":[1,2]})"), "throughputs[1]");
  EXPECT_EQ(field(R"({"throughputs":[[2]],"capacity":[1],"scale":[1,1]})"), "scale");
  EXPECT_EQ(field(R"({"throughputs":[[2]],"capacity":[0]})"), "capacity");
  EXPECT_EQ(field(R"({"throughputs":[[2]],"capacity":[1],"wieghts":[1]})"), "wieghts");
}

TEST(ScheduleFile, AnAnswerHasAllThatWasFound) {
  const auto s = read_schedule_instance(R"({"throughputs":[[2]],"capacity":[1]})").value();
  const auto* policy = mechanism::find_schedule_policy("max-min").value();
  const auto json = schedule_json(*policy, s, policy->policy.solve(s).value());
  EXPECT_TRUE(json.starts_with(R"({"policy":"max-min","objective":)")) << json;
  EXPECT_NE(json.find(R"("exact":true)"), std::string::npos) << json;
}

}  // namespace
}  // namespace souk::lab
