#include "train/scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "train/testing/updates.h"

namespace souk::train {
namespace {

// Ten workers whose updates lower the loss by a hundredth a step, more or less.
struct Crowd {
  base::Random random{1};
  Scores scores{0.1};
  double level = -0.01, noise = 0.3;

  Score honest(std::int64_t worker) {
    const auto rise = level * (1 + noise * testing::normal(random));
    return {.worker = worker, .steps = 4, .before = 2, .after = 2 + 2 * 4 * rise};
  }
  void learn(int units) {
    for (int i = 0; i < units; ++i) scores.note(honest(i % 10), false);
  }
};

TEST(Scores, NobodyIsJudgedBeforeOthersWereScored) {
  Crowd crowd;
  EXPECT_EQ(crowd.scores.judge({1, 4, 2, 9}), "");
  for (std::size_t i = 0; i < Scores::kEnoughScores; ++i) crowd.scores.note(crowd.honest(1), false);
  EXPECT_EQ(crowd.scores.judge({1, 4, 2, 9}), "");  // All of them are its own.
  EXPECT_NE(crowd.scores.judge({2, 4, 2, 9}), "");
}

TEST(Scores, AnUpdateTurnedRoundIsRefusedWithItsNumbers) {
  Crowd crowd;
  crowd.noise = 0.1;
  crowd.learn(64);
  const auto why = crowd.scores.judge({3, 4, 2, 2.08});
  EXPECT_NE(why.find("from 2 to 2.08"), std::string::npos) << why;
  EXPECT_EQ(crowd.scores.judge({3, 4, 2, 1.92}), "");
  // A part of a unit lowers it by less, and is as good.
  EXPECT_EQ(crowd.scores.judge({3, 1, 2, 1.98}), "");
}

TEST(Scores, WithItALossThatIsNoNumberIsRefusedAtOnce) {
  const Scores scores(0.1);
  EXPECT_NE(scores.judge({1, 1, 2, std::nan("")}), "");
  EXPECT_NE(scores.judge({1, 1, 2, std::numeric_limits<double>::infinity()}), "");
}

// As training goes on updates lower the loss less, until many of them raise it a little.
TEST(Scores, HonestWorkersAreNotRefusedWhateverTheStageOfTraining) {
  Crowd crowd;
  int refused = 0;
  constexpr int kUnits = 20'000;
  for (int i = 0; i < kUnits; ++i) {
    const auto left = std::pow(0.001, static_cast<double>(i) / kUnits);
    const auto rise = 0.01 * (-left + 0.01 + 0.1 * testing::normal(crowd.random));
    const Score score{i % 10, 4, 2, 2 + 8 * rise};
    const bool bad = !crowd.scores.judge(score).empty();
    refused += bad ? 1 : 0;
    crowd.scores.note(score, bad);
  }
  EXPECT_LT(refused, kUnits / 1000);
}

TEST(Scores, ASuspectIsScoredEachTimeUntilItWasRightAgain) {
  Crowd crowd;
  crowd.learn(64);
  const auto scored = [&](std::int64_t worker) {
    int out = 0;
    for (int i = 0; i < 1000; ++i) out += crowd.scores.choose(worker, 1000, crowd.random) ? 1 : 0;
    return out;
  };
  EXPECT_LT(scored(3), 10);  // One in a thousand.
  crowd.scores.note({3, 4, 2, 3}, true);
  EXPECT_EQ(scored(3), 1000);
  EXPECT_LT(scored(4), 10);
  for (int i = 0; i < 3; ++i) crowd.scores.note(crowd.honest(3), false);
  EXPECT_LT(scored(3), 10);
}

TEST(Scores, WhatIsMeasuredIsTheUpdateInItsWorkersShare) {
  const std::vector<float> now{1, 2, 3};
  auto p = testing::parameters(now, *testing::rule("mean"));
  auto change = testing::update({4, 0, -4});
  change.at_work = 4;
  std::vector<float> out(3);
  copy_out(with_update(take(p), change, Sends::delta).blocks, out);
  EXPECT_EQ(out, (std::vector<float>{2, 2, 2}));
  copy_out(with_update(take(p), change, Sends::weights).blocks, out);
  EXPECT_EQ(out, (std::vector<float>{1.75, 1.5, 1.25}));
  EXPECT_EQ(testing::values_of(p), now);
}

}  // namespace
}  // namespace souk::train
