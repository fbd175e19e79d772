#include "server/core/market_clock.h"

#include <gtest/gtest.h>

#include "server/core/listening_watch.h"
#include "server/testing/stack.h"

namespace souk::server {
namespace {

using base::Duration;
using base::seconds;

Duration steady_now;
Duration read_steady() { return steady_now; }

struct MarketTime : ::testing::Test {
  testing::ObedientClock wall;
  void pass(Duration d) {
    steady_now = steady_now + d;
    wall.move(d);
  }
};

TEST_F(MarketTime, IsThatOfTheWall) {
  const MarketClock clock(wall, {}, &read_steady);
  const auto began = clock.now();
  pass(seconds(10));
  EXPECT_EQ(clock.now() - began, seconds(10));
}

TEST_F(MarketTime, GoesOnWhenAClockThatWasSetForwardIsCorrected) {
  const MarketClock clock(wall, {}, &read_steady);
  wall.move(base::hours(1));
  const auto ahead = clock.now();
  wall.move(Duration() - base::hours(1));
  auto last = ahead;
  for (int i = 0; i < 60; ++i) {
    pass(seconds(1));
    const auto now = clock.now();
    EXPECT_GT(now, last);
    last = now;
  }
  EXPECT_EQ(last - ahead, seconds(30));
  for (int i = 0; i < 60; ++i) {
    pass(base::minutes(2));
    last = clock.now();
  }
  EXPECT_EQ(last, wall.now());  // Caught up.
}

TEST_F(MarketTime, GoesOnFromAHistoryThatIsAhead) {
  const auto future = wall.now() + base::hours(5);
  const MarketClock clock(wall, future, &read_steady);
  EXPECT_EQ(clock.now(), future);
  pass(seconds(4));
  EXPECT_EQ(clock.now(), future + seconds(2));
}

TEST(ListeningWatch, NoticesStopsAndSleepsAndNothingElse) {
  ListeningWatch watch;
  const base::Time noon(1'767'614'400'000'000);
  EXPECT_EQ(watch.missed(noon, seconds(5)), Duration());
  EXPECT_EQ(watch.missed(noon + base::milliseconds(200), seconds(5) + base::milliseconds(200)),
            Duration());
  // Stopped: both clocks went on.
  EXPECT_EQ(watch.missed(noon + seconds(60), seconds(65)), seconds(60) - base::milliseconds(200));
  // Suspended: the steady clock slept too.
  EXPECT_EQ(watch.missed(noon + seconds(120), seconds(65)), seconds(60));
  // Set back: time in which it listened.
  EXPECT_EQ(watch.missed(noon, seconds(65) + base::milliseconds(100)), Duration());
}

}  // namespace
}  // namespace souk::server
