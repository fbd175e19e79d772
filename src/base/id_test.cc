#include "base/id.h"

#include <gtest/gtest.h>

#include <limits>

namespace souk::base {
namespace {

TEST(Id, IsReadBackOnlyAsItIsWritten) {
  const auto parse = [](std::string_view text) { return IdTraits<JobId>::parse(text); };
  EXPECT_EQ(to_string(JobId(17)), "j17");
  EXPECT_EQ(parse("j17"), JobId(17));
  const JobId most(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse(to_string(most)), most);
  for (const auto* text : {"", "j", "17", "a17", "J17", "j0", "j017", "j-1", "j+1", "j1 ", " j1",
                           "j1x", "j18446744073709551616"})
    EXPECT_EQ(parse(text), std::nullopt) << text;
}

TEST(Id, ZeroNamesNothing) {
  EXPECT_FALSE(JobId());
  EXPECT_TRUE(JobId(1));
  EXPECT_LT(JobId(9), JobId(10));
}

TEST(Id, KindsCannotBeMixedUp) {
  static_assert(!std::is_convertible_v<std::uint64_t, JobId>);
  static_assert(!std::is_convertible_v<JobId, LeaseId>);
  static_assert(!std::is_constructible_v<JobId, LeaseId>);
  EXPECT_EQ(IdTraits<HoldId>::noun, "hold");
}

}  // namespace
}  // namespace souk::base
