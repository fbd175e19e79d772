#include "job/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "train/aggregators/aggregator.h"
#include "train/codecs/codec.h"
#include "train/validators/validator.h"
#include "wire/api_json.h"

namespace souk::job {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kPathMax = 1'000;
constexpr std::size_t kPaths = 64;
constexpr std::size_t kVariables = 256;
constexpr auto kShortestCheckpoint = base::seconds(1);

base::Failure bad(std::string message, std::string hint, std::string field) {
  return fail(Code::invalid, std::move(message), std::move(hint), "batch." + std::move(field));
}

// Relative, without "..", and not the folder itself.
base::Result<> check_path(std::string_view path, std::string field) {
  bool good = !path.empty() && path.size() <= kPathMax && path.front() != '/' &&
              path.find('\0') == std::string_view::npos;
  for (std::size_t at = 0; good && at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto name = path.substr(at, end - at);
    good = name != ".." && name != "." && (!name.empty() || end == path.size());
    at = end + 1;
  }
  if (good) return {};
  return bad(fmt::format("'{}' is not a path inside the working folder", path.substr(0, 80)),
             "use a relative path without '..', such as data/train", std::move(field));
}

base::Result<> check_variable(std::string_view name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!name.empty() && name.size() <= 100 &&
      std::isdigit(static_cast<unsigned char>(name[0])) == 0 && std::ranges::all_of(name, fits))
    return {};
  return bad(fmt::format("'{}' is not a name of an environment variable", name.substr(0, 80)),
             "use letters, digits and _", "env");
}

}  // namespace

base::Result<> check_batch(const wire::Batch& batch) {
  if (batch.run.empty()) return bad("there is nothing to run", "give a command", "run");
  const std::initializer_list<std::pair<std::string_view, std::size_t>> lists{
      {"inputs", batch.inputs.size()}, {"outputs", batch.outputs.size()}};
  for (const auto& [name, size] : lists)
    if (size > kPaths)
      return bad(fmt::format("{} {}", size, name), fmt::format("{} at most", kPaths),
                 std::string(name));
  if (batch.env.size() > kVariables)
    return bad(fmt::format("{} variables", batch.env.size()), fmt::format("{} at most", kVariables),
               "env");
  for (const auto& input : batch.inputs) SOUK_TRY(check_path(input.path, "inputs"));
  for (const auto& path : batch.outputs) SOUK_TRY(check_path(path, "outputs"));
  for (const auto& [name, value] : batch.env) SOUK_TRY(check_variable(name));
  if (const auto& c = batch.checkpoint) {
    SOUK_TRY(check_path(c->path, "checkpoint.path"));
    if (c->every < kShortestCheckpoint)
      return bad(fmt::format("a checkpoint every {}", to_string(c->every)), "use 1s or more",
                 "checkpoint.every");
  }
  if (batch.image && (batch.image->empty() || batch.image->front() == '-'))
    return bad(fmt::format("'{}' is not an image", batch.image->substr(0, 80)),
               "use a name such as docker.io/library/python:3.12", "image");
  return {};
}

base::Result<> check_train(const wire::Train& train, std::int32_t workers) {
  const auto wrong = [](std::string what, std::string hint, std::string_view field) {
    return bad(std::move(what), std::move(hint), fmt::format("train.{}", field));
  };
  const std::initializer_list<std::tuple<std::string_view, double, double, double>> numbers{
      {"epochs", train.epochs, 1, 100'000},
      {"batch", train.batch, 1, 1'000'000},
      {"lr", train.lr, 1e-9, 1e3},
      {"lr_end", train.lr_end.value_or(train.lr), 0, 1e3},
      {"local_steps", train.local_steps, 0, 1'000'000},
      {"validations", train.validations, 1, 100},
      {"replicate", train.replicate, 0, 1},
      {"target.accuracy", train.target ? train.target->accuracy : 0, 0, 1}};
  for (const auto& [name, value, low, high] : numbers)
    if (!(value >= low && value <= high))
      return wrong(fmt::format("{} is {}", name, value), fmt::format("use {} to {}", low, high),
                   name);
  if (train.shards.empty()) return wrong("there is no data", "give at least one shard", "shards");
  if (train.shards.size() + train.validation.size() > kMostShards)
    return wrong(fmt::format("{} shards", train.shards.size() + train.validation.size()),
                 fmt::format("{} at most, validation included", kMostShards), "shards");
  for (const auto* list : {&train.shards, &train.validation})
    for (const auto& shard : *list)
      if (shard.samples < 1) return wrong("a shard without samples", "leave it out", "shards");
  if (train.target && train.validation.empty())
    return wrong("a target needs something to measure it on", "give validation data", "target");
  SOUK_TRY(train::make_codec(train.codec));
  if (!train.rule.empty())
    SOUK_TRY(train::make_rule(
        {train.rule, {train.rule_params.begin(), train.rule_params.end()}, workers}));
  for (const auto& name : train.validators) SOUK_TRY(train::make_validator(name));
  return {};
}

std::optional<wire::BatchAssignment> task_of(const market::State& s, const market::Lease& l) {
  const auto* job = s.jobs.find(l.job);
  if (job == nullptr || job->work.empty()) return std::nullopt;
  auto batch = wire::from_json<wire::Batch>(job->work);
  if (!batch) return std::nullopt;
  const auto& slot_class = s.slot_class(l.slot_class);
  wire::BatchAssignment out{.job_name = job->name,
                            .index = l.part,
                            .workers = job->terms.workers.max,
                            .batch = *std::move(batch),
                            .cores = slot_class.cores,
                            .memory_mib = slot_class.memory_mib,
                            .gpus = slot_class.gpus};
  if (const auto* part = job->part(l.part)) {
    out.tries = part->tries;
    if (!part->checkpoint.empty()) out.checkpoint = part->checkpoint;
  }
  return out;
}

}  // namespace souk::job
