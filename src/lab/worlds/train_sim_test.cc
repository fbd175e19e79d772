#include "lab/worlds/train_sim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "lab/testing/blobs.h"
#include "lab/testing/perceptron.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using testing::Blobs;
using testing::small;

SimResult result_of_sim(const SimConfig& config) {
  Blobs learner;
  const auto out = simulate(config, learner);
  EXPECT_TRUE(out) << out.error().message;
  return out.value_or(SimResult{});
}

TEST(TrainSim, SameSeedGivesTheSameResultBitForBit) {
  auto config = small("delayed-nesterov");
  config.fleet.preempt = 0.2;
  config.fleet.kill_every = base::seconds(3);
  config.codec = "int8";
  const auto once = result_of_sim(config);
  EXPECT_EQ(wire::to_json(once), wire::to_json(result_of_sim(config)));
  EXPECT_EQ(once.hash.size(), 64U);
  ++config.plan.seed;
  EXPECT_NE(result_of_sim(config).hash, once.hash);
}

TEST(TrainSim, EveryRuleLearnsInItsOwnWay) {
  std::set<std::string> hashes;
  for (const auto& rule : train::aggregators()) {
    const auto out = result_of_sim(small(std::string(rule.name)));
    EXPECT_EQ(out.reason, "all epochs are done") << rule.name;
    EXPECT_EQ(out.rows.size(), 3U) << rule.name;
    EXPECT_GT(out.accuracy, 0.5) << rule.name;
    hashes.insert(out.hash);
  }
  // Where nobody lies there may be nothing for norm-clip to clip: then it is downpour.
  EXPECT_GE(hashes.size(), train::aggregators().size() - 1);
}

TEST(TrainSim, OneMachineLosesNothing) {
  auto config = small("fedavg");
  config.rule.workers = 1;
  const auto out = result_of_sim(config);
  EXPECT_EQ(out.samples, 3 * 4 * Blobs::kSamples);
  EXPECT_DOUBLE_EQ(out.goodput, 1);
  EXPECT_EQ(out.lost + out.late + out.rejected_honest, 0);
}

// Writes down what it is asked to do, and what it ends with.
class Recorded final : public Learner {
 public:
  explicit Recorded(testing::Perceptron::Optimizer optimizer) : learner_(optimizer) {}
  base::Result<std::vector<float>> init(std::int64_t seed) override { return learner_.init(seed); }
  base::Result<Trained> train(std::span<const float> base, const train::Unit& unit,
                              train::Sends send, double scale, const std::string& memory) override {
    units.push_back(unit);
    return learner_.train(base, unit, send, scale, memory);
  }
  base::Result<Evaluated> evaluate(std::span<const float> values, std::int32_t shard) override {
    last.assign(values.begin(), values.end());
    return learner_.evaluate(values, shard);
  }
  std::vector<train::Unit> units;
  std::vector<float> last;

 private:
  testing::Perceptron learner_;
};

TEST(TrainSim, OneMachineIsSerialTrainingThoughItsExchangeIsHidden) {
  using enum testing::Perceptron::Optimizer;
  for (const auto optimizer : {sgd, momentum, adam})
    for (const auto steps : {0, 1, 4}) {
      auto config = small("mean");
      config.rule.workers = 1;
      config.plan.shards.assign(4, testing::Perceptron::kSamples);
      config.plan.batch = testing::Perceptron::kBatch;
      config.plan.local_steps = steps;
      config.plan.lr = config.plan.lr_end = optimizer == adam ? 0.01 : 0.05;
      config.fleet.round_trip = base::milliseconds(30);
      Recorded learner(optimizer);
      const auto out = simulate(config, learner);
      ASSERT_TRUE(out);
      EXPECT_EQ(out->rejected_honest, 0);
      testing::Perceptron bare(optimizer);
      auto values = *bare.init(config.plan.seed);
      for (const auto& unit : learner.units)
        values = bare.train(values, unit, train::Sends::weights, 1, "bare")->values;
      EXPECT_THAT(learner.last, ::testing::Pointwise(::testing::FloatNear(1e-4F), values))
          << static_cast<int>(optimizer) << " " << steps;
    }
}

TEST(TrainSim, MachinesThatDieWasteWhatTheyComputed) {
  auto config = small("delayed-nesterov");
  const auto calm = result_of_sim(config);
  config.fleet.kill_every = base::seconds(2);
  config.fleet.away = base::seconds(4);
  const auto killed = result_of_sim(config);
  EXPECT_EQ(killed.samples, calm.samples);
  EXPECT_GT(killed.lost, 0);
  EXPECT_LT(killed.goodput, calm.goodput);
  EXPECT_GT(killed.seconds, calm.seconds);
}

TEST(TrainSim, SlowLinksTakeTimeByTheBytesOfTheCodec) {
  auto config = small("downpour");
  const auto free = result_of_sim(config);
  config.fleet.up_mbit = config.fleet.down_mbit = 0.001;
  const auto slow = result_of_sim(config);
  config.codec = "fp16";
  const auto half = result_of_sim(config);
  EXPECT_GT(slow.seconds, free.seconds);
  EXPECT_LT(half.bytes_up, slow.bytes_up);
  EXPECT_LT(half.seconds, slow.seconds);
}

TEST(TrainSim, NumbersThatAreNoneAreRejectedFromAdversariesAlone) {
  auto config = small("delayed-nesterov");
  config.fleet.adversaries = 0.2;
  config.fleet.attack = Attack::nan;
  const auto out = result_of_sim(config);
  EXPECT_GT(out.rejected_adversary, 0);
  EXPECT_EQ(out.accepted_adversary, 0);
  EXPECT_FALSE(out.honest_rejected_by.contains("finite"));
  EXPECT_GT(out.accuracy, 0.6);
}

TEST(TrainSim, MachinesComputeWhileTheirLineIsBusy) {
  auto config = small("mean");
  config.fleet.round_trip = base::milliseconds(50);
  const auto beside = result_of_sim(config);
  config.in_turn = true;
  const auto in_turn = result_of_sim(config);
  EXPECT_LT(beside.seconds, 0.9 * in_turn.seconds);
  EXPECT_EQ(beside.samples, in_turn.samples);
}

TEST(TrainSim, UpdatesThatRaiseTheLossAreRefusedByScoreAlone) {
  auto config = small("mean");
  config.rule.workers = 10;
  config.fleet.adversaries = 0.2;
  config.validators = {"finite", "score:1"};
  const auto out = result_of_sim(config);
  EXPECT_EQ(out.reason, "all epochs are done");
  EXPECT_GT(out.rejected_adversary, out.accepted_adversary);
  EXPECT_LE(out.rejected_honest * 50, out.accepted);
}

TEST(TrainSim, AFreeRiderCannotKeepTheLastUnitFromOthers) {
  auto config = small("delayed-nesterov");
  config.rule.workers = 10;
  config.fleet.adversaries = 0.2;
  config.fleet.attack = Attack::free_rider;
  const auto out = result_of_sim(config);
  EXPECT_EQ(out.reason, "all epochs are done");
  EXPECT_GT(out.rejected_adversary, 0);
}

TEST(TrainSim, TheTargetIsNotedWhenItIsFirstReached) {
  auto config = small("delayed-nesterov");
  config.target = 0.5;
  const auto out = result_of_sim(config);
  ASSERT_TRUE(out.seconds_to_target);
  EXPECT_LT(*out.seconds_to_target, out.seconds);
  config.target = 1.1;
  EXPECT_FALSE(result_of_sim(config).seconds_to_target);
}

TEST(TrainSim, WhatGetsNowhereEnds) {
  auto config = small("delayed-nesterov");
  config.fleet.adversaries = 0.99;
  config.fleet.attack = Attack::nan;
  config.rule.workers = 100;
  config.fleet.preempt = 0.9;
  EXPECT_EQ(result_of_sim(config).reason, "it got nowhere");
}

TEST(TrainSim, WhatCannotBeSimulatedIsRefusedByName) {
  Blobs learner;
  const auto field = [&](const auto& edit) {
    auto config = small("delayed-nesterov");
    edit(config);
    const auto out = simulate(config, learner);
    return out ? "" : out.error().field;
  };
  EXPECT_EQ(field([](auto& c) { c.fleet.speeds = {1, 0}; }), "speeds");
  EXPECT_EQ(field([](auto& c) { c.fleet.preempt = 1; }), "preempt");
  EXPECT_EQ(field([](auto& c) { c.fleet.adversaries = -0.1; }), "adversaries");
  EXPECT_EQ(field([](auto& c) { c.rule.workers = 0; }), "workers");
  EXPECT_EQ(field([](auto& c) { c.rule.name = "best"; }), "rule");
  EXPECT_EQ(field([](auto& c) { c.rule.name = "vc-asgd", c.codec = "top-k"; }), "codec");
}

}  // namespace
}  // namespace souk::lab
