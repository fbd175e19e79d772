#include "hub/folding/arrivals.h"

#include <gtest/gtest.h>

#include "hub/testing/names.h"

namespace souk::hub {
namespace {

using base::Code;
using base::LeaseId;
using testing::kAnn;
using testing::kBob;
using testing::kNow;

constexpr std::size_t kMost = 100;

std::string taken(Arrivals& arrivals, LeaseId worker, std::int64_t unit) {
  return std::string((*arrivals.take(worker, unit))->bytes());
}

TEST(Arrivals, PiecesMayArriveTwiceAndMakeOneUpdate) {
  RunMemory memory(nullptr, "", {});
  Arrivals arrivals(memory);
  EXPECT_EQ(*arrivals.add(kAnn, 1, 0, "abc", kMost, kNow), 3);
  EXPECT_EQ(*arrivals.add(kAnn, 1, 0, "abc", kMost, kNow), 3);
  EXPECT_EQ(*arrivals.add(kAnn, 1, 2, "cde", kMost, kNow), 5);
  EXPECT_EQ(*arrivals.add(kBob, 2, 0, "x", kMost, kNow), 1);
  EXPECT_EQ(arrivals.bytes(), 6);
  EXPECT_EQ(taken(arrivals, kAnn, 1), "abcde");
  EXPECT_EQ(taken(arrivals, kAnn, 1), "");
  EXPECT_EQ(taken(arrivals, kBob, 2), "x");
}

TEST(Arrivals, GapsAndWhatIsTooLargeAreRefused) {
  RunMemory memory(nullptr, "", {});
  Arrivals arrivals(memory);
  EXPECT_EQ(arrivals.add(kAnn, 1, 1, "a", kMost, kNow).error().code, Code::conflict);
  EXPECT_EQ(arrivals.add(kAnn, 1, -1, "a", kMost, kNow).error().code, Code::conflict);
  EXPECT_EQ(*arrivals.add(kAnn, 1, 0, std::string(kMost, 'a'), kMost, kNow), std::int64_t{kMost});
  EXPECT_EQ(arrivals.add(kAnn, 1, kMost, "a", kMost, kNow).error().code, Code::too_large);
  const std::string huge((8 << 20) + 1, 'a');
  EXPECT_EQ(arrivals.add(kAnn, 2, 0, huge, huge.size(), kNow).error().code, Code::too_large);
}

TEST(Arrivals, AWorkerHasOneUpdateUnderWay) {
  RunMemory memory(nullptr, "", {});
  Arrivals arrivals(memory);
  EXPECT_TRUE(arrivals.add(kAnn, 1, 0, "old", kMost, kNow));
  EXPECT_TRUE(arrivals.add(kAnn, 2, 0, "new", kMost, kNow));
  EXPECT_EQ(taken(arrivals, kAnn, 1), "");
  EXPECT_EQ(arrivals.add(kAnn, 1, 0, "old", kMost, kNow).error().code, Code::conflict);
  arrivals.forget(kAnn);
  EXPECT_EQ(taken(arrivals, kAnn, 2), "");
}

TEST(Arrivals, WhoeverNeverEndsAnUpdateHoldsMemoryForAWhileOnly) {
  base::Budget budget("training-bytes", "of memory for trainings", base::BudgetUnit::bytes,
                      {.each = 10, .all = 10});
  RunMemory memory(&budget, "a1", {});
  Arrivals arrivals(memory);
  ASSERT_TRUE(arrivals.add(kAnn, 1, 0, "12345678", kMost, kNow));
  const auto later = kNow + Arrivals::kForgottenAfter;
  EXPECT_EQ(arrivals.add(kBob, 2, 0, "123", kMost, later).error().code, Code::unavailable);
  EXPECT_TRUE(arrivals.add(kBob, 2, 0, "123", kMost, later + base::minutes(1)));
  EXPECT_EQ(budget.used("a1"), 3U);
  EXPECT_EQ(taken(arrivals, kAnn, 1), "");
  // It begins again.
  EXPECT_EQ(arrivals.add(kAnn, 1, 8, "9", kMost, later + base::minutes(1)).error().code,
            Code::conflict);
  EXPECT_TRUE(arrivals.add(kAnn, 1, 0, "1", kMost, later + base::minutes(1)));
}

}  // namespace
}  // namespace souk::hub
