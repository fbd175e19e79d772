#include "base/budget.h"

#include <gtest/gtest.h>

namespace souk::base {
namespace {

Budget files() { return {"blob-bytes", "of files", BudgetUnit::bytes, {.each = 100, .all = 150}}; }

TEST(Budget, HoldsEachPartyAndAllTogether) {
  auto budget = files();
  EXPECT_TRUE(budget.take("a1", 100));
  const auto own = budget.take("a1", 1);
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, Code::exhausted);
  EXPECT_NE(own.error().message.find("'blob-bytes'"), std::string::npos) << own.error().message;
  EXPECT_TRUE(budget.take("a2", 50));
  const auto all = budget.take("a2", 1);
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().message.find("all accounts"), std::string::npos) << all.error().message;
  EXPECT_EQ(budget.used("a1"), 100U);
  EXPECT_EQ(budget.used_in_all(), 150U);
}

TEST(Budget, WhatIsGivenBackMayBeTakenAgain) {
  auto budget = files();
  ASSERT_TRUE(budget.take("a1", 80));
  budget.give_back("a1", 60);
  EXPECT_TRUE(budget.take("a1", 80));
  budget.give_back("a1", 1'000);  // Never below nothing.
  EXPECT_EQ(budget.used_in_all(), 0U);
}

TEST(Budget, AmountsNearTheEndOfNumbersAreRefused) {
  auto budget = files();
  ASSERT_TRUE(budget.take("a1", 1));
  EXPECT_FALSE(budget.take("a1", ~0ull));
  EXPECT_EQ(budget.used("a1"), 1U);
}

TEST(Budget, AShareGoesBackByItself) {
  auto budget = files();
  {
    auto share = BudgetShare::take(budget, "a1", 70);
    ASSERT_TRUE(share);
    const auto moved = *std::move(share);
    EXPECT_EQ(budget.used("a1"), 70U);
  }
  EXPECT_EQ(budget.used("a1"), 0U);
}

TEST(Budget, IsReadFromText) {
  const BudgetLimit before{.each = 1, .all = 1'000};
  EXPECT_EQ(parse_budget("2G/50G", BudgetUnit::bytes, before),
            (BudgetLimit{2ull << 30, 50ull << 30}));
  EXPECT_EQ(parse_budget("20", BudgetUnit::count, before), (BudgetLimit{20, 1'000}));
  EXPECT_EQ(parse_budget("2000", BudgetUnit::count, before), (BudgetLimit{2'000, 2'000}));
  for (const auto* bad : {"", "x", "-1", "1G/", "99999999999999999999", "9999999999T", "1.5G"})
    EXPECT_FALSE(parse_budget(bad, BudgetUnit::bytes, before)) << bad;
  EXPECT_FALSE(parse_budget("2G", BudgetUnit::count, before));
}

TEST(Budget, AmountsAreWrittenForPeople) {
  EXPECT_EQ(describe_amount(1'234'567, BudgetUnit::count), "1,234,567");
  EXPECT_EQ(describe_amount(999, BudgetUnit::count), "999");
  EXPECT_EQ(describe_amount(1ull << 60, BudgetUnit::bytes), "no limit");
}

TEST(Budget, WhatWasUsedUnaskedOrCountedElsewhereIsHeldAgainstItsUser) {
  Budget budget("things", "things", BudgetUnit::count, {.each = 10, .all = 20});
  budget.charge("a1", 15);
  EXPECT_EQ(budget.used("a1"), 15U);
  EXPECT_FALSE(budget.take("a1", 1));
  EXPECT_FALSE(budget.would_take("a2", 6));
  budget.set_used("a1", 3);
  EXPECT_EQ(budget.used_in_all(), 3U);
  EXPECT_TRUE(budget.take("a1", 7));
  budget.set_used({{"a2", 4}, {"a3", 0}});
  EXPECT_EQ(budget.used("a1"), 0U);
  EXPECT_EQ(budget.used_in_all(), 4U);
  EXPECT_TRUE(budget.take("a1", 10));
}

}  // namespace
}  // namespace souk::base
