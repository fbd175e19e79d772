#include "server/proof/gpu_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "server/proof/challenges.h"
#include "server/testing/challenges.h"

namespace souk::server {
namespace {

using base::Duration;
using base::milliseconds;
using base::seconds;
using base::Time;
using testing::ChallengeOutcomes;
using ::testing::HasSubstr;
using testing::kMachine;
using testing::kOwner;

constexpr std::uint32_t kNone = 1'000;  // Rows: more than a product has.
constexpr GpuScale kSmall{.size = 64,
                          .steps_of_gib = 1,
                          .least_steps = 1,
                          .most_steps = 1,
                          .reads_of_gib = 4,
                          .most_reads = 4};

std::vector<std::uint32_t> matrix_of(const base::GpuProduct& p, std::int32_t which) {
  const auto n = static_cast<std::uint32_t>(p.size);
  const auto key = base::matrix_key(p.seed, which);
  std::vector<std::uint32_t> out(n * n);
  for (std::uint32_t i = 0; i < n * n; ++i) out[i] = base::matrix_entry(key, i);
  return out;
}

// All rows of a product, one in `rows_in` of them right.
std::vector<std::vector<std::uint32_t>> rows_of(const base::GpuProduct& p, std::uint32_t rows_in) {
  const auto n = static_cast<std::uint32_t>(p.size);
  std::vector<std::vector<std::uint32_t>> out(n, std::vector<std::uint32_t>(n));
  const auto a = matrix_of(p, 0);
  for (std::uint32_t i = 0; i < n; i += rows_in)
    std::copy_n(a.begin() + std::ptrdiff_t{i} * n, n, out[i].begin());
  for (std::int32_t step = 1; step <= p.steps; ++step) {
    const auto b = matrix_of(p, step);
    for (std::uint32_t i = 0; i < n; i += rows_in) {
      std::vector<std::uint32_t> next(n);
      for (std::uint32_t k = 0; k < n; ++k)
        for (std::uint32_t j = 0; j < n; ++j) next[j] += out[i][k] * b[k * n + j];
      out[i] = std::move(next);
    }
  }
  return out;
}

// Answers whatever a market asks of GPUs; it sees in the market's plan what it would compute.
struct Answerer {
  const GpuPlan& plan;
  std::uint32_t rows_in = 1;
  bool remembers = true;   // What it filled.
  std::int32_t real = 64;  // The GPUs after these are not there, and what they give is made up.

  [[nodiscard]] std::vector<std::string> hashes_and_rows(const GpuPlan::Known& known) const {
    const auto rows = rows_of(known.product, known.gpu < real ? rows_in : kNone);
    std::vector<std::uint64_t> hashes;
    for (const auto& row : rows) hashes.push_back(base::row_hash(known.product.seed, row));
    std::vector<std::string> out{base::hex_of<std::uint64_t>(hashes)};
    for (const auto i : known.rows)
      out.push_back(base::hex_of<std::uint32_t>(rows[static_cast<std::size_t>(i)]));
    return out;
  }
  [[nodiscard]] std::vector<std::string> results(const wire::Challenge& c) const {
    std::vector<std::string> out;
    if (c.kind == wire::ChallengeKind::gpu_product) {
      out.assign(c.seeds.size(), std::string(64, '0'));
      for (const auto& known : plan.known)
        if (c.seeds.size() == static_cast<std::size_t>(plan.gpus))
          out[static_cast<std::size_t>(known.gpu)] =
              base::commitment(base::numbers_of<std::uint64_t>(hashes_and_rows(known)[0], 64));
    }
    if (c.kind == wire::ChallengeKind::gpu_rows)
      for (const auto& known : plan.known)
        for (auto& text : hashes_and_rows(known)) out.push_back(std::move(text));
    if (c.kind == wire::ChallengeKind::gpu_read) {
      std::vector<std::uint64_t> sums(base::kGpuGroups);
      for (std::int32_t i = 0; i < plan.gpus; ++i) {
        for (const auto& known : plan.known)
          if (known.gpu == i && remembers) sums[static_cast<std::size_t>(known.group)] = known.sum;
        out.push_back(base::hex_of<std::uint64_t>(sums));
      }
    }
    return out;
  }
};

std::uint64_t next_draw() {
  static base::Random random(5);
  return random.next();
}

GpuPlan prepared(std::int32_t gpus, std::int64_t memory_mib = 20) {
  auto plan = plan_gpus(gpus, memory_mib, 0, kSmall, next_draw);
  compute_gpus(plan);
  return plan;
}

// Whether each question of a plan is answered right.
bool passes(const GpuPlan& plan, const Answerer& answerer) {
  std::vector<std::string> committed;
  for (const auto stage : {GpuStage::open, GpuStage::one, GpuStage::all, GpuStage::rows,
                           GpuStage::fill, GpuStage::read}) {
    const auto results = answerer.results(gpu_question(plan, stage, next_draw));
    if (!gpu_answer_is_right(plan, stage, results, committed)) return false;
    if (stage == GpuStage::all) committed = results;
  }
  return true;
}

TEST(GpuProof, WhatWasComputedIsRight) {
  for (const std::int32_t gpus : {1, 2, 5, 8, 32}) {
    const auto plan = prepared(gpus);
    EXPECT_TRUE(passes(plan, {plan})) << gpus;
    EXPECT_LE(plan.known.size(), GpuPlan::kMostKnown);
    EXPECT_GE(plan.known.size() * plan.known.front().rows.size(), GpuPlan::kRows);
  }
}

TEST(GpuProof, HalfOfTheRowsAndForgottenMemoryNeverAre) {
  for (int i = 0; i < 100; ++i) {
    const auto plan = prepared(1 + i % 8);
    EXPECT_FALSE(passes(plan, {plan, 2}));
    EXPECT_FALSE(passes(plan, {.plan = plan, .remembers = false}));
  }
}

// Who answers at once for GPUs that are not there is not slow.
TEST(GpuProof, MadeUpAnswersForHalfOfTheGpusNeverPass) {
  for (int i = 0; i < 100; ++i) {
    const std::int32_t real = 1 + i % 4;
    const auto plan = prepared(2 * real);
    EXPECT_FALSE(passes(plan, {.plan = plan, .real = real})) << real;
  }
}

TEST(GpuProof, RowsOfAnotherProductThanWasCommittedToAreWrong) {
  const auto plan = prepared(1);
  const Answerer honest{plan};
  const auto rows = honest.results(gpu_question(plan, GpuStage::rows, next_draw));
  EXPECT_FALSE(gpu_answer_is_right(plan, GpuStage::rows, rows, {std::string(64, '0')}));
  EXPECT_FALSE(gpu_answer_is_right(plan, GpuStage::rows, rows, {}));
  EXPECT_FALSE(gpu_answer_is_right(plan, GpuStage::rows, {}, {std::string(64, '0')}));
}

TEST(GpuProof, MoreMemoryIsAskedForMoreAndNobodyForAbsurdities) {
  const GpuScale usual;
  const auto small = plan_gpus(1, 4 << 10, 0, usual, {}),
             large = plan_gpus(1, 80 << 10, 0, usual, {});
  EXPECT_EQ(small.steps, 16);
  EXPECT_EQ(large.steps, 320);
  EXPECT_EQ(large.memory_mib, 48 << 10);
  const auto absurd = plan_gpus(1'000'000, std::int64_t{1} << 50, 0, usual, {});
  EXPECT_EQ(absurd.gpus, 32);
  EXPECT_EQ(absurd.steps, 512);
  EXPECT_LE(absurd.memory_mib, base::kMostGpuMib);
}

// --- Machines whose owners use their GPUs --------------------------------------------------------

struct BusyGpus {
  std::int32_t real = 1;
  std::vector<bool> busy;  // Another program has half of it.

  [[nodiscard]] Duration time(std::size_t products, base::Random& random) const {
    Duration most;
    for (std::size_t i = 0; i < static_cast<std::size_t>(real); ++i) {
      const auto own =
          (products + static_cast<std::size_t>(real) - 1 - i) / static_cast<std::size_t>(real);
      most = std::max(most, milliseconds(400) * static_cast<std::int64_t>(own) * (busy[i] ? 2 : 1));
    }
    return most + milliseconds(random.between(0, 15));
  }
};

class PlayedGpuMachine {
 public:
  PlayedGpuMachine(std::int32_t real, std::int32_t claims) : gpus_{.real = real} {
    claimed_.gpus = real * claims;
  }

  // One challenge, once there is one.
  void challenge(base::Random& random, ChallengeOutcomes& out) {
    while (!beat()) now_ = now_ + seconds(10);
    ++out.asked;
    gpus_.busy.assign(static_cast<std::size_t>(gpus_.real), false);
    if (random.below(5) >= 2)
      for (auto&& one : gpus_.busy) one = random.below(2) == 0;
    Challenges::Verdict verdict;
    const Answerer answerer{plan_->gpu};
    while (question_) {
      const bool product = question_->kind == wire::ChallengeKind::gpu_product;
      now_ = now_ + (product ? gpus_.time(question_->seeds.size(), random) : milliseconds(50));
      wire::ChallengeAnswer answer{.id = question_->id};
      answer.results = question_->kind < wire::ChallengeKind::gpu_open
                           ? results_of_cores()
                           : answerer.results(*question_);
      verdict = challenges_.take(kMachine, answer, now_).value();
      question_ = verdict.next;
    }
    out.passed += verdict.passed;
    out.wrong += !verdict.wrong.empty();
    out.suspended += verdict.suspend;
    if (verdict.passed) claimed_.untrusted = false;
  }

 private:
  bool beat() {
    if (auto plan = challenges_.to_prepare(claimed_, now_)) {
      for (auto& known : plan->half) known.result = known.seed;
      compute_gpus(plan->gpu);
      plan_ = plan;
      challenges_.prepared(kMachine, claimed_.owner, plan);
    }
    question_ = challenges_.ask(claimed_, now_);
    return question_.has_value();
  }
  [[nodiscard]] std::vector<std::string> results_of_cores() const {
    using Kind = wire::ChallengeKind;
    if (question_->kind == Kind::compute) return question_->seeds;
    if (question_->kind == Kind::fill) return {};
    std::vector<std::string> out(base::kGroups);
    out[static_cast<std::size_t>(plan_->group)] = std::to_string(plan_->group_result);
    return out;
  }

  BusyGpus gpus_;
  Challenges challenges_{{.every = base::hours(1)}, 7, kSmall};
  ClaimedMachine claimed_{
      .machine = kMachine, .owner = kOwner, .gpu_memory_mib = 20, .untrusted = true};
  Time now_ = Time() + base::hours(1);
  std::optional<Challenges::Preparation> plan_;
  std::optional<wire::Challenge> question_;
};

// `claims`: how many times its GPUs it claims.
ChallengeOutcomes challenge_busy_gpus(std::int32_t claims, int challenges) {
  base::Random random(11);
  ChallengeOutcomes out;
  while (out.asked < challenges) {
    PlayedGpuMachine p(static_cast<std::int32_t>(random.between(1, 8)), claims);
    for (int i = 0; i < 50; ++i) p.challenge(random, out);
  }
  return out;
}

TEST(GpuChallenges, AThousandOfBusyHonestMachinesAndNoneIsRefused) {
  const auto honest = challenge_busy_gpus(1, 1'000);
  EXPECT_GT(honest.passed, 300);
  EXPECT_EQ(honest.wrong, 0);
  EXPECT_EQ(honest.suspended, 0);
}

TEST(GpuChallenges, WhoClaimsTwiceItsGpusNeverPasses) {
  for (const std::int32_t claims : {2, 3, 8}) {
    const auto liars = challenge_busy_gpus(claims, 200);
    EXPECT_EQ(liars.passed, 0) << claims;
    EXPECT_GT(liars.suspended, 0) << claims;
  }
}

TEST(GpuChallenges, AMachineWithoutGpusIsNotAskedForAny) {
  ChallengeOutcomes out;
  base::Random random(1);
  PlayedGpuMachine(0, 1).challenge(random, out);
  EXPECT_EQ(out.passed, 1);
}

}  // namespace
}  // namespace souk::server
