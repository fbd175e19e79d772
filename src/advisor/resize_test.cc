#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advisor/resize.h"
#include "base/random.h"

namespace souk::advisor {
namespace {

using ::testing::HasSubstr;

// A worker does a thousandth a second: alone it needs 1,000 s.
Running run(double seconds, std::int32_t aim) {
  return {.left = 1,
          .seconds = seconds,
          .pace = 0.001,
          .aim = aim,
          .least = 1,
          .most = 8,
          .price = 0.001,
          .credits = 10};
}

TEST(Resize, WorkersAreAddedOnceTheTimeWouldNotDo) {
  EXPECT_FALSE(resize(run(500, 2)));  // Just in time.
  EXPECT_FALSE(resize(run(490, 2)));  // Not worth a change yet.
  const auto more = resize(run(400, 2));
  ASSERT_TRUE(more);
  EXPECT_EQ(more->workers, 3);  // 2.5, and a fifth to spare.
  EXPECT_THAT(more->why, HasSubstr("500 s"));
  EXPECT_EQ(resize(run(1, 2))->workers, 8);  // As many as it may have.
  EXPECT_EQ(resize(run(0, 2))->workers, 8);
  EXPECT_FALSE(resize(run(1, 8)));
}

TEST(Resize, WorkersGoOnlyWhenFarFewerWouldDo) {
  EXPECT_FALSE(resize(run(600, 3)));  // 1.7 are needed: 2.5 would be safe, that is three.
  EXPECT_EQ(resize(run(800, 3))->workers, 2);
  EXPECT_EQ(resize(run(5'000, 8))->workers, 1);
  auto bound = run(5'000, 8);
  bound.least = 4;
  EXPECT_EQ(resize(bound)->workers, 4);
}

TEST(Resize, NothingIsAddedThatCannotBePaid) {
  auto poor = run(400, 2);
  poor.credits = 0.9;  // The rest costs 1.
  EXPECT_FALSE(resize(poor));
}

TEST(Resize, AChangeIsNeverTakenBackAtOnce) {
  base::Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    auto r = run(static_cast<double>(random.between(1, 3'000)),
                 static_cast<std::int32_t>(random.between(1, 8)));
    const auto change = resize(r);
    if (!change) continue;
    EXPECT_GE(change->workers, r.least);
    EXPECT_LE(change->workers, r.most);
    EXPECT_NE(change->workers, r.aim);
    r.aim = change->workers;
    const auto again = resize(r);
    EXPECT_FALSE(again) << r.seconds << " s, " << r.aim << " to " << again->workers;
  }
}

}  // namespace
}  // namespace souk::advisor
