#include "job/train/training_work.h"

#include <fmt/format.h>

#include <tuple>

#include "job/packages.h"
#include "job/program.h"
#include "job/train/training_data.h"
#include "job/train/training_file.h"
#include "job/train/training_target.h"
#include "train/aggregators/aggregator.h"
#include "train/codecs/codec.h"
#include "train/session.h"
#include "train/units/training_plan.h"
#include "train/validators/validator.h"

namespace souk::job {
namespace {

base::Failure wrong(std::string message, std::string hint, std::string_view field) {
  return base::fail(base::Code::invalid, std::move(message), std::move(hint),
                    fmt::format("batch.train.{}", field));
}

// Numbers are in their range.
base::Result<> check_settings(const wire::Train& train) {
  const std::initializer_list<std::tuple<std::string_view, double, double, double>> numbers{
      {"epochs", train.epochs, 1, train::kMostEpochs},
      {"batch", train.batch, 1, train::kMostBatch},
      {"lr", train.lr, 1e-9, 1e3},
      {"lr_end", train.lr_end.value_or(train.lr), 0, 1e3},
      {"lr_warmup", train.lr_warmup.value_or(0), 0, 0.9},
      {"local_batch", train.local_batch, 1, train::kMostBatch},
      {"local_steps", train.local_steps, 0, train::kMostUnitSteps},
      {"validations", train.validations, 1, train::kMostValidations},
      {"replicate", train.replicate, 0, 1}};
  for (const auto& [name, value, low, high] : numbers)
    if (!(value >= low && value <= high))
      return wrong(fmt::format("{} is {}", name, value), fmt::format("use {} to {}", low, high),
                   name);
  if (train.local_state == wire::LocalState::keep && train.replicate > 0)
    return wrong("local_state is keep and some units are done twice",
                 "use local_state: fresh, or replicate: 0", "local_state");
  if (auto target = check_target(train); !target)
    return wrong(target.error().message, target.error().hint, target.error().field);
  return {};
}

// Each shard has some, and their sum stays within what can be counted.
base::Result<> check_samples(const std::vector<wire::TrainShard>& shards) {
  auto left = train::kMostSamples;
  for (const auto& shard : shards) {
    if (shard.samples < 1) return wrong("a shard without samples", "leave it out", "shards");
    if (shard.samples > left)
      return wrong(fmt::format("a shard claims {} samples, and all of them more than {}",
                               shard.samples, train::kMostSamples),
                   "say how many samples each shard has", "shards");
    left -= shard.samples;
  }
  return {};
}

base::Result<> check_data(const wire::Train& train) {
  if (train.shards.empty()) return wrong("there is no data", "give at least one shard", "shards");
  if (train.shards.size() + train.validation.size() > kMostShards)
    return wrong(fmt::format("{} shards", train.shards.size() + train.validation.size()),
                 fmt::format("{} at most, validation included", kMostShards), "shards");
  for (const auto* list : {&train.shards, &train.validation}) SOUK_TRY(check_samples(*list));
  if (train.target && train.validation.empty())
    return wrong("a target needs something to measure it on", "give validation data", "target");
  return {};
}

// Known aggregators, codecs and validators.
base::Result<> check_methods(const wire::Train& train, std::int32_t workers) {
  if (train.codec != train::kAutoCodec) SOUK_TRY(train::make_codec(train.codec));
  train::AggregatorSpec rule{.name = std::string(train::kDefaultAggregator), .workers = workers};
  if (!train.rule.empty())
    rule = {train.rule, {train.rule_params.begin(), train.rule_params.end()}, workers};
  SOUK_ASSIGN(const auto aggregator, train::make_aggregator(rule));
  for (const auto& name : train.validators) {
    SOUK_TRY(train::make_validator(name));
    if (train::score_share(name))
      SOUK_TRY(train::check_score(*aggregator, !train.validation.empty()));
  }
  return {};
}

}  // namespace

base::Result<> check_training(const wire::NewJob& job) {
  if (!job.batch || !job.batch->train)
    return base::fail(base::Code::invalid, "a training job without a description of its training",
                      "give batch.train", "batch");
  SOUK_TRY(check_program(*job.batch));
  const auto& train = *job.batch->train;
  if (has_native_trainer(*job.batch) && !job.batch->setup.empty())
    return base::fail(base::Code::invalid, "a built-in model has nothing to set up",
                      "drop setup:, or bring a trainer of your own with trainer: python",
                      "batch.setup");
  SOUK_TRY(check_settings(train));
  SOUK_TRY(check_data(train));
  return check_methods(train, job.workers.max);
}

Intent describe_training(const JobFile& file) {
  const auto& work = *file.job.batch;
  if (!work.train) return {"trains", "nothing"};
  const auto& t = *work.train;
  std::int64_t samples = 0;
  for (const auto& shard : t.shards) samples += shard.samples;
  const auto model = t.config.find("model");
  const auto* training = training_of(file);
  auto name = model == t.config.end() ? std::string("a model") : model->second;
  if (training != nullptr && !training->script.empty()) name = training->script;
  if (training != nullptr && !training->model_folder.empty()) name = training->model_folder;
  return {"trains",
          fmt::format("{} on {} samples in {} shards, up to {} epoch{}{}, rule {}", name, samples,
                      t.shards.size(), t.epochs, t.epochs == 1 ? "" : "s",
                      t.target ? fmt::format(", until {} {}{}", t.target->figure(),
                                             t.target->below() ? "at most " : "", t.target->value())
                               : "",
                      t.rule.empty() ? train::kDefaultAggregator : t.rule)};
}

std::vector<std::string_view> training_demands(const wire::Batch& work) {
  if (has_native_trainer(work)) return {kTorch};
  return {};
}

std::vector<std::string> training_blobs(const wire::Batch& work) {
  std::vector<std::string> out;
  if (!work.train) return out;
  for (const auto& shard : work.train->shards) out.push_back(shard.blob);
  for (const auto& shard : work.train->validation) out.push_back(shard.blob);
  return out;
}

bool has_native_trainer(const wire::Batch& work) {
  return work.train && work.train->trainer == wire::Trainer::torch;
}

}  // namespace souk::job
