#include <algorithm>
#include <limits>

#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(TrimmedMean, KnownAnswers) {
  const auto made = rule("trimmed-mean");
  EXPECT_THAT(
      folded(*made, {0, 1},
             {update({4, 0}), update({1000, 0}), update({1, 5}), update({3, 0}), update({2, 0})}),
      ElementsAre(3, 1));
  EXPECT_THAT(folded(*rule("trimmed-mean", {{"trim", 0.4}}), {0},
                     {update({4}), update({1000}), update({1}), update({-3}), update({2})}),
              ElementsAre(2));
  EXPECT_THAT(folded(*made, {0}, {update({3}), update({4})}), ElementsAre(3.5F))
      << "nothing to trim";
  EXPECT_THAT(folded(*made, {0}, {update({3})}), ElementsAre(3));
}

TEST(TrimmedMean, InfinitiesAndWhatIsNoNumberDoNoHarm) {
  const auto bad = std::numeric_limits<float>::quiet_NaN();
  const auto most = std::numeric_limits<float>::infinity();
  EXPECT_THAT(folded(*rule("trimmed-mean"), {0},
                     {update({bad}), update({1}), update({2}), update({3}), update({most})}),
              ElementsAre(2));
}

TEST(TrimmedMean, EveryNumberOfAModelIsSortedOnItsOwn) {
  constexpr std::size_t kSize = kChunk + 77;
  std::vector<Update> updates;
  std::vector<std::vector<float>> all;
  for (std::uint64_t k = 0; k < 9; ++k) {
    all.push_back(testing::noise(kSize, k));
    updates.push_back(update(all.back()));
  }
  const auto out =
      folded(*rule("trimmed-mean", {{"buffer", 9}}), std::vector<float>(kSize), updates);
  for (std::size_t i = 0; i < kSize; ++i) {
    std::vector<float> column;
    for (const auto& values : all) column.push_back(values[i]);
    std::ranges::sort(column);
    ASSERT_NEAR(out[i], (column[2] + column[3] + column[4] + column[5] + column[6]) / 5, 1e-6) << i;
  }
}

}  // namespace
}  // namespace souk::train
