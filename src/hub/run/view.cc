#include "hub/run/view.h"

namespace souk::hub {
namespace {

using base::Duration;

wire::TrainingState state_of(const train::TrainingState& s) {
  if (s.finished) return wire::TrainingState::finished;
  return s.initialised ? wire::TrainingState::training : wire::TrainingState::waiting;
}

std::optional<double> of(const train::Metrics& metrics, std::string_view name) {
  const auto it = metrics.find(std::string(name));
  return it == metrics.end() ? std::nullopt : std::optional(it->second);
}

wire::TrainRow row_of(const train::EpochRow& r) {
  wire::TrainRow out{.epoch = r.epoch,
                     .at = r.at,
                     .samples = r.samples,
                     .version = r.version,
                     .loss = r.loss,
                     .validation_loss = r.validation_loss,
                     .accuracy = of(r.metrics, train::kAccuracy),
                     .workers = r.workers,
                     .metrics = r.metrics};
  if (r.figures > 0) {
    out.mean = r.mean();
    out.low = r.low;
    out.high = r.high;
  }
  return out;
}

std::optional<wire::TrainFigure> figure_of(const train::Training& training) {
  if (training.figure().empty()) return std::nullopt;
  const auto& plan = training.plan();
  wire::TrainFigure out{.name = std::string(training.figure())};
  out.below = plan.target ? plan.target->at_most : train::less_is_better(out.name).value_or(false);
  const auto& rows = training.state().rows;
  if (rows.empty()) return out;
  out.value = out.name == train::kLoss ? std::optional(rows.back().validation_loss)
                                       : of(rows.back().metrics, out.name);
  return out;
}

}  // namespace

wire::Training view_of(const wire::Train& spec, const train::Session& session, std::int64_t version,
                       const TimeBook& times, base::Time now) {
  const auto& training = session.training();
  const auto& s = training.state();
  wire::Training out{.state = state_of(s),
                     .reason = s.reason,
                     .rule = std::string(session.rule().name()),
                     .epoch = training.epoch(),
                     .epochs = spec.epochs,
                     .progress = training.progress(),
                     .version = version,
                     .samples = s.samples,
                     .loss = training.recent_loss(),
                     .elapsed = training.elapsed(now),
                     .workers = training.active(now),
                     .wasted_steps = s.wasted_steps,
                     .useful_steps = s.useful_steps};
  if (!s.rows.empty()) out.accuracy = of(s.rows.back().metrics, train::kAccuracy);
  if (spec.target) out.target = spec.target->value();
  out.figure = figure_of(training);
  if (s.finished) out.confirmed = s.confirmed;
  if (out.progress > 0.01 && !s.finished)
    out.left = Duration(static_cast<std::int64_t>(static_cast<double>(out.elapsed.us) *
                                                  (1 - out.progress) / out.progress));
  for (const auto& r : s.rows) out.rows.push_back(row_of(r));
  for (const auto& [id, w] : training.workers()) {
    const base::LeaseId lease(static_cast<std::uint64_t>(id));
    out.by_worker.push_back(
        {.worker = to_string(lease),
         .units = w.units,
         .steps = w.steps,
         .lost = w.lost,
         .rejected = w.rejected,
         .steps_per_second = w.seconds_per_step > 0 ? 1 / w.seconds_per_step : 0,
         .spent = times.of(lease)});
  }
  out.spent = times.all();
  out.by_batch = times.by_batch();
  return out;
}

}  // namespace souk::hub
