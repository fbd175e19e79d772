#include <gtest/gtest.h>

#include <limits>

#include "train/testing/updates.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

using testing::noise;
using testing::update;

TEST(Replication, TheLongerAWorkerIsRightTheLessItIsChecked) {
  const Replication replication(0.2, 10);
  const struct {
    std::int64_t valid;
    double share;
  } cases[] = {{0, 0.2}, {9, 0.2}, {10, 0.1}, {100, 0.01}};
  for (const auto& c : cases) {
    base::Random random(1);
    int checked = 0;
    for (int i = 0; i < 100'000; ++i) checked += replication.check(c.valid, random) ? 1 : 0;
    EXPECT_NEAR(checked / 1e5, c.share, 0.005) << c.valid;
  }
  base::Random random(1);
  EXPECT_FALSE(Replication(0, 0).check(0, random));
  EXPECT_TRUE(Replication(1, 1).check(0, random));
  EXPECT_FALSE(Replication(0.1, 3).check(1'000'000'000, random));
}

TEST(Replication, AnswersThatDifferByRoundingAgreeAndOthersDoNot) {
  const auto values = noise(9000, 1);
  auto rounded = values, opposite = values, spoilt = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    rounded[i] += 0.01F * noise(1, i)[0];
    opposite[i] = -values[i];
  }
  spoilt[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(Replication::agree(update(values), update(values)));
  EXPECT_TRUE(Replication::agree(update(values), update(rounded)));
  EXPECT_FALSE(Replication::agree(update(values), update(opposite)));
  EXPECT_FALSE(Replication::agree(update(values), update(noise(9000, 2))));
  EXPECT_FALSE(Replication::agree(update(values), update(std::vector<float>(9000))));
  EXPECT_FALSE(Replication::agree(update(spoilt), update(spoilt)));
  EXPECT_TRUE(Replication::agree(update(std::vector<float>(5)), update(std::vector<float>(5))));
}

TEST(Replication, AnswersSentAsInt8StillAgree) {
  const auto codec = *make_codec("int8");
  const auto values = noise(9000, 1);
  const auto lossy = *Update::read(pack(values, *codec, {}), *codec, values.size());
  EXPECT_TRUE(Replication::agree(update(values), lossy));
}

}  // namespace
}  // namespace souk::train
