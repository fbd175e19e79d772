#include "hub/run/verdicts.h"

#include <gtest/gtest.h>

namespace souk::hub {
namespace {

using base::LeaseId;

TEST(Verdicts, TheFirstIsFoundAgainByItsWorkerOnly) {
  Verdicts verdicts;
  verdicts.add(LeaseId(7), 1, {false, "it is odd"});
  ASSERT_NE(verdicts.find(LeaseId(7), 1), nullptr);
  EXPECT_EQ(verdicts.find(LeaseId(7), 1)->reason, "it is odd");
  EXPECT_EQ(verdicts.find(LeaseId(8), 1), nullptr);
  EXPECT_EQ(verdicts.find(LeaseId(7), 2), nullptr);
}

TEST(Verdicts, TheOldestIsForgottenFirst) {
  Verdicts verdicts(3);
  for (std::int64_t unit = 1; unit <= 5; ++unit) verdicts.add(LeaseId(7), unit, {true, ""});
  EXPECT_EQ(verdicts.find(LeaseId(7), 2), nullptr);
  for (std::int64_t unit = 3; unit <= 5; ++unit)
    EXPECT_NE(verdicts.find(LeaseId(7), unit), nullptr) << unit;
}

}  // namespace
}  // namespace souk::hub
