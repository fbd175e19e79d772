#include <algorithm>
#include <utility>

#include "base/check.h"
#include "train/units/training.h"

// Units that are held until others have looked at their update: done again from the same parameters
// (Training::hold), or tried on samples that nobody trains on (hold_for_trial).

namespace souk::train {

using base::Time;

Training::Attempt& Training::begin_hold(std::int64_t id, Time now) {
  auto& given = given_.at(id);
  CHECK(given.unit.kind == UnitKind::train && !given.held && given.of == 0);
  // A twin that works on the same from another version proves nothing.
  if (const auto twin = given_.find(given.twin); given.twin != 0 && twin != given_.end()) {
    workers_[twin->second.worker].has.erase(twin->first);
    s_.wasted_steps += twin->second.unit.steps;
    given_.erase(twin);
  }
  given.twin = 0;
  given.took = now - std::max(given.at, workers_[given.worker].reported);
  given.held = given.answered_at = now;
  given.answered = {{given.worker, workers_[given.worker].owner}};
  given.unit.deadline = base::kNever;
  reported(given.worker, id, now);
  return given;
}

void Training::hold_for_trial(std::int64_t id, Trial trial, Time now) {
  CHECK(trial.shard >= 0 && trial.shard < std::ssize(plan_.validation));
  begin_hold(id, now).trial = trial;
}

Unit Training::next_of_trial(const Attempt& held) {
  return {.kind = UnitKind::evaluate,
          .epoch = held.unit.epoch,
          .shard = held.trial->shard,
          .version = held.losses.empty() ? held.trial->before : held.trial->after};
}

std::optional<Training::TrialLosses> Training::measured(std::int64_t id, double loss, Time now) {
  const auto given = given_.at(id);
  CHECK(given.unit.kind == UnitKind::evaluate && given.of != 0);
  given_.erase(id);
  reported(given.worker, id, now);
  workers_[given.worker].dropped = 0;
  auto& held = given_.at(given.of);
  held.twin = 0;
  held.answered_at = now;
  held.losses.push_back(loss);
  if (held.losses.size() < 2) return std::nullopt;
  const TrialLosses out{held.losses[0], held.losses[1]};
  held.answered.push_back({given.worker, workers_[given.worker].owner});
  forget_scorer(held);
  return out;
}

std::size_t Training::trials() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(given_, [](const auto& g) { return g.second.trial.has_value(); }));
}

void Training::forget_scorer(Attempt& held) {
  held.scorer = 0;
  held.losses.clear();
}

// Of one that has measured the first loss and will not measure the second.
void Training::leave_trials(Worker id) {
  for (auto& [_, g] : given_)
    if (g.trial && g.scorer == id) forget_scorer(g);
}

// Evaluations of trials belong to none.
bool Training::is_of_check(const Attempt& given, std::size_t i) {
  return given.unit.kind == UnitKind::evaluate && given.of == 0 && given.check == i;
}

}  // namespace souk::train
