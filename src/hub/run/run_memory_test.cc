#include "hub/run/run_memory.h"

#include <gtest/gtest.h>

namespace souk::hub {
namespace {

using base::Budget;
using base::Code;

constexpr std::uint64_t kMiB = 1 << 20;

TEST(RunMemory, AModelIsHeldInAllItsCopiesAndGivenBack) {
  Budget budget("training-bytes", "of memory for trainings", base::BudgetUnit::bytes,
                {.each = 10 * kMiB, .all = 16 * kMiB});
  {
    RunMemory memory(&budget, "a1", {.planes = 1, .arity = 4});
    const auto most = memory.most_floats(std::size_t{1} << 30);
    EXPECT_EQ(most, 10 * kMiB / 4 / (2 * 2 + 2 + 4 + 2));
    EXPECT_TRUE(memory.hold_model(most));
    EXPECT_GT(budget.used("a1"), 9 * kMiB);
    EXPECT_TRUE(memory.hold_model(most / 2));  // Instead, not as well.
    EXPECT_LT(budget.used("a1"), 6 * kMiB);
    RunMemory other(&budget, "a1", {});
    EXPECT_EQ(other.hold_model(kMiB).error().code, Code::exhausted);
  }
  EXPECT_EQ(budget.used_in_all(), 0u);
}

TEST(RunMemory, AnUpdateThatFindsNoRoomWaitsForOthersToLeave) {
  Budget budget("training-bytes", "of memory for trainings", base::BudgetUnit::bytes,
                {.each = 4 * kMiB, .all = 4 * kMiB});
  RunMemory memory(&budget, "a1", {});
  EXPECT_TRUE(memory.arrive(3 * kMiB));
  const auto refused = memory.arrive(2 * kMiB);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_NE(refused.error().message.find("training-bytes"), std::string::npos);
  memory.leave(3 * kMiB);
  EXPECT_TRUE(memory.arrive(2 * kMiB));
}

TEST(RunMemory, ALargeModelTakesLittleMoreThanItself) {
  Budget budget("training-bytes", "of memory for trainings", base::BudgetUnit::bytes,
                {.each = 10'000 * kMiB, .all = 10'000 * kMiB});
  constexpr std::size_t floats = 1'000'000'000;
  RunMemory memory(&budget, "a1", {}, 64 * kMiB);
  EXPECT_GE(memory.most_floats(std::size_t{1} << 34), floats);
  EXPECT_TRUE(memory.hold_model(floats));
  EXPECT_LE(budget.used("a1"), 22 * floats * sizeof(float) / 10);
  RunMemory planes(&budget, "a2", {.planes = 2}, 64 * kMiB);
  EXPECT_FALSE(planes.hold_model(floats)) << "as much again for each plane";
  RunMemory small(&budget, "a2", {}, 64 * kMiB);
  EXPECT_TRUE(small.hold_model(16 * kMiB / sizeof(float)));
  EXPECT_GE(budget.used("a2"), 5 * 16 * kMiB) << "a small one stays in memory with all its copies";
}

TEST(RunMemory, WithoutABudgetNothingIsCounted) {
  RunMemory memory(nullptr, "", {});
  EXPECT_EQ(memory.most_floats(123), 123u);
  EXPECT_TRUE(memory.hold_model(std::size_t{1} << 40));
  EXPECT_TRUE(memory.arrive(std::size_t{1} << 40));
}

}  // namespace
}  // namespace souk::hub
