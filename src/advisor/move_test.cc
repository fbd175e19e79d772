#include "advisor/move.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace souk::advisor {
namespace {

using ::testing::HasSubstr;

// A worker does a thousandth a second for a thousandth of a credit: alone it needs 1,000 s and 1
// credit. It has two of them, and could have four.
Here here(std::optional<double> seconds = {}) {
  return {.name = "c1",
          .left = 1,
          .seconds = seconds,
          .pace = 0.001,
          .workers = 2,
          .most = 4,
          .price = 0.001,
          .credits = 10};
}

// A worker there is so many times as fast and as dear.
There there(double faster, double dearer, std::int32_t most = 2, double restart_s = 10) {
  There out{.name = "c4", .restart_s = restart_s, .most = most};
  for (std::int32_t n = 1; n <= most; ++n)
    out.clusters.push_back({n, 0.001 * faster * n, 0.001 * dearer * n});
  return out;
}

std::optional<MoveTo> moved(const Here& h, const There& t) { return move(h, {&t, 1}); }

TEST(Move, ALateTrainingGoesToWhereItIsInTime) {
  const auto to = moved(here(200), there(8, 9));  // 250 s with all four; 135 s with one there.
  ASSERT_TRUE(to);
  EXPECT_EQ(to->workers, 1);
  EXPECT_THAT(to->why, HasSubstr("100% of the work is left for 200 s"));
  EXPECT_THAT(to->why, HasSubstr("4 workers of class c1"));
  EXPECT_THAT(to->why, HasSubstr("1 worker of class c4 135 s"));
  EXPECT_FALSE(moved(here(240), there(8, 9)));     // Four would be late by less than a twentieth.
  EXPECT_FALSE(moved(here(260), there(8, 9)));     // Four will do, and more can be had: resize.h.
  EXPECT_FALSE(moved(here(200), there(5, 6, 1)));  // 210 s: late there too.
  EXPECT_FALSE(moved(here(150), there(8, 9, 1)));  // In time, but with less to spare than a fifth.
  EXPECT_EQ(moved(here(100), there(8, 9))->workers, 2);
}

TEST(Move, TheRestIsDoneWhereItCostsAQuarterLess) {
  EXPECT_FALSE(moved(here(1'000), there(4, 3.1)));
  const auto to = moved(here(1'000), there(4, 2.5));
  ASSERT_TRUE(to);
  EXPECT_THAT(to->why, HasSubstr("0.65 credits in class c4 and 1 in class c1"));
  EXPECT_FALSE(moved(here(250), there(4, 2.5, 1)));  // Cheaper and late.
}

TEST(Move, StartingAgainCountsAsPaidTime) {
  EXPECT_TRUE(moved(here(), there(4, 2.5, 1, 40)));   // 290 s at 0.0025.
  EXPECT_FALSE(moved(here(), there(4, 2.5, 1, 60)));  // 310 s.
}

TEST(Move, WithoutADeadlineItIsNotSlowedDownToSave) {
  EXPECT_TRUE(moved(here(), there(2.5, 1, 1)));   // 410 s instead of 500 s.
  EXPECT_FALSE(moved(here(), there(1, 0.1, 1)));  // Ten times cheaper, and twice as long.
  const auto all = moved(here(), there(2.5, 1, 1));
  EXPECT_EQ(all->workers, 0);  // As many as it may have.
}

TEST(Move, NeverToWhereTheCreditsLeftWouldNotDo) {
  auto poor = here(200);
  poor.credits = 1.2;
  EXPECT_FALSE(moved(poor, there(8, 9)));
  poor.credits = 1.3;
  EXPECT_TRUE(moved(poor, there(8, 9)));
}

TEST(Move, NeverSoonAfterAMoveNorShortlyBeforeTheEnd) {
  auto h = here(200);
  h.moved_s = kRest - 1;
  EXPECT_FALSE(moved(h, there(8, 9)));
  h.moved_s = kRest;
  EXPECT_TRUE(moved(h, there(8, 9)));
  h.left = 0.1;  // 50 s here, and ten to start again: just worth it.
  h.seconds = 23;
  EXPECT_TRUE(moved(h, there(16, 17)));
  h.left = 0.099;
  EXPECT_FALSE(moved(h, there(16, 17)));
  h.left = 0;
  EXPECT_FALSE(moved(h, there(16, 17)));
}

TEST(Move, WhoFindsNoWorkerHereGoesWhereThereAreSome) {
  auto h = here(2'000);
  h.workers = h.most = 0;
  h.pace = 0;
  h.idle_s = kPatience - 1;
  EXPECT_FALSE(moved(h, there(1, 1)));
  h.idle_s = kPatience;
  EXPECT_THAT(moved(h, there(1, 1))->why, HasSubstr("no worker of class c1 can be had"));
  auto unknown = there(1, 1);
  unknown.clusters.clear();
  EXPECT_THAT(moved(h, unknown)->why, HasSubstr("and 2 of class c4 can"));
  unknown.most = 0;
  EXPECT_FALSE(moved(h, unknown));
  h.most = 1;  // The next round will give it one.
  EXPECT_FALSE(moved(h, there(1, 1)));
}

TEST(Move, OfSeveralPlacesTheCheapestThatIsInTime) {
  const std::vector places{there(8, 9), there(8, 7), there(2, 0.1, 1)};
  EXPECT_EQ(move(here(200), places)->place, 1u);
  EXPECT_FALSE(move(here(), {}));
}

TEST(Move, AMoveIsNotTakenBackOnceItIsForgotten) {
  base::Random random(7);
  int moves = 0;
  const auto any = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random.below(1'000)) / 1'000;
  };
  for (int i = 0; i < 50'000; ++i) {
    auto h = here(random.chance(3) ? std::nullopt : std::optional(any(10, 2'000)));
    h.left = any(0.05, 1);
    h.workers = static_cast<std::int32_t>(random.between(1, 4));
    const auto faster = any(0.2, 10), dearer = any(0.2, 10);
    const auto to =
        moved(h, there(faster, dearer, static_cast<std::int32_t>(random.between(1, 4))));
    if (!to) continue;
    ++moves;
    // There, as it was forecast, with where it was in the list.
    auto then = h;
    then.pace *= faster;
    then.price *= dearer;
    then.most = 4;
    then.workers = to->workers > 0 ? to->workers : 4;
    then.moved_s = kRest;
    auto back = there(1, 1, h.most);
    EXPECT_FALSE(moved(then, back)) << faster << " x as fast, " << dearer << " x as dear";
  }
  EXPECT_GT(moves, 1'000);
}

}  // namespace
}  // namespace souk::advisor
