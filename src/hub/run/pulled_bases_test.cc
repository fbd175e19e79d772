#include "hub/run/pulled_bases.h"

#include <gtest/gtest.h>

#include <vector>

namespace souk::hub {
namespace {

using base::LeaseId;

TEST(PulledBases, OnlyWhatAWorkerPulledLastIsItsBase) {
  const LeaseId ann{7}, bob{8};
  PulledBases bases;
  const auto blocks = train::blocks_of(std::vector<float>(3, 1.0f));
  bases.remember(ann, 1, blocks);
  bases.remember(ann, 2, blocks);
  EXPECT_FALSE(bases.find(ann, 1));
  ASSERT_TRUE(bases.find(ann, 2));
  EXPECT_EQ(bases.find(ann, 2)->front(), blocks.front());  // Shared, not copied.
  EXPECT_FALSE(bases.find(bob, 2));
  bases.forget(ann);
  EXPECT_FALSE(bases.find(ann, 2));
}

}  // namespace
}  // namespace souk::hub
