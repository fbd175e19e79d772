#include "advisor/spot_move.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace souk::advisor {
namespace {

constexpr SpotPlace kSlow{.rate = 1, .price = 1};
constexpr SpotPlace kFast{.rate = 4, .price = 6};  // Dearer for the same work.

TEST(SpotMove, TakesTheCheapestForTheWorkWhileThereIsTime) {
  const std::vector places{kFast, kSlow};
  const SpotJobLeft easy{.work = 3'600, .seconds = 20'000, .period_s = 300, .restart_s = 60};
  EXPECT_EQ(spot_move(places, std::nullopt, easy), 1u);
  auto late = easy;
  late.seconds = 1'100;  // 900 s on the fast one.
  EXPECT_EQ(spot_move(places, std::nullopt, late), 0u);
  late.seconds = 100;  // Too late for both.
  EXPECT_EQ(spot_move(places, 1, late), 0u);
  EXPECT_EQ(spot_move(places, 0, late), 0u);
}

TEST(SpotMove, MovesOnlyWhereItSavesMoreThanItCosts) {
  std::vector places{SpotPlace{1, 1}, SpotPlace{1, .99}};
  const SpotJobLeft left{.work = 36'000, .seconds = 1e6, .period_s = 300, .restart_s = 60};
  EXPECT_EQ(spot_move(places, 0, left), 0u);  // One in a hundred is not worth it.
  places[1].price = .9;
  EXPECT_EQ(spot_move(places, 0, left), 1u);
  auto nearly_done = left;
  nearly_done.work = 300;  // The restart would cost as much.
  EXPECT_EQ(spot_move(places, 0, nearly_done), 0u);
}

TEST(SpotMove, ADeadlineThatCanBeKeptIsKeptWhateverPricesDo) {
  base::Random random(1);
  for (int run = 0; run < 2'000; ++run) {
    std::vector<SpotPlace> places;
    for (int i = 0; i < 4; ++i) places.push_back({static_cast<double>(random.between(1, 5)), 1});
    const auto fastest = std::ranges::max(places, {}, &SpotPlace::rate).rate;
    constexpr double period = 300, restart = 100;
    double work = static_cast<double>(random.between(3'000, 60'000));
    double left = work / fastest + 2 * restart + period * static_cast<double>(random.between(1, 9));
    std::optional<std::size_t> here;
    while (work > 0) {
      for (auto& p : places) p.price = static_cast<double>(random.between(1, 1'000));
      const auto to = spot_move(places, here, {work, left, period, restart});
      const auto lost = here == to ? 0 : restart;
      const auto used = std::min(period, lost + work / places[to].rate);
      work = used < period ? 0 : work - places[to].rate * (period - lost);
      left -= used;
      here = to;
      ASSERT_GE(left, -1e-6);
    }
  }
}

}  // namespace
}  // namespace souk::advisor
