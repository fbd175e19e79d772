#include "mechanism/sharing/cheapest.h"

#include <gtest/gtest.h>

#include "mechanism/testing/books.h"

namespace souk::mechanism {
namespace {

using namespace base::literals;

TEST(Cheapest, CountsWhatIsLeftUpToAPrice) {
  Cheapest slots({{1_cr, 0, 2}, {3_cr, 1, 4}, {3_cr, 2, 1}, {7_cr, 3, 5}});
  EXPECT_EQ(slots.total(), 12);
  EXPECT_EQ(slots.left_up_to(0_cr), 0);
  EXPECT_EQ(slots.left_up_to(1_cr), 2);
  EXPECT_EQ(slots.left_up_to(3_cr), 7);
  slots.take(3);
  EXPECT_EQ(slots.left_up_to(1_cr), 0);
  EXPECT_EQ(slots.left_up_to(6_cr), 4);
  slots.take(4);
  EXPECT_EQ(slots.left_up_to(6_cr), 0);
  EXPECT_EQ(slots.left_up_to(7_cr), 5);
  slots.take(5);
  EXPECT_EQ(slots.taken(), 12);
  EXPECT_EQ(slots.left_up_to(100_cr), 0);
}

TEST(Cheapest, AnEmptySideHasNothing) {
  Cheapest slots({});
  EXPECT_EQ(slots.total(), 0);
  EXPECT_EQ(slots.left_up_to(100_cr), 0);
}

TEST(CheapestDeathTest, NeverInventsSlots) {
  Cheapest slots({{1_cr, 0, 2}});
  EXPECT_DEATH(slots.take(3), "CHECK");
}

}  // namespace
}  // namespace souk::mechanism
