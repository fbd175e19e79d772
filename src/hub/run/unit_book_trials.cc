#include <utility>

#include "base/check.h"
#include "hub/run/unit_book.h"

// Updates on trial: another owner's worker measures what they do to the loss on validation data. It
// gets two checks like any other, of the parameters without the update and with it, so that agents
// and trainers know nothing of this. An update is refused on the word of two owners.

namespace souk::hub {
namespace {

constexpr std::size_t kMostTrials = 2;  // At a time: each holds a copy of the parameters.
constexpr std::int32_t kWitnesses = 2;

}  // namespace

bool UnitBook::wants_trial(const OpenReport& report) {
  const std::lock_guard lock(mutex_);
  auto* scores = session_.scores();
  if (scores == nullptr || !counts(report)) return false;
  const auto& training = session_.training();
  const auto id = report.unit().id;
  if (training.original(id) != 0 || training.trials() >= kMostTrials ||
      !training.can_be_done_again(id, clock_.now()))
    return false;
  const auto who = as_worker(report.worker());
  return scores->choose(who, training.workers().at(who).streak, audits_.random);
}

void UnitBook::begin_trial(PendingUpdate update, TrialVersions trial, base::Time now) {
  const auto id = update.claim.unit.id;
  const auto shard = audits_.random.below(spec_.validation.size());
  session_.training().hold_for_trial(
      id, {trial.before.version, trial.after.version, static_cast<std::int32_t>(shard)}, now);
  kept_.try_emplace(trial.before.version, std::move(trial.before));
  kept_.insert_or_assign(trial.after.version, std::move(trial.after));
  auto& entry = pending_[id];
  entry.opinions.add({});
  entry.answers.push_back(std::move(update));
}

// Whoever measures is paid as for a check, whatever becomes of the update.
wire::UnitVerdict UnitBook::measured_trial(OpenReport& report, const wire::UnitDone& done) {
  auto& training = session_.training();
  const auto unit = training.original(report.unit().id);
  wages_.add(report.wage(done.epoch));
  const auto losses = training.measured(report.unit().id, done.loss, clock_.now());
  if (losses) decide_trial(unit, *losses);
  return close(report, {true, ""});
}

void UnitBook::decide_trial(std::int64_t unit, const train::Training::TrialLosses& losses) {
  const auto it = pending_.find(unit);
  CHECK(it != pending_.end());
  auto& training = session_.training();
  auto& scores = *session_.scores();
  const auto& claim = it->second.answers.front().claim;
  const train::Score score{claim.worker, claim.evidence.steps, losses.before, losses.after};
  const bool bad = !scores.judge(score).empty();
  const auto now = clock_.now();
  if (bad && ++it->second.against < kWitnesses && training.can_be_done_again(unit, now)) return;
  // On the word of one alone nobody is refused.
  const bool refused = bad && it->second.against >= kWitnesses;
  scores.note(score, refused);
  auto comparison = std::move(pending_.extract(it).mapped());
  if (refused)
    training.reject(unit, now);
  else
    accept(std::move(comparison.answers.front()));
}

}  // namespace souk::hub
