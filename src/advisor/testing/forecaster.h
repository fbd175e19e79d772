#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "advisor/forecast.h"

namespace souk::advisor::testing {

inline Forecaster must(Problem problem) {
  auto out = Forecaster::make(std::move(problem));
  EXPECT_TRUE(out) << out.error().message;
  return *std::move(out);
}

}  // namespace souk::advisor::testing
