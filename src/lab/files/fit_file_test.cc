#include "lab/files/fit_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::lab {
namespace {

using ::testing::HasSubstr;

std::string said(std::string_view text) {
  const auto out = parse_measurements(text, "m");
  return out ? "none" : out.error().message + " / " + out.error().hint;
}

TEST(FitFile, MeasurementsAreRead) {
  const auto out = parse_measurements(
      R"({"loss":[{"iterations":500,"loss":2.1,"batch":1024,"workers":4},
                  {"iterations":900,"loss":1.9}],
          "bandwidth":[{"workers":9,"mb_s":140.5}],"request_mb_s":142,"hub_mb_s":1200})",
      "m");
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(out->loss.size(), 2u);
  EXPECT_EQ(out->loss[0].iterations, 500);
  EXPECT_EQ(out->loss[0].batch, 1'024);
  EXPECT_EQ(out->loss[0].workers, 4);
  EXPECT_FALSE(out->loss[1].batch);
  EXPECT_EQ(out->bandwidth[0].mb_s, 140.5);
  EXPECT_EQ(out->request_mb_s, 142);
  EXPECT_EQ(out->hub_mb_s, 1'200);
}

constexpr std::string_view kHeader =
    "epoch,seconds,samples,version,loss,validation_loss,accuracy,accuracy_mean,accuracy_low,"
    "accuracy_high,workers\n";

TEST(FitFile, TheMetricsOfATrainingAreALossCurve) {
  const auto out = parse_measurements(std::string(kHeader) +
                                          "1,3.500,6400,100,2.1,1.9,0.4,0.4,0.4,0.4,3\n"
                                          "2,7.000,12800,200,1.2,1.1,0.6,0.6,0.6,0.6,4\n",
                                      "metrics.csv");
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(out->loss.size(), 2u);
  EXPECT_EQ(out->loss[0].iterations, 50);  // The mean over the epoch, so in its middle.
  EXPECT_EQ(out->loss[1].iterations, 150);
  EXPECT_EQ(out->loss[1].loss, 1.2);
  EXPECT_EQ(out->loss[0].batch, 64);
  EXPECT_EQ(out->loss[0].workers, 4);  // 3.5 on average.
}

TEST(FitFile, MistakesAreNamed) {
  EXPECT_THAT(said("{}"), HasSubstr("m: there are no measurements"));
  EXPECT_THAT(said(R"({"losses":[]})"), HasSubstr("did you mean 'loss'?"));
  EXPECT_THAT(said(R"({"loss":[{"iterations":1}]})"), HasSubstr("loss[0].loss"));
  EXPECT_THAT(said(""), HasSubstr("m: there are no measurements"));
  EXPECT_THAT(said(kHeader), HasSubstr("m: there are no measurements"));
  EXPECT_THAT(said("a,b\n1,2\n"), HasSubstr("m:1: there is no column 'version'"));
  const auto row = [](std::string_view text) {
    return said(std::string(kHeader) + std::string(text));
  };
  EXPECT_THAT(row("1,2\n"), HasSubstr("m:2: 2 cells in a row of 11"));
  EXPECT_THAT(row("1,3,6400,100,nan,1.9,0.4,0.4,0.4,0.4,3\n"),
              HasSubstr("m:2: the loss 'nan' is not a number"));
  EXPECT_THAT(row("1,3,6400,100,2,1.9,0.4,0.4,0.4,0.4,3\n2,3,6400,100,2,1.9,0.4,0.4,0.4,0.4,3\n"),
              HasSubstr("m:3: version 100 after 100"));
}

TEST(FitFile, SeveralFilesAddUp) {
  Measurements all{.loss = {{1, 2}}, .request_mb_s = 142};
  EXPECT_TRUE(merge(all, {.loss = {{3, 4}}, .hub_mb_s = 1'200}, "b"));
  EXPECT_EQ(all.loss.size(), 2u);
  EXPECT_EQ(all.hub_mb_s, 1'200);
  const auto out = merge(all, {.hub_mb_s = 900}, "c");
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, HasSubstr("c: hub_mb_s is 900, and 1200 in another file"));
}

}  // namespace
}  // namespace souk::lab
