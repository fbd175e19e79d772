#include "hub/run/plan.h"

#include <algorithm>

namespace souk::hub {
train::TrainingPlan plan_of(const wire::Train& spec, std::int32_t workers) {
  train::TrainingPlan out{.epochs = spec.epochs,
                          .batch = spec.batch,
                          .local_batch = spec.measure ? spec.batch : spec.local_batch,
                          .local_steps = spec.local_steps,
                          .validations = spec.validations,
                          .workers = workers,
                          .lr = spec.lr,
                          .lr_end = spec.lr_end.value_or(spec.lr),
                          .warmup = spec.lr_warmup.value_or(0),
                          .seed = spec.seed};
  if (spec.target)
    out.target = train::Target{spec.target->figure(), spec.target->value(), spec.target->below()};
  for (const auto& shard : spec.shards) out.shards.push_back(shard.samples);
  for (const auto& shard : spec.validation) out.validation.push_back(shard.samples);
  return out;
}

train::Session::Spec session_of(const wire::Train& spec, std::int32_t workers) {
  return {
      .plan = plan_of(spec, workers),
      // A measurement is of one worker's steps, and waits for no round.
      .rule = {.name = spec.rule.empty() || spec.measure ? std::string(train::kDefaultAggregator)
                                                         : spec.rule,
               .params = spec.measure ? train::AggregatorParams()
                                      : train::AggregatorParams(spec.rule_params.begin(),
                                                                spec.rule_params.end()),
               .workers = workers},
      // What is chosen for each unit passes the same checks (codec_book.h).
      .codec = spec.codec == train::kAutoCodec ? "fp32" : spec.codec,
      .validators = spec.validators};
}

std::int32_t batch_of(const wire::Train& spec, std::int64_t unit) {
  if (!spec.measure) return spec.batch;
  const auto divisor = unit % 2 == 0 ? 1 : unit % 4 == 1 ? 2 : 4;
  return std::max(1, spec.batch / divisor);
}

}  // namespace souk::hub
