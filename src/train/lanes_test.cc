#include "train/lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "train/testing/updates.h"

namespace souk::train {
namespace {

TEST(Lanes, SumsOfAnyLengthAreRight) {
  for (const std::size_t size : {0UL, 1UL, 31UL, 32UL, 33UL, 4096UL, 4097UL, 9999UL}) {
    const auto a = testing::noise(size, 1), b = testing::noise(size, 2);
    double squares = 0, distance = 0;
    for (std::size_t i = 0; i < size; ++i) {
      squares += std::pow(static_cast<double>(a[i]), 2);
      distance += std::pow(static_cast<double>(a[i] - b[i]), 2);
    }
    EXPECT_NEAR(sum_of_squares(a.data(), size), squares, 1e-5 * squares);
    EXPECT_NEAR(square_distance(a.data(), b.data(), size), distance, 1e-5 * distance);
  }
}

TEST(Lanes, SquaresThatAFloatCannotHoldAreCounted) {
  for (const auto v : {1e-40F, 1e-25F, 1e25F, 3e38F}) {
    const std::vector<float> values(10, v);
    const auto square = 10 * static_cast<double>(v) * static_cast<double>(v);
    EXPECT_NEAR(sum_of_squares(values.data(), 10) / square, 1, 1e-5) << v;
  }
}

TEST(Lanes, ADistanceToWhatIsNoNumberIsNotFinite) {
  const std::vector<float> a(40, 1);
  auto b = a;
  b[39] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(square_distance(a.data(), b.data(), 40)));
}

}  // namespace
}  // namespace souk::train
