#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/mechanism.h"

namespace souk::mechanism {
namespace {

using ::testing::HasSubstr;
using namespace base::literals;

// Bid 11 wants 3 to 4 units at up to 9, bid 12 one at up to 7; ask 21 has 3 at 2, ask 22 two at 5.
const Book kBook{{{11, 9_cr, 4, 3}, {12, 7_cr}}, {{21, 2_cr, 3}, {22, 5_cr, 2}}, {}};

TEST(Verify, AcceptsEveryLegalOutcome) {
  const Outcome legal[] = {
      {},
      {{{0, 0, 3, 9_cr, 2_cr}}, {}},
      {{{0, 0, 3, 6_cr, 6_cr}, {0, 1, 1, 6_cr, 6_cr}, {1, 1, 1, 6_cr, 6_cr}}, 6_cr},
      {{{1, 0, 1, 7_cr, 2_cr}}, {}},
  };
  for (const auto& outcome : legal) EXPECT_TRUE(verify(kBook, outcome));
}

TEST(Verify, RefusesEveryOutcomeThatWouldCheatSomebody) {
  const struct {
    const char* says;
    std::vector<Trade> trades;
  } cases[] = {
      {"names bid 2 of 2", {{2, 0, 1, 6_cr, 6_cr}}},
      {"names ask 2 of 2", {{1, 2, 1, 6_cr, 6_cr}}},
      {"is of 0 units", {{1, 0, 0, 6_cr, 6_cr}}},
      {"is of -1 units", {{1, 0, -1, 6_cr, 6_cr}}},
      {"bid 12 pays 7.000001 with a limit of 7", {{1, 0, 1, 7.000001_cr, 6_cr}}},
      {"ask 22 gets 4.999999 with a reserve of 5", {{1, 1, 1, 6_cr, 4.999999_cr}}},
      {"bid 12 for 1 units gets 2", {{1, 0, 2, 6_cr, 6_cr}}},
      {"bid 11 gets 2 units of a gang of 3", {{0, 0, 2, 6_cr, 6_cr}}},
      {"ask 21 of 3 units sells 4", {{0, 0, 3, 6_cr, 6_cr}, {1, 0, 1, 6_cr, 6_cr}}},
      {"trade 1 (bid 0, ask 0) is out of order", {{1, 1, 1, 6_cr, 6_cr}, {0, 0, 3, 6_cr, 6_cr}}},
      {"trade 1 (bid 0, ask 0) is out of order or repeated",
       {{0, 0, 2, 6_cr, 6_cr}, {0, 0, 1, 6_cr, 6_cr}}},
  };
  for (const auto& c : cases) {
    const auto result = verify(kBook, {c.trades, {}});
    ASSERT_FALSE(result) << c.says;
    EXPECT_THAT(result.error().message, HasSubstr(c.says));
  }
}

}  // namespace
}  // namespace souk::mechanism
