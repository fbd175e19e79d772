#include "server/http/throttle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "server/testing/stack.h"

namespace souk::server {
namespace {

using testing::ObedientClock;

constexpr auto kOwner = "198.51.100.1", kStranger = "203.0.113.9";

TEST(PasswordGuard, AStrangersGuessesDoNotLockTheOwnerOut) {
  ObedientClock clock;
  PasswordGuard guard(clock);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(guard.refuse("ann", kStranger));
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(guard.refuse("ann", kStranger));
  EXPECT_FALSE(guard.refuse("ann", kOwner));
  clock.move(base::seconds(6));
  EXPECT_FALSE(guard.refuse("ann", kStranger));
  EXPECT_TRUE(guard.refuse("ann", kStranger));
}

TEST(PasswordGuard, ARightPasswordCostsNothing) {
  ObedientClock clock;
  PasswordGuard guard(clock);
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_FALSE(guard.refuse("ann", kOwner)) << i;
    guard.was_right("ann", kOwner);
  }
}

TEST(PasswordGuard, OneAddressCannotTryOnePasswordOnEveryName) {
  ObedientClock clock;
  PasswordGuard guard(clock);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(guard.refuse(fmt::format("user{}", i), kStranger));
  EXPECT_TRUE(guard.refuse("one more", kStranger));
}

TEST(PasswordGuard, ManyAddressesGetOneGuessEachAndTheOwnerStillGetsIn) {
  ObedientClock clock;
  PasswordGuard guard(clock);
  int guesses = 0;
  for (int address = 0; address < 2'000; ++address)
    for (int i = 0; i < 10; ++i)
      guesses +=
          guard.refuse("ann", fmt::format("10.0.{}.{}", address / 250, address % 250)) ? 0 : 1;
  EXPECT_EQ(guesses, 1'000 + 1'900) << "the first 100 addresses took what all have together";
  EXPECT_FALSE(guard.refuse("ann", kOwner));
  guard.was_right("ann", kOwner);
  EXPECT_FALSE(guard.refuse("ann", kOwner));
  EXPECT_TRUE(guard.refuse("ann", kOwner)) << "one wrong password, while thousands guess";
  clock.move(base::minutes(10));
  EXPECT_FALSE(guard.refuse("ann", kOwner));
}

}  // namespace
}  // namespace souk::server
