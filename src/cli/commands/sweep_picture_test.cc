#include "cli/commands/sweep_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

wire::SweepStatus status() {
  wire::SweepStatus out;
  out.sweep.metric = "loss";
  out.sweep.goal = wire::SweepGoal::minimize;
  out.sweep.parameters = {{"lr", {.scale = wire::SweepScale::log, .low = 0.001, .high = 0.1}},
                          {"o", {.values = {"\"a<b\"", "\"c\""}}}};
  const auto trial = [](std::int32_t n, const char* lr, const char* o,
                        std::optional<double> value) {
    return wire::SweepTrial{.number = n,
                            .job = base::JobId(static_cast<std::uint64_t>(n) + 1),
                            .state = wire::TrialState::succeeded,
                            .parameters = {{"lr", lr}, {"o", o}},
                            .epoch = 3,
                            .value = value,
                            .spent = base::Credits(500'000)};
  };
  out.trials = {trial(1, "0.001", "\"c\"", 2.0), trial(2, "0.01", "\"a<b\"", 1.0),
                trial(3, "0.1", "\"c\"", std::nullopt)};
  out.best = 2;
  return out;
}

TEST(SweepPicture, TheTableHasARowForEachTrial) {
  EXPECT_EQ(sweep_csv(status()),
            "trial,job,state,lr,o,epoch,loss,credits\n"
            "1,j2,succeeded,0.001,c,3,2,0.5\n"
            "2,j3,succeeded,0.01,a<b,3,1,0.5\n"
            "3,j4,succeeded,0.1,c,3,,0.5\n");
}

TEST(SweepPicture, EachTrialThatReportedIsALineAndTheBestIsDrawnLast) {
  const auto svg = sweep_svg(status());
  const auto best = svg.find("trial 2 (j3): loss 1");
  ASSERT_NE(best, std::string::npos);
  EXPECT_LT(svg.find("trial 1 (j2): loss 2"), best);
  EXPECT_THAT(svg, Not(HasSubstr("trial 3")));
  EXPECT_THAT(svg, HasSubstr("a&lt;b"));  // Nobody's word becomes markup.
  EXPECT_THAT(svg, Not(HasSubstr("a<b")));
  // Both ends of the axis; of two lines one is below, one above.
  EXPECT_THAT(svg, HasSubstr(">0.001<"));
  EXPECT_THAT(svg, HasSubstr(">0.01<"));
  EXPECT_EQ(sweep_svg({}), "");
}

}  // namespace
}  // namespace souk::cli
