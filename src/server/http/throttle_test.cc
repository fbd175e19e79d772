#include "server/http/throttle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "server/testing/stack.h"

namespace souk::server {
namespace {

using testing::ObedientClock;

constexpr auto kOwnerAddress = "198.51.100.1", kStrangerAddress = "203.0.113.9";

TEST(PasswordGuard, AStrangersGuessesDoNotLockTheOwnerOut) {
  ObedientClock clock;
  PasswordGuard guard(clock);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(guard.refuse("ann", kStrangerAddress));
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(guard.refuse("ann", kStrangerAddress));
  EXPECT_FALSE(guard.refuse("ann", kOwnerAddress));
  clock.move(base::seconds(6));
  EXPECT_FALSE(guard.refuse("ann", kStrangerAddress));
  EXPECT_TRUE(guard.refuse("ann", kStrangerAddress));
}

TEST(PasswordGuard, ARightPasswordCostsNothing) {
  ObedientClock clock;
  PasswordGuard guard(clock);
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_FALSE(guard.refuse("ann", kOwnerAddress)) << i;
    guard.was_right("ann", kOwnerAddress);
  }
}

TEST(PasswordGuard, OneAddressCannotTryOnePasswordOnEveryName) {
  ObedientClock clock;
  PasswordGuard guard(clock);
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(guard.refuse(fmt::format("user{}", i), kStrangerAddress));
  EXPECT_TRUE(guard.refuse("one more", kStrangerAddress));
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
  EXPECT_FALSE(guard.refuse("ann", kOwnerAddress));
  guard.was_right("ann", kOwnerAddress);
  EXPECT_FALSE(guard.refuse("ann", kOwnerAddress));
  EXPECT_TRUE(guard.refuse("ann", kOwnerAddress)) << "one wrong password, while thousands guess";
  clock.move(base::minutes(10));
  EXPECT_FALSE(guard.refuse("ann", kOwnerAddress));
}

}  // namespace
}  // namespace souk::server
