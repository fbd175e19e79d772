#include "base/kill_point.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace souk::base {
namespace {

TEST(KillPoint, DoesNothingWithoutAName) {
  kill_point("here");
  kill_point("");
}

TEST(KillPointDeathTest, EndsTheProcessAtTheNamedPlaceAndTime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // A process that has not looked yet.
  EXPECT_EXIT(
      {
        ::setenv("SOUK_KILL_AT", "here:3", 1);
        for (int i = 0; i < 2; ++i) kill_point("here");
        for (int i = 0; i < 9; ++i) kill_point("there");
        std::fputs("twice", stderr);
        kill_point("here");
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGKILL), "twice");
}

}  // namespace
}  // namespace souk::base
