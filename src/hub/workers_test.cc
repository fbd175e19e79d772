#include "hub/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "base/testing/servers.h"

namespace souk::hub {
namespace {

using base::testing::wait_for;

TEST(Workers, GrowWhileWorkWaitsAndShrinkWhenItDoesNot) {
  std::latch gate(1);  // Outlives those who wait at it.
  std::atomic<int> done = 0;
  Workers workers({.least = 1,
                   .most = 3,
                   .wait = base::milliseconds(1),
                   .idle = base::milliseconds(1),
                   .most_queued = 10});
  EXPECT_EQ(workers.running(), 1);
  for (int i = 0; i < 6; ++i)
    EXPECT_TRUE(workers.post([&] {
      gate.wait();
      ++done;
    }));
  EXPECT_TRUE(wait_for([&] { return workers.running() == 3; }));
  gate.count_down();
  EXPECT_TRUE(wait_for([&] { return done == 6; }));
  EXPECT_TRUE(wait_for([&] { return workers.running() == 1; }));
}

TEST(Workers, RefuseMoreThanMayWait) {
  std::latch gate(1), begun(1);  // Outlive those who wait at them.
  Workers workers({.least = 1, .most = 1, .most_queued = 2, .most_queued_bytes = 100});
  EXPECT_TRUE(workers.post([&] {
    begun.count_down();
    gate.wait();
  }));
  begun.wait();
  EXPECT_FALSE(workers.post([] {}, 101));
  EXPECT_TRUE(workers.post([] {}, 100));
  EXPECT_TRUE(workers.post([] {}));
  EXPECT_FALSE(workers.post([] {}));
  gate.count_down();
}

}  // namespace
}  // namespace souk::hub
