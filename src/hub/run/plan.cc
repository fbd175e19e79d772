#include "hub/run/plan.h"

#include <algorithm>
#include <string_view>

namespace souk::hub {
namespace {

// The aggregator that wins benchmark B4: docs/decisions/0011-the-default-rule.md.
constexpr std::string_view kDefaultRule = "delayed-nesterov";

}  // namespace

train::TrainingPlan plan_of(const wire::Train& spec, std::int32_t workers) {
  train::TrainingPlan out{.epochs = spec.epochs,
                          .batch = spec.batch,
                          .local_steps = spec.local_steps,
                          .validations = spec.validations,
                          .workers = workers,
                          .lr = spec.lr,
                          .lr_end = spec.lr_end.value_or(spec.lr),
                          .seed = spec.seed};
  if (spec.target) out.target = spec.target->accuracy;
  for (const auto& shard : spec.shards) out.shards.push_back(shard.samples);
  for (const auto& shard : spec.validation) out.validation.push_back(shard.samples);
  return out;
}

train::Session::Spec session_of(const wire::Train& spec, std::int32_t workers) {
  return {.plan = plan_of(spec, workers),
          .rule = {.name = spec.rule.empty() ? std::string(kDefaultRule) : spec.rule,
                   .params = {spec.rule_params.begin(), spec.rule_params.end()},
                   .workers = workers},
          .codec = spec.codec,
          .validators = spec.validators};
}

std::int32_t batch_of(const wire::Train& spec, std::int64_t unit) {
  if (!spec.measure) return spec.batch;
  const auto divisor = unit % 2 == 0 ? 1 : unit % 4 == 1 ? 2 : 4;
  return std::max(1, spec.batch / divisor);
}

}  // namespace souk::hub
