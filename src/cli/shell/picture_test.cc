#include "cli/shell/picture.h"

#include <gtest/gtest.h>

#include <vector>

#include "cli/shell/table.h"

namespace souk::cli {
namespace {

using Values = std::vector<std::optional<double>>;

TEST(Sparkline, HighestAndLowestStandOut) {
  EXPECT_EQ(sparkline(Values{1, 2, 3, 4, 5, 6, 7, 8}, 20, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(Values{0, 1, 2, 3, 4}, 20, false), "_.-=#");
}

TEST(Sparkline, HoursWithoutTradesAreGapsNotZeros) {
  EXPECT_EQ(sparkline(Values{1, std::nullopt, 8}, 20, true), "▁ █");
}

TEST(Sparkline, AConstantPriceIsALine) { EXPECT_EQ(sparkline(Values{3, 3, 3}, 20, true), "▅▅▅"); }

TEST(Sparkline, AWeekOfHoursFits) {
  Values week(168, 1.0);
  week[167] = 100.0;
  const auto line = sparkline(week, 28, true);
  EXPECT_EQ(display_width(line), 28u);
  EXPECT_TRUE(line.ends_with("█"));
}

TEST(Sparkline, NothingMakesNoPicture) {
  EXPECT_EQ(sparkline(Values{}, 10, true), "");
  EXPECT_EQ(sparkline(Values{1}, 0, true), "");
  EXPECT_EQ(sparkline(Values{std::nullopt, std::nullopt}, 10, true), "  ");
}

TEST(Bar, IsFullAtOneAndNeverOverflows) {
  EXPECT_EQ(bar(0, 4, false), "....");
  EXPECT_EQ(bar(0.5, 4, false), "##..");
  EXPECT_EQ(bar(7, 4, false), "####");
  EXPECT_EQ(bar(0.0 / 0.0, 4, false), "....");
}

}  // namespace
}  // namespace souk::cli
