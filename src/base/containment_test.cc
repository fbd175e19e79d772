#include "base/containment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "base/check.h"

namespace souk::base {
namespace {

TEST(ContainmentDeathTest, AFailedCheckEndsWhatIsContainedAndNothingElse) {
  const auto broken = [] { CHECK(1 + 1 == 3); };
  {
    const Containment outer;
    EXPECT_THROW(broken(), ImpossibleState);
    {
      const Containment inner;
      EXPECT_THROW(broken(), ImpossibleState);
    }
    EXPECT_TRUE(Containment::active());
    bool elsewhere = true;
    std::thread([&] { elsewhere = Containment::active(); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(Containment::active());
  EXPECT_DEATH(broken(), "1 \\+ 1 == 3");
}

TEST(Contained, WhatIsThrownBecomesAnErrorAndTheRestGoesThrough) {
  EXPECT_EQ(contained([]() -> Result<int> { return 3; }), 3);
  const auto refused = contained([]() -> Result<int> { return fail(Code::conflict, "no"); });
  EXPECT_EQ(refused.error().message, "no");
  const auto memory = contained([]() -> Result<> { throw std::bad_alloc(); });
  EXPECT_EQ(memory.error().code, Code::exhausted);
  EXPECT_EQ(memory.error().message, "there is not enough memory");
  const auto bug = contained([]() -> Result<> { throw std::out_of_range("at 7"); });
  EXPECT_EQ(bug.error().code, Code::internal);
  EXPECT_THAT(bug.error().message, ::testing::HasSubstr("at 7"));
}

}  // namespace
}  // namespace souk::base
