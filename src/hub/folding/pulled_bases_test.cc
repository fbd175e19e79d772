#include "hub/folding/pulled_bases.h"

#include <gtest/gtest.h>

#include <vector>

namespace souk::hub {
namespace {

using base::LeaseId;

TEST(PulledBases, OnlyTheTwoThatAWorkerPulledLastAreItsBases) {
  const LeaseId ann{7}, bob{8};
  PulledBases bases;
  const auto blocks = train::blocks_of(std::vector<float>(3, 1.0f));
  bases.remember(ann, {blocks, {}, 1});
  bases.remember(ann, {blocks, {}, 2});
  bases.remember(ann, {blocks, {}, 2});
  EXPECT_TRUE(bases.find(ann, 1));
  bases.remember(ann, {blocks, {}, 3});
  EXPECT_FALSE(bases.find(ann, 1));
  EXPECT_TRUE(bases.find(ann, 3));
  ASSERT_TRUE(bases.find(ann, 2));
  EXPECT_EQ(bases.find(ann, 2)->blocks.front(), blocks.front());  // Shared, not copied.
  EXPECT_FALSE(bases.find(bob, 2));
  bases.forget(ann);
  EXPECT_FALSE(bases.find(ann, 2));
}

}  // namespace
}  // namespace souk::hub
