#include "cli/shell/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/shell/table.h"

namespace souk::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Progress, SaysHowFarHowFastAndHowLong) {
  const auto text = progress_text("reading", 12'000, 48'000, "events", base::seconds(3), {});
  EXPECT_EQ(text, "reading  ######..................  25%  12,000/48,000 events  4,000/s  9s left");
}

TEST(Progress, WithoutATotalThereIsNoEnd) {
  const auto text = progress_text("reading", 1'234'567, {}, "events", base::seconds(1), {});
  EXPECT_EQ(text, "reading  1,234,567 events  1,234,567/s");
}

TEST(Progress, TheBeginningAndTheEndAreNotDividedByZero) {
  EXPECT_THAT(progress_text("x", 0, 10, "y", {}, {}), HasSubstr("  0%  0/10 y"));
  EXPECT_THAT(progress_text("x", 40, 100, "% of the budget", base::seconds(5), {}),
              EndsWith(" 40% of the budget"));
  EXPECT_THAT(progress_text("x", 10, 10, "y", base::seconds(1), {}), Not(HasSubstr("left")));
  EXPECT_THAT(progress_text("x", 0, 0, "y", {}, {}), HasSubstr("0 y"));
}

TEST(Progress, StaysOnOneLineOfTheTerminal) {
  const auto text = progress_text("reading a journal", 12'000, 48'000, "events", base::seconds(3),
                                  {.utf8 = true, .width = 30});
  EXPECT_LT(display_width(text), 30u);
}

}  // namespace
}  // namespace souk::cli
