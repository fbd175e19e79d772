#include "train/bench_fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::train {
namespace {

// Each look at it takes a millisecond.
class Ticking final : public base::Clock {
 public:
  base::Time now() const override { return base::Time(us_ += 1000); }

 private:
  mutable std::int64_t us_ = 0;
};

TEST(BenchFold, GivesARowForEveryRuleAndCodecThatGoTogether) {
  const auto rows = bench_fold({.floats = 1000, .budget = base::seconds(1)}, Ticking());
  ASSERT_TRUE(rows);
  // 5 rules of arity 1 take changes (5 codecs, two rows each), 3 weights (3 codecs), 8 wait (5).
  EXPECT_EQ(rows->size(), 5 * 5 * 2 + 3 * 3 * 2 + 9 * 5);
  for (const auto& row : *rows) {
    EXPECT_GE(row.samples, 3) << row.rule;
    // Both sides take one tick; a fold's is shared among its updates.
    EXPECT_DOUBLE_EQ(row.ratio, static_cast<double>(row.at_once)) << row.rule;
    EXPECT_EQ(row.baseline_us, 1000);
  }
}

TEST(BenchFold, KeepsToItsMemory) {
  const auto rows = bench_fold({.floats = 1000,
                                .budget = base::milliseconds(1),
                                .rules = {"fedbuff"},
                                .codecs = {"fp32"},
                                .most_bytes = 12'000},
                               Ticking());
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1);
  EXPECT_EQ(rows->front().at_once, 2);
}

TEST(BenchFold, RefusesNamesItDoesNotKnow) {
  EXPECT_FALSE(bench_fold({.floats = 10, .rules = {"fedbuf"}}, Ticking()));
  EXPECT_FALSE(bench_fold({.floats = 10, .codecs = {"fp31"}}, Ticking()));
}

}  // namespace
}  // namespace souk::train
