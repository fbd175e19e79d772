#include <gtest/gtest.h>

#include <limits>

#include "train/testing/updates.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

TEST(Finite, RefusesASingleBadValueAnywhere) {
  const auto finite = *make_validator("finite");
  auto values = testing::noise(kBlock + 10, 1);
  EXPECT_EQ(finite->judge({stats_of(testing::update(values))}, {}), "");
  for (const auto bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})
    for (const std::size_t at : {0UL, 5000UL, kBlock + 9}) {
      auto spoilt = values;
      spoilt[at] = bad;
      EXPECT_NE(finite->judge({stats_of(testing::update(spoilt))}, {}), "") << at;
    }
  values[7] = 3e38F;
  EXPECT_EQ(finite->judge({stats_of(testing::update(values))}, {}), "") << "large, but a number";
}

}  // namespace
}  // namespace souk::train
