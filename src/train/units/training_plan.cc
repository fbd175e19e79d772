#include "train/units/training_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace souk::train {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::int64_t kUnitsPerWorker = 8;  // Of an epoch, when the split is chosen here.
// Shorter ones are mostly noise and travel: with 2 steps a unit 72% of MNIST, with 8 steps 90%. Of
// a worker's own, smaller steps where they are divided.
constexpr std::int64_t kFewestLocalSteps = 8;
constexpr std::int64_t kShort = 4, kLater = 2;  // That part of a unit where many work.
constexpr std::int64_t kMostLocalSteps = 64;

Result<> check_range(std::string_view name, std::int64_t value, std::int64_t least,
                     std::int64_t most) {
  if (value >= least && value <= most) return {};
  return fail(Code::invalid, fmt::format("{} is {}", name, value),
              fmt::format("use {} to {}", least, most), std::string(name));
}

Result<> check_shards(std::string_view name, const std::vector<std::int64_t>& shards) {
  if (shards.size() > kMostPlanShards)
    return fail(Code::invalid, fmt::format("{} shards", shards.size()),
                fmt::format("use {} at most", kMostPlanShards), std::string(name));
  auto left = kMostSamples;
  for (const auto samples : shards) {
    if (samples < 1)
      return fail(Code::invalid, "a shard without samples", "leave it out", std::string(name));
    if (samples > left)
      return fail(Code::invalid,
                  fmt::format("the {} claim more than {} samples", name, kMostSamples),
                  "say how many samples each shard has", std::string(name));
    left -= samples;
  }
  return {};
}

}  // namespace

std::int64_t TrainingPlan::shard_steps(std::size_t shard) const {
  const auto samples = std::clamp<std::int64_t>(shards[shard], 1, kMostSamples);
  return (samples - 1) / std::max(batch, 1) + 1;
}

double TrainingPlan::rate(double done, double all) const {
  const auto warm = warmup * all;
  if (done < warm) return lr * std::min(1.0, (done + 1) / warm);
  if (lr_end == lr) return lr;
  return lr_end +
         (lr - lr_end) * (1 + std::cos(std::numbers::pi * (done - warm) / (all - warm))) / 2;
}

std::int64_t TrainingPlan::epoch_steps() const {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < std::min(shards.size(), kMostPlanShards); ++i) out += shard_steps(i);
  return out;
}

std::int32_t TrainingPlan::parts(std::int32_t at_work) const {
  auto out = std::min(at_work, batch / std::max(local_batch, 1));
  while (out > 1 && batch % out != 0) --out;
  return std::max(out, 1);
}

std::int64_t TrainingPlan::unit_steps() const {
  if (local_steps > 0) return local_steps;
  return std::clamp<std::int64_t>(epoch_steps() / (kUnitsPerWorker * std::max(workers, 1)),
                                  kFewestLocalSteps, kMostLocalSteps);
}

std::int64_t TrainingPlan::fewest_steps(std::int32_t at_work) const {
  return (kFewestLocalSteps - 1) / parts(at_work) + 1;
}

std::int64_t TrainingPlan::unit_steps(std::int32_t epoch, std::int32_t at_work) const {
  if (local_steps > 0) return local_steps;
  const auto divisor = short_units || epoch <= 1 ? kShort : kLater;
  return std::max(unit_steps() / divisor, fewest_steps(at_work));
}

Result<> check_plan(const TrainingPlan& plan) {
  if (plan.shards.empty())
    return fail(Code::invalid, "there is no data", "give at least one shard", "shards");
  SOUK_TRY(check_shards("shards", plan.shards));
  SOUK_TRY(check_shards("validation", plan.validation));
  SOUK_TRY(check_range("epochs", plan.epochs, 1, kMostEpochs));
  SOUK_TRY(check_range("batch", plan.batch, 1, kMostBatch));
  SOUK_TRY(check_range("local_batch", plan.local_batch, 1, kMostBatch));
  SOUK_TRY(check_range("local_steps", plan.local_steps, 0, kMostUnitSteps));
  SOUK_TRY(check_range("validations", plan.validations, 1, kMostValidations));
  if (!std::isfinite(plan.lr) || !std::isfinite(plan.lr_end))
    return fail(Code::invalid, "the learning rate is no number", "use 1e-9 to 1000", "lr");
  if (!(plan.warmup >= 0 && plan.warmup < 1))
    return fail(Code::invalid, fmt::format("warmup is {}", plan.warmup), "use 0 to 0.9", "warmup");
  return {};
}

}  // namespace souk::train
