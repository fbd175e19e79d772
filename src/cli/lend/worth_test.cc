#include "cli/lend/worth.h"

#include <gtest/gtest.h>

namespace souk::cli {
namespace {

TEST(Worth, IsSaidForTheBestClassOrForTheOneThatIsLent) {
  wire::Earnings earnings{{{.class_ = "g1", .slots = 1},
                           {.class_ = "c1", .slots = 4, .price = base::Credits(100'000)}}};
  earnings.items[0].week = {base::Credits(3'214'999), base::Credits(1'000'000),
                            base::Credits(5'400'000)};
  EXPECT_EQ(worth_text(earnings), "about 3.21 credits a week (1 to 5.4) as 1 x g1");
  EXPECT_EQ(worth_text(earnings, "c1"),
            "no estimate yet: it needs an hour of trading; 4 x c1 always leased: 67.2 a week");
  EXPECT_EQ(worth_text(earnings, "c9"), std::nullopt);
  EXPECT_EQ(worth_text({}), std::nullopt);
  EXPECT_EQ(earnings_path({4, 8192, 1, 24576}),
            "/v1/earnings?cores=4&memory_mib=8192&gpus=1&gpu_memory_mib=24576");
}

}  // namespace
}  // namespace souk::cli
