#include "job/sweep/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "job/sweep/halving.h"
#include "job/sweep/metric_line.h"

namespace souk::job {
namespace {

using ::testing::ElementsAre;
using wire::SweepMethod;
using wire::SweepScale;

wire::SweepParameter values(std::vector<std::string> all) { return {.values = std::move(all)}; }
wire::SweepParameter range(SweepScale scale, double low, double high,
                           std::optional<std::int32_t> steps = {}) {
  return {.scale = scale, .low = low, .high = high, .steps = steps};
}

TEST(Grid, HasEveryCombinationOnceAndChangesTheLastFirst) {
  const wire::Sweep sweep{.parameters = {{"a", values({"1", "2"})}, {"b", values({"x", "y", "z"})}},
                          .method = SweepMethod::grid};
  EXPECT_EQ(combinations(sweep), 6);
  const auto points = points_of(sweep);
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points[0], (Point{{"a", "1"}, {"b", "x"}}));
  EXPECT_EQ(points[1], (Point{{"a", "1"}, {"b", "y"}}));
  EXPECT_EQ(points[5], (Point{{"a", "2"}, {"b", "z"}}));
}

TEST(Grid, StepsOfARangeIncludeItsEnds) {
  EXPECT_THAT(grid_values(range(SweepScale::log, 0.001, 0.1, 3)),
              ElementsAre("0.001", "0.01", "0.1"));
  EXPECT_THAT(grid_values(range(SweepScale::uniform, 0, 1, 5)),
              ElementsAre("0", "0.25", "0.5", "0.75", "1"));
  EXPECT_THAT(grid_values(range(SweepScale::whole, 1, 3, 9)), ElementsAre("1", "2", "3"));
}

TEST(Draws, AreTheSameForASeedAndStayInTheirRange) {
  wire::Sweep sweep{.parameters = {{"lr", range(SweepScale::log, 1e-4, 1e-1)},
                                   {"n", range(SweepScale::whole, 2, 9)},
                                   {"o", values({"\"sgd\"", "\"adam\""})}},
                    .trials = 200,
                    .seed = 7};
  const auto points = points_of(sweep);
  EXPECT_EQ(points, points_of(sweep));
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), 200u);
  int small = 0;
  for (const auto& point : points) {
    const auto lr = std::stod(point.at("lr"));
    EXPECT_GE(lr, 1e-4);
    EXPECT_LE(lr, 1e-1);
    small += lr < 1e-3;
    EXPECT_GE(std::stoi(point.at("n")), 2);
    EXPECT_LE(std::stoi(point.at("n")), 9);
  }
  EXPECT_NEAR(small, 200 / 3, 25);  // A third of the decades.
  sweep.seed = 8;
  EXPECT_NE(points_of(sweep), points);
  sweep.trials = 10;  // The first trials of a longer sweep are those of a shorter one.
  sweep.seed = 7;
  EXPECT_EQ(points_of(sweep), std::vector(points.begin(), points.begin() + 10));
}

TEST(Draws, NeverTryTheSameTwiceWhileThereIsAnother) {
  const wire::Sweep sweep{
      .parameters = {{"a", values({"1", "2", "3"})}, {"b", values({"1", "2", "3"})}}, .trials = 9};
  const auto points = points_of(sweep);
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), 9u);
}

// By hand: of n that came to a rung, max(1, n/3) go on.
TEST(Halving, GoesOnWithTheBestThirdOfThoseThatCameSoFar) {
  const wire::Sweep sweep{.eta = 3};
  const std::pair<double, bool> arrivals[] = {
      {0.50, true},   // 1 of 1.
      {0.60, true},   // The best of 2.
      {0.40, false},  // 1 of 3 goes on, and that is 0.60.
      {0.55, false},  // 1 of 4.
      {0.70, true},   // The best of 5.
      {0.65, true},   // 2 of 6: 0.70 and this.
      {0.62, false},  // 2 of 7.
      {0.60, false},  // 2 of 8.
      {0.66, true},   // 3 of 9: 0.70, this, 0.65.
  };
  std::vector<std::optional<double>> others;
  for (const auto& [value, on] : arrivals) {
    EXPECT_EQ(goes_on(sweep, value, others), on) << value << " after " << others.size();
    others.emplace_back(value);
  }
}

TEST(Halving, LessIsBetterWhereTheGoalSaysSoAndNoNumberIsWorst) {
  const wire::Sweep sweep{.goal = wire::SweepGoal::minimize, .eta = 2};
  const std::vector<std::optional<double>> others{3.0, std::nullopt, 1.0};
  EXPECT_TRUE(goes_on(sweep, 0.5, others));
  EXPECT_TRUE(goes_on(sweep, 2.0, others));  // 2 of 4.
  EXPECT_FALSE(goes_on(sweep, 4.0, others));
  EXPECT_FALSE(goes_on(sweep, std::nullopt, {}));
  EXPECT_TRUE(is_better(sweep, 1.0, 2.0));
  EXPECT_TRUE(is_better(sweep, 9.0, std::nullopt));
  EXPECT_FALSE(is_better(sweep, std::nullopt, 9.0));
}

TEST(Halving, RungsGrowByEta) {
  const wire::Sweep sweep{.min_epochs = 2, .eta = 3};
  EXPECT_EQ(rung_epochs(sweep, 0), 2);
  EXPECT_EQ(rung_epochs(sweep, 1), 6);
  EXPECT_EQ(rung_epochs(sweep, 2), 18);
  EXPECT_GT(rung_epochs(sweep, 200), 1'000'000'000);
}

TEST(MetricLine, TellsItsMetricAndNothingElse) {
  const auto full = read_metric_line("SOUK_METRIC epoch=3 accuracy=0.913 loss=0.31", "accuracy");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->epoch, 3);
  EXPECT_EQ(full->value, 0.913);
  EXPECT_EQ(read_metric_line("SOUK_METRIC loss=1e-3", "loss")->value, 1e-3);
  EXPECT_FALSE(read_metric_line("SOUK_METRIC loss=1e-3", "loss")->epoch);
  EXPECT_EQ(read_metric_line("SOUK_METRIC loss=nan", "loss")->value, std::nullopt);
  EXPECT_EQ(read_metric_line("SOUK_METRIC loss=1x", "loss")->value, std::nullopt);
  EXPECT_FALSE(read_metric_line("SOUK_METRIC epoch=-1 loss=1", "loss")->epoch);
  for (const auto* line : {"", "SOUK_METRIC", "SOUK_METRIC ", "accuracy=1", "SOUK_METRIC f1=1",
                           " SOUK_METRIC accuracy=1", "SOUK_METRIC accuracy 1"})
    EXPECT_FALSE(read_metric_line(line, "accuracy")) << line;
}

}  // namespace
}  // namespace souk::job
