#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "train/testing/updates.h"
#include "train/validator.h"

namespace souk::train {
namespace {

TEST(Stats, TheNormIsThatOfAllBlocksWhateverTheirScale) {
  EXPECT_EQ(stats_of(testing::update({3, 4})).norm, 5);
  for (const auto scale : {1e-30F, 1e-3F, 1.F, 1e30F}) {
    const auto values = testing::noise(kBlock + 4099, 1, scale);
    double sum = 0;
    for (const auto v : values) sum += static_cast<double>(v) * static_cast<double>(v);
    const auto stats = stats_of(testing::update(values));
    EXPECT_TRUE(stats.finite);
    EXPECT_NEAR(stats.norm / std::sqrt(sum), 1, 1e-5) << scale;
  }
}

TEST(History, RemembersTheLastAndTheirMedians) {
  History h;
  EXPECT_EQ(h.median_norm(), 0);
  EXPECT_FALSE(h.enough());
  for (int i = 1; i <= 1000; ++i)
    h.accept({.stats = {.norm = 2.0 * i}, .steps = 4, .loss = static_cast<double>(-i)});
  EXPECT_EQ(h.size(), kRemembered);
  EXPECT_EQ(h.norms().front(), 937);
  EXPECT_EQ(h.median_norm(), 968);
  EXPECT_EQ(h.median_loss(), -969);
  EXPECT_EQ(h.spread_loss(), 16);
}

TEST(History, ComesBackFromASnapshot) {
  History h, again;
  for (int i = 0; i < 20; ++i) h.accept({.stats = {.norm = 1.0 * i}, .steps = 0, .loss = 2.0 * i});
  again.restore(h.norms(), h.losses());
  EXPECT_EQ(again.median_norm(), h.median_norm());
  EXPECT_EQ(again.median_loss(), h.median_loss());
  again.restore(std::deque<double>(1000, 1), std::deque<double>(1000, 1));
  EXPECT_EQ(again.size(), kRemembered);
}

}  // namespace
}  // namespace souk::train
