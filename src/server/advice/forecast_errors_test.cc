#include "server/advice/forecast_errors.h"

#include <gtest/gtest.h>

#include "wire/api/plan.h"
#include "wire/json.h"

namespace souk::server {
namespace {

TEST(ForecastErrors, RememberTheirSizesAndStartFromWhatProfilesKnow) {
  market::State state;
  ForecastErrors errors;
  EXPECT_FALSE(errors.quantile(0.5));
  state.profiles["a"] = {wire::to_json(wire::Profile{.errors = {-0.1, 0.2}}), {}};
  state.profiles["b"] = {"not JSON", {}};
  errors.recall(state);
  EXPECT_EQ(errors.count(), 2u);
  EXPECT_EQ(errors.quantile(0.5), 0.1);
  errors.add(-0.4);
  EXPECT_EQ(errors.quantile(0.5), 0.2);
  EXPECT_EQ(errors.quantile(0.9), 0.4);
  for (int i = 0; i < 2'000; ++i) errors.add(1);
  EXPECT_EQ(errors.count(), 1'000u);
  EXPECT_EQ(errors.quantile(0), 1);
}

}  // namespace
}  // namespace souk::server
