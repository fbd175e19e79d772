#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(DelayedNesterov, KnownAnswers) {
  const auto made = rule("delayed-nesterov", {{"eta", 1}, {"momentum", 0.5}}, 2);
  auto p = parameters({10}, *made);
  const struct {
    float change, after;
  } steps[] = {
      {2, 11},      // 2 / 2.
      {4, 14.5F},   // m = 3: 4 / 2 + 0.5 x 3.
      {2, 15.5F},   // 2 / 2.
      {0, 16.75F},  // m = 0.5 x 3 + 1: 0.5 x 2.5.
  };
  for (const auto& step : steps) {
    made->fold(p, std::vector{update({step.change})});
    EXPECT_THAT(values_of(p), ElementsAre(step.after));
  }
  EXPECT_EQ(p.version(), 4);
}

TEST(DelayedNesterov, ARoundFromTheSameParametersIsARoundOfDiloco) {
  const AggregatorParams params{{"eta", 0.7}, {"momentum", 0.9}};
  const auto delayed = rule("delayed-nesterov", params, 4), diloco = rule("diloco", params, 4);
  auto one = parameters(testing::noise(100, 1), *delayed);
  auto other = parameters(testing::noise(100, 1), *diloco);
  for (std::uint64_t round = 1; round <= 5; ++round) {
    std::vector<Update> updates;
    for (std::uint64_t k = 0; k < 4; ++k)
      updates.push_back(update(testing::noise(100, 10 * round + k)));
    delayed->fold(one, updates);
    diloco->fold(other, updates);
  }
  const auto a = values_of(one), b = values_of(other);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4);
}

TEST(DelayedNesterov, GoesOnFromASnapshotAsIfNothingHadHappened) {
  const auto made = rule("delayed-nesterov", {}, 3);
  auto p = parameters(testing::noise(50, 1), *made);
  for (std::uint64_t k = 0; k < 4; ++k) made->fold(p, std::vector{update(testing::noise(50, k))});
  Parameters again(50, 1);
  again.load(p.blocks(), {p.plane_blocks(0)}, p.version());
  for (std::uint64_t k = 4; k < 9; ++k) {
    made->fold(p, std::vector{update(testing::noise(50, k))});
    made->fold(again, std::vector{update(testing::noise(50, k))});
  }
  EXPECT_EQ(values_of(p), values_of(again));
}

}  // namespace
}  // namespace souk::train
