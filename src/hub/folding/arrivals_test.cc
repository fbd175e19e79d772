#include "hub/folding/arrivals.h"

#include <gtest/gtest.h>

namespace souk::hub {
namespace {

using base::Code;
using base::LeaseId;

constexpr LeaseId kAnn{7}, kBob{8};
constexpr std::size_t kMost = 100;

TEST(Arrivals, PiecesMayArriveTwiceAndMakeOneUpdate) {
  RunMemory memory(nullptr, "", {});
  Arrivals arrivals(memory);
  EXPECT_EQ(*arrivals.add(kAnn, 1, 0, "abc", kMost), 3);
  EXPECT_EQ(*arrivals.add(kAnn, 1, 0, "abc", kMost), 3);
  EXPECT_EQ(*arrivals.add(kAnn, 1, 2, "cde", kMost), 5);
  EXPECT_EQ(*arrivals.add(kBob, 2, 0, "x", kMost), 1);
  EXPECT_EQ(arrivals.bytes(), 6);
  EXPECT_EQ(arrivals.take(kAnn, 1), "abcde");
  EXPECT_EQ(arrivals.take(kAnn, 1), "");
  EXPECT_EQ(arrivals.take(kBob, 2), "x");
}

TEST(Arrivals, GapsAndWhatIsTooLargeAreRefused) {
  RunMemory memory(nullptr, "", {});
  Arrivals arrivals(memory);
  EXPECT_EQ(arrivals.add(kAnn, 1, 1, "a", kMost).error().code, Code::conflict);
  EXPECT_EQ(arrivals.add(kAnn, 1, -1, "a", kMost).error().code, Code::conflict);
  EXPECT_EQ(*arrivals.add(kAnn, 1, 0, std::string(kMost, 'a'), kMost), std::int64_t{kMost});
  EXPECT_EQ(arrivals.add(kAnn, 1, kMost, "a", kMost).error().code, Code::too_large);
  const std::string huge((8 << 20) + 1, 'a');
  EXPECT_EQ(arrivals.add(kAnn, 2, 0, huge, huge.size()).error().code, Code::too_large);
}

TEST(Arrivals, AWorkerHasOneUpdateUnderWay) {
  RunMemory memory(nullptr, "", {});
  Arrivals arrivals(memory);
  EXPECT_TRUE(arrivals.add(kAnn, 1, 0, "old", kMost));
  EXPECT_TRUE(arrivals.add(kAnn, 2, 0, "new", kMost));
  EXPECT_EQ(arrivals.take(kAnn, 1), "");
  EXPECT_EQ(arrivals.add(kAnn, 1, 0, "old", kMost).error().code, Code::conflict);
  arrivals.forget(kAnn);
  EXPECT_EQ(arrivals.take(kAnn, 2), "");
}

}  // namespace
}  // namespace souk::hub
