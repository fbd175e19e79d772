#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "train/testing/updates.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Machines whose updates have something in common, and their own noise.
class Machines {
 public:
  explicit Machines(std::size_t size, std::uint64_t seed = 1)
      : size_(size), random_(seed), common_(direction(testing::noise(size, seed + 1'000))) {}

  // Agrees with the common direction by about `share`, from -1 to 1.
  Evidence update(double share, std::int64_t worker = 1) {
    const auto noise = direction(testing::noise(size_, random_.next()));
    const auto rest = std::sqrt(1 - share * share);
    std::vector<float> values(size_);
    for (std::size_t i = 0; i < size_; ++i)
      values[i] = static_cast<float>(share * common_[i] + rest * noise[i]);
    return {.stats = {.norm = 1}, .steps = 1, .direction = direction(values), .worker = worker};
  }
  // Anything from `low` to `high`.
  double between(double low, double high) {
    return low + (high - low) * (1 + static_cast<double>(testing::uniform(random_))) / 2;
  }

 private:
  static Direction direction(const std::vector<float>& values) {
    return direction_of(testing::update(values));
  }
  std::size_t size_;
  base::Random random_;
  Direction common_;
};

// What a session does with an update.
struct Judge {
  History history;
  std::unique_ptr<Validator> validator = *make_validator("direction");

  std::string operator()(const Evidence& e) {
    history.note(e);
    auto why = validator->judge(e, history);
    if (why.empty()) history.accept(e);
    return why;
  }
};

TEST(Pointing, JudgesNothingBeforeThereIsEnoughToCompareWith) {
  Machines machines(10'000);
  Judge judge;
  const auto enough = [&] { return judge.history.others(2, 1, 1).size() >= kEnough; };
  while (!enough()) {
    EXPECT_EQ(judge.validator->judge(machines.update(-0.8, 2), judge.history), "");
    for (const std::int64_t worker : {1, 3}) ASSERT_EQ(judge(machines.update(0.8, worker)), "");
  }
  for (int i = 0; i < 2; ++i) judge.history.note(machines.update(-0.8, 2));
  EXPECT_NE(judge.validator->judge(machines.update(-0.8, 2), judge.history), "");
}

TEST(Pointing, AMachineThatWorksAloneHasNobodyToDifferFrom) {
  Machines machines(10'000);
  Judge judge;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(judge(machines.update(i < 50 ? 0.8 : -0.8)), "") << i;
}

TEST(Pointing, OneUpdateTurnedRoundAmongAgreeingOnesIsBelievedAndNoSecond) {
  Machines machines(10'000);
  Judge judge;
  for (std::int64_t i = 0; i < 20; ++i) ASSERT_EQ(judge(machines.update(0.5, 10 + i % 4)), "") << i;
  for (const std::int64_t worker : {2, 3})
    EXPECT_EQ(judge(machines.update(worker == 2 ? -0.5 : 0, worker)), "") << "it may be the shard";
  EXPECT_THAT(judge(machines.update(-0.5, 2)), StartsWith("it points elsewhere: agreement -0."));
  EXPECT_THAT(judge(machines.update(0, 3)), StartsWith("it points elsewhere"));
  EXPECT_EQ(judge(machines.update(0.5, 2)), "") << "it is not held against it";
}

TEST(Pointing, OneOddUpdateOfAMachineWhoseOthersAgreeIsBelieved) {
  Machines machines(10'000);
  Judge judge;
  for (int i = 0; i < 40; ++i) ASSERT_EQ(judge(machines.update(0.5, i % 4)), "") << i;
  EXPECT_EQ(judge(machines.update(-0.5, 0)), "");
  // But not for long.
  int accepted = 0;
  for (int i = 0; i < 20; ++i) {
    for (const std::int64_t worker : {1, 2, 3})
      ASSERT_EQ(judge(machines.update(0.5, worker)), "") << i;
    if (judge(machines.update(-0.5, 0)).empty()) ++accepted;
  }
  EXPECT_LE(accepted, 10) << "as many as it had sent before";
  EXPECT_NE(judge(machines.update(-0.5, 0)), "");
}

// A hub with momentum overshoots, and the next round points back.
TEST(Pointing, WhereAllTurnAtOnceHardlyAnybodyIsRefused) {
  Machines machines(10'000);
  Judge judge;
  std::int64_t newcomer = 100;  // Nobody has a record.
  int refused = 0;
  for (int round = 0; round < 10; ++round)
    for (int i = 0; i < 32; ++i)
      refused += judge(machines.update(round % 2 == 0 ? 0.9 : -0.9, newcomer++)).empty() ? 0 : 1;
  EXPECT_LE(refused, 3 * 9);
}

// Late in training: updates agree by anything from nearly nothing to much.
constexpr double kLittle = 0.06, kMuch = 0.9;

TEST(Pointing, HonestUpdatesThatSpreadWidelyAreAccepted) {
  for (const std::uint64_t seed : {1, 2}) {
    Machines machines(10'000, seed);
    Judge judge;
    for (int i = 0; i < 400; ++i)
      EXPECT_EQ(judge(machines.update(machines.between(kLittle, kMuch), i % 8)), "") << i;
  }
}

TEST(Pointing, NoiseIsToldByTheRecordOfItsMachine) {
  Machines machines(10'000);
  Judge judge;
  int accepted = 0;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(judge(machines.update(machines.between(kLittle, kMuch), i % 7)), "") << i;
    if (i >= 40 && i % 4 == 0 && judge(machines.update(0, 99)).empty()) ++accepted;
  }
  EXPECT_LE(accepted, 5) << "six units make a record";
  EXPECT_THAT(judge(machines.update(0, 99)), HasSubstr("points nowhere"));
  EXPECT_EQ(judge(machines.update(0.3, 99)), "") << "a machine that was mended is believed";
}

TEST(Pointing, AMachineThatTurnsItsUpdatesIsToldByItsRecord) {
  Machines machines(10'000);
  Judge judge;
  // So wide apart that no single update can be told.
  const auto share = [&] { return machines.between(-0.1, 0.9); };
  int accepted = 0, refused = 0;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(judge(machines.update(share(), i % 7)), "") << i;
    if (i >= 40 && i % 4 == 0)
      ++(judge(machines.update(-share(), 99)).empty() ? accepted : refused);
  }
  EXPECT_GT(refused, 3 * accepted);
}

// Honest machines in turn, each one step behind the others, on a bowl whose gradients are noisy;
// how many updates of them were refused after the bottom was reached, in a hundred.
double refused_at_the_bottom(std::size_t size, std::int64_t workers, float lr) {
  constexpr int kUnits = 500, kBottom = 200;
  base::Random random(7);
  std::vector<float> w(size, 1);
  std::vector bases(static_cast<std::size_t>(workers), w);
  Judge judge;
  int refused = 0;
  for (int unit = 0; unit < kUnits; ++unit) {
    auto& base = bases[static_cast<std::size_t>(unit % workers)];
    auto change = base;
    for (int step = 0; step < 8; ++step)
      for (auto& x : change) x -= lr * (x + testing::normal(random));
    for (std::size_t i = 0; i < size; ++i) change[i] -= base[i];
    if (judge({.stats = {.norm = 1},
               .steps = 8,
               .direction = direction_of(testing::update(change)),
               .worker = unit % workers})
            .empty())
      for (std::size_t i = 0; i < size; ++i) w[i] += change[i] / static_cast<float>(workers);
    else if (unit >= kBottom)
      ++refused;
    base = w;
  }
  return 100.0 * refused / (kUnits - kBottom);
}

TEST(Pointing, HonestMachinesGoOnOnceEachUndoesWhatOthersDid) {
  for (const std::int64_t workers : {1, 2, 4, 8})
    for (const auto lr : {0.02F, 0.2F})
      EXPECT_LE(refused_at_the_bottom(2'000, workers, lr), 5) << workers << " " << lr;
}

TEST(Pointing, HonestUpdatesOfASmallModelAreAcceptedHoweverAlikeTheOthersAre) {
  const auto evidence = [](const std::vector<float>& values, std::int64_t worker) {
    return Evidence{.stats = {.norm = 1},
                    .steps = 1,
                    .direction = direction_of(testing::update(values)),
                    .worker = worker};
  };
  Judge judge;
  // All the same but for rounding.
  for (int i = 0; i < 100; ++i) {
    const auto x = 1.F + static_cast<float>(i % 7) * 1e-6F;
    ASSERT_EQ(judge(evidence({x, 2 * x, -3, 0.5F * x, 7}, i % 3)), "") << i;
  }
  // And one that sees other samples.
  EXPECT_EQ(judge(evidence({2, 1, -3, 0, 6}, 4)), "");
  EXPECT_EQ(judge(evidence({-1, -2, 3, -0.5F, -7}, 5)), "");
  EXPECT_NE(judge(evidence({-1, -2, 3, -0.5F, -7}, 5)), "");
}

TEST(Pointing, WhatASmallModelAgreesOnByChanceIsNotHeldAgainstAMachine) {
  Machines machines(16);  // Noise agrees by up to a half: a record of it proves nothing.
  Judge judge;
  for (int i = 0; i < 400; ++i) {
    EXPECT_EQ(judge(machines.update(machines.between(0.2, kMuch), i % 8)), "") << i;
    if (i % 4 == 0) EXPECT_THAT(judge(machines.update(0, 99)), Not(HasSubstr("nowhere"))) << i;
  }
}

TEST(Pointing, WhatPointsNowhereIsForOthersToJudge) {
  Machines machines(1'000);
  Judge judge;
  for (int i = 0; i < 20; ++i) judge(machines.update(0.8));
  EXPECT_EQ(judge({.stats = {.norm = 0}, .steps = 1, .worker = 1}), "");
}

// Seen near the end of real trainings: a little more than noise on average, and far apart. One in a
// hundred was refused, and each refusal makes its machine wait.
TEST(Pointing, HonestUpdatesThatHardlyAgreeAreAcceptedHoweverManyThereAre) {
  Machines machines(6'000);
  Judge judge;
  int refused = 0;
  for (int i = 0; i < 40; ++i) ASSERT_EQ(judge(machines.update(0.5, i % 5)), "") << i;
  for (int i = 0; i < 5'000; ++i) {
    const auto odd = i % 50 == 0;  // Some far more so.
    const auto share = odd ? -0.6 : machines.between(-0.25, 0.45);
    if (!judge(machines.update(share, i % 5)).empty()) ++refused;
  }
  EXPECT_LE(refused, 5);
}

// Seen near the end of real trainings: with two machines one in a hundred honest updates was
// refused.
TEST(Pointing, WhereOthersDisagreeTooNobodyIsRefused) {
  Machines machines(10'000);
  Judge judge;
  for (int i = 0; i < 20; ++i) ASSERT_EQ(judge(machines.update(0.5)), "") << i;
  for (std::int64_t i = 0; i < 80; ++i) judge.history.note(machines.update(-0.2, 10 + i % 4));
  EXPECT_EQ(judge(machines.update(-0.9, 20)), "");
}

}  // namespace
}  // namespace souk::train
