#include <limits>

#include "train/testing/known_answers.h"

namespace souk::train {
namespace {

TEST(NormClip, KnownAnswers) {
  const auto made = rule("norm-clip");
  auto p = parameters({0, 0}, *made);
  const auto bad = std::numeric_limits<float>::quiet_NaN();
  const struct {
    std::vector<float> change, after;
  } steps[] = {
      {{0, 0}, {0, 0}},     // Says nothing of what is usual.
      {{3, 4}, {3, 4}},     // The first is usual.
      {{30, 40}, {9, 12}},  // 50 is clipped to 10, and 5.5 is usual then.
      {{bad, 1}, {9, 12}}, {{30, 40}, {15.6F, 20.8F}},  // Clipped to 11.
  };
  for (const auto& step : steps) {
    made->fold(p, std::vector{update(step.change)});
    EXPECT_THAT(values_of(p), ElementsAre(FloatEq(step.after[0]), FloatEq(step.after[1])));
  }
}

TEST(NormClip, ANormThatIsKnownIsBelieved) {
  const auto made = rule("norm-clip");
  auto p = parameters({0}, *made);
  auto first = update({5}), second = update({5});
  first.norm = 1;
  second.norm = 4;  // Twice what is accepted.
  made->fold(p, std::vector{first, second});
  EXPECT_THAT(values_of(p), ElementsAre(7.5F));
}

}  // namespace
}  // namespace souk::train
