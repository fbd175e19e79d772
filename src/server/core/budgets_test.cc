#include "server/core/budgets.h"

#include <gtest/gtest.h>

#include <set>

namespace souk::server {
namespace {

TEST(Budgets, AreSetByName) {
  Budgets budgets;
  ASSERT_TRUE(budgets.set({"blob-bytes=1G/2G", "live-jobs=7"}));
  EXPECT_EQ(budgets.blob_bytes.limit(), (base::BudgetLimit{1ull << 30, 2ull << 30}));
  EXPECT_EQ(budgets.live_jobs.limit().each, 7U);
}

TEST(Budgets, OneWrongLimitChangesNone) {
  Budgets budgets;
  const auto before = budgets.live_jobs.limit();
  for (const auto* wrong : {"blobs=1", "blob-bytes", "blob-bytes=much", "=1", ""}) {
    const auto set = budgets.set({"live-jobs=7", wrong});
    ASSERT_FALSE(set) << wrong;
    EXPECT_FALSE(set.error().hint.empty()) << wrong;
    EXPECT_EQ(budgets.live_jobs.limit(), before) << wrong;
  }
}

TEST(Budgets, AllAreListedOnce) {
  const Budgets budgets;
  std::set<std::string> names;
  for (const auto* budget : budgets.all) {
    EXPECT_TRUE(names.insert(budget->name()).second) << budget->name();
    EXPECT_LE(budget->limit().each, budget->limit().all) << budget->name();
  }
}

TEST(Budgets, ADayBeginsWithNothingUsed) {
  DailyBudget budget("journal-bytes", "of the journal a day", base::BudgetUnit::bytes,
                     {.each = 100, .all = 1000});
  const base::Time monday(1'767'571'200'000'000);
  budget.charge("a1", monday, 150);
  EXPECT_FALSE(budget.would_take("a1", monday + base::hours(23), 1));
  EXPECT_TRUE(budget.would_take("a2", monday + base::hours(23), 1));
  EXPECT_TRUE(budget.would_take("a1", monday + base::hours(24), 1));
  EXPECT_EQ(budget.used_in_all(), 0U);
}

}  // namespace
}  // namespace souk::server
