#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "train/metrics.h"

namespace souk::train {

// Bounds of a plan. Far beyond what anybody trains, and such that no sum or product of them leaves
// 64 bits.
inline constexpr std::int64_t kMostSamples = std::int64_t{1} << 40;  // Of all shards together.
inline constexpr std::size_t kMostPlanShards = 100'000;
inline constexpr std::int32_t kMostEpochs = 100'000;
inline constexpr std::int32_t kMostBatch = 1'000'000;
inline constexpr std::int32_t kMostUnitSteps = 1'000'000;
inline constexpr std::int32_t kMostValidations = 100;  // Per epoch.

// Smaller batches are mostly noise: with 32 workers batches of 8 learn, of 2 diverge at the same
// rate (docs/studies/workers.md).
inline constexpr std::int32_t kLeastLocalBatch = 8;

// What a job wants, fixed at its start. A shard of n samples is n / batch steps of an epoch,
// rounded up; a unit is some consecutive steps of one shard and epoch. A batch is what all workers
// together learn from at a time: each of N takes N smaller steps where one alone takes one.
struct TrainingPlan {
  std::vector<std::int64_t> shards;      // Samples of each.
  std::vector<std::int64_t> validation;  // Likewise.
  std::int32_t epochs = 1;
  std::int32_t batch = 32;
  std::int32_t local_batch = kLeastLocalBatch;  // The least that a worker's own step has.
  std::int32_t local_steps = 0;                 // Of a unit on the fastest machine; 0: chosen here.
  std::int32_t validations = 1;                 // Per epoch.
  std::int32_t workers = 1;                     // That may come.
  double lr = 0.05;
  double lr_end = 0.05;  // Reached along a cosine,
  double warmup = 0;     // after it rose to lr over this part of all steps.
  std::optional<Target> target;
  std::int64_t seed = 1;
  std::size_t arity = 1;  // Of the aggregator (aggregator.h).
  bool synchronous = false;
  bool by_clock = false;     // Its rounds end by the clock (round_clock.h),
  double round_s = 0;        // after so long; 0: chosen.
  bool short_units = false;  // All of them, not only the first: updates say little each.

  [[nodiscard]] std::int64_t shard_steps(std::size_t shard) const;
  [[nodiscard]] std::int64_t epoch_steps() const;
  // Of the step after `done` of `all`.
  [[nodiscard]] double rate(double done, double all) const;
  // Into how many of its own steps a worker divides each, when so many work: equal ones.
  [[nodiscard]] std::int32_t parts(std::int32_t at_work) const;
  // The fewest of a unit when so many work: with less, an optimiser that begins afresh in each unit
  // never gains momentum.
  [[nodiscard]] std::int64_t fewest_steps(std::int32_t at_work) const;
  // Of a unit on the fastest machine, where its shard has so many.
  [[nodiscard]] std::int64_t unit_steps() const;
  // The same in this epoch, when so many work. Where the split is chosen here, units are shorter
  // than that where steps are divided, and shortest at first: then each worker moves far, and the
  // mean of what they did is worth less the longer none has heard of the others.
  [[nodiscard]] std::int64_t unit_steps(std::int32_t epoch, std::int32_t at_work) const;
};

// Refuses what is out of bounds, whoever wrote it: a plan that was accepted can be worked on.
[[nodiscard]] base::Result<> check_plan(const TrainingPlan& plan);

}  // namespace souk::train
