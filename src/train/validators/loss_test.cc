#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "train/validators/validator.h"

namespace souk::train {
namespace {

History losses(std::initializer_list<double> values) {
  History h;
  for (const auto v : values) h.accept({.loss = v});
  return h;
}

TEST(Loss, RefusesWhatIsNoLossAndWhatIsAbsurd) {
  const auto loss = *make_validator("loss");
  // Median 2, spread 0.1: up to 20 (0.1 + 0.1) = 4 off.
  const auto h = losses({1.8, 1.9, 1.9, 2, 2, 2, 2.1, 2.1, 2.2});
  const struct {
    double loss;
    bool accepted;
  } cases[] = {{2, true},
               {0, true},
               {5.9, true},
               {6.1, false},
               {1e30, false},
               {-2.1, false},
               {std::numeric_limits<double>::infinity(), false},
               {std::numeric_limits<double>::quiet_NaN(), false}};
  for (const auto& c : cases)
    EXPECT_EQ(loss->judge({.loss = c.loss}, h) == "", c.accepted) << c.loss;
}

TEST(Loss, WhatAModelHadBeforeItFittedItsDataIsBelieved) {
  const auto loss = *make_validator("loss");
  History h = losses({2.3, 2.2});
  for (std::size_t i = 0; i < kRemembered; ++i) h.accept({.loss = 1e-4});
  EXPECT_EQ(loss->judge({.loss = 2.2}, h), "");
  EXPECT_NE(loss->judge({.loss = 4.7}, h), "");
  EXPECT_NE(loss->judge({.loss = -1}, h), "");
}

TEST(Loss, BeforeThereIsEnoughToCompareWithItMustOnlyBeANumber) {
  const auto loss = *make_validator("loss");
  EXPECT_EQ(loss->judge({.loss = 1e9}, losses({1, 1, 1})), "");
  EXPECT_NE(loss->judge({.loss = std::numeric_limits<double>::quiet_NaN()}, {}), "");
  EXPECT_EQ(loss->judge({.loss = 1}, losses({0, 0, 0, 0, 0, 0, 0, 0})), "");
}

}  // namespace
}  // namespace souk::train
