#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/random.h"
#include "lab/testing/perceptron.h"
#include "lab/worlds/train_sim.h"
#include "train/aggregators/aggregator.h"
#include "train/codecs/codec.h"

// Validators are there for the dishonest. Whatever an honest machine sends is taken: with each
// rule, codec and optimiser, in units of any length, alone or among many, while the model rests on
// a plateau, leaves it and settles.

namespace souk::lab {
namespace {

using testing::Perceptron;

struct Job {
  Perceptron::Optimizer optimizer = Perceptron::Optimizer::sgd;
  SimConfig config;
};

constexpr double rate(Perceptron::Optimizer optimizer) {
  using enum Perceptron::Optimizer;
  return optimizer == sgd ? 0.3 : optimizer == momentum ? 0.05 : 0.01;
}

template <class T, std::size_t N>
T one_of(const std::array<T, N>& all, base::Random& random) {
  return all[random.below(N)];
}

Job job(const std::string& rule, base::Random& random) {
  using enum Perceptron::Optimizer;
  Job out{.optimizer = one_of(std::array{sgd, momentum, adam}, random)};
  auto& c = out.config;
  c.rule = {.name = rule, .workers = one_of(std::array{1, 2, 4, 10, 32}, random)};
  const auto codecs = train::codec_names();
  const auto whole = (*train::make_aggregator(c.rule))->needs().sends == train::Sends::weights;
  do c.codec = codecs[random.below(codecs.size())];
  while (whole && (*train::make_codec(c.codec))->keeps_residual());
  c.plan.shards.assign(8, Perceptron::kSamples);
  c.plan.validation.assign(1, Perceptron::kChecked);
  c.plan.epochs = 6;
  c.plan.batch = Perceptron::kBatch;
  c.plan.local_steps = one_of(std::array{0, 1, 4, 16, 64}, random);
  c.plan.seed = static_cast<std::int64_t>(random.below(1'000'000));
  c.plan.lr = c.plan.lr_end = rate(out.optimizer);
  c.keep = random.below(4) != 0;
  c.fleet.speeds = random.below(2) == 0 ? std::vector{1.0} : std::vector{1.0, 0.5, 0.25};
  c.fleet.step = one_of(std::array{base::milliseconds(2), base::milliseconds(50)}, random);
  if (random.below(4) == 0) c.fleet.kill_every = base::seconds(2);
  return out;
}

std::string describe(const Job& j, const SimResult& out) {
  std::string text = j.config.rule.name + ", " + std::to_string(j.config.rule.workers) +
                     " workers, codec " + j.config.codec + ", optimizer " +
                     std::to_string(static_cast<int>(j.optimizer)) + ", local_steps " +
                     std::to_string(j.config.plan.local_steps) + ", seed " +
                     std::to_string(j.config.plan.seed) + ", " + std::to_string(out.accepted) +
                     " accepted, accuracy " + std::to_string(out.accuracy) + ", refused by";
  for (const auto& [who, count] : out.honest_rejected_by)
    text += " " + who + " " + std::to_string(count);
  return text;
}

// SOUK_SEEDS: how many. SOUK_SEEDS=40 takes minutes.
unsigned seeds(unsigned usual) {
  const auto* more = std::getenv("SOUK_SEEDS");
  return more == nullptr ? usual : static_cast<unsigned>(std::atoi(more));
}

struct Tally {
  std::int64_t accepted = 0, refused = 0, trainings = 0, disturbed = 0;

  void run(const Job& j) {
    Perceptron learner(j.optimizer);
    const auto out = simulate(j.config, learner);
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_LE(out->rejected_honest * 50, out->accepted) << describe(j, *out);
    accepted += out->accepted;
    refused += out->rejected_honest;
    ++trainings;
    disturbed += out->rejected_honest > 0 ? 1 : 0;
  }
};

TEST(Honest, WithTheDefaultRuleHardlyAnythingIsRefused) {
  Tally t;
  for (unsigned seed = 1; seed <= seeds(10); ++seed) {
    base::Random random(seed);
    for (int i = 0; i < 4; ++i) t.run(job("mean", random));
  }
  EXPECT_LE(t.refused * 10'000, t.accepted) << t.refused << " of " << t.accepted;
  EXPECT_LE(t.disturbed * 20, t.trainings) << t.disturbed << " of " << t.trainings;
}

// Rules with momentum of their own, and those that take one update of many, leave a machine's own
// momentum behind: it may point elsewhere for a while.
TEST(Honest, WithAnyRuleHardlyAnythingIsRefused) {
  Tally t;
  for (unsigned seed = 1; seed <= seeds(3); ++seed) {
    base::Random random(seed);
    for (const auto& rule : train::aggregators()) t.run(job(std::string(rule.name), random));
  }
  EXPECT_LE(t.refused * 2'000, t.accepted) << t.refused << " of " << t.accepted;
  EXPECT_LE(t.disturbed * 10, t.trainings) << t.disturbed << " of " << t.trainings;
}

}  // namespace
}  // namespace souk::lab
