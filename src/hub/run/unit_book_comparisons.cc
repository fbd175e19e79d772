#include <algorithm>
#include <utility>

#include "base/check.h"
#include "hub/run/unit_book.h"

// Updates that are here: accepted at once, or compared with what other owners came to.

namespace souk::hub {
namespace {

using wire::UnitVerdict;

train::ParameterSnapshot taken_of(train::Blocks blocks, std::int64_t version) {
  train::ParameterSnapshot out{.blocks = std::move(blocks), .version = version};
  out.versions.resize(out.blocks.size(), version);
  return out;
}

}  // namespace

UnitVerdict UnitBook::judge(OpenReport& report, PendingUpdate update,
                            std::optional<train::Blocks> base, std::optional<TrialVersions> trial) {
  std::vector<Contribution> others;
  {
    const std::lock_guard lock(mutex_);
    if (auto verdict = begin_judging(report, update, std::move(base), std::move(trial), others))
      return *verdict;
  }
  // All are read as a whole: not under the lock.
  std::vector<bool> agrees;
  for (const auto& other : others)
    agrees.push_back(train::Replication::agree(other.update, update.contribution.update));
  const std::lock_guard lock(mutex_);
  return compared(report, std::move(update), std::move(others), agrees);
}

// Without a verdict it is to be compared with `others`, which nobody else has meanwhile.
std::optional<UnitVerdict> UnitBook::begin_judging(OpenReport& report, PendingUpdate& update,
                                                   std::optional<train::Blocks> base,
                                                   std::optional<TrialVersions> trial,
                                                   std::vector<Contribution>& others) {
  if (!counts(report)) return close(report, not_counted(report));
  const auto now = clock_.now();
  auto& training = session_.training();
  const auto& unit = report.unit();
  if (auto refusal = session_.judge(update.claim, model_.version, now))
    return close(report, {false, std::move(refusal->why)});
  if (aggregator().needs().base) {
    if (!base) return refuse_locked(report, "its base is not known any more", true);
    update.contribution.update.base = *base;
  }
  if (const auto id = training.original(unit.id); id != 0) {
    if (update.claim.evidence.steps != unit.steps || update.claim.base != unit.version)
      return refuse_locked(report, "a part, or another base, proves nothing", false);
    auto& entry = pending_.at(id);
    CHECK(!entry.comparing);
    // Their wages stay: they are paid if the training ends meanwhile.
    for (auto& answer : entry.answers) others.push_back(std::move(answer.contribution));
    entry.comparing = true;
    return std::nullopt;
  }
  if (base && wants_comparison(update, now)) {
    const auto version = update.claim.base;
    kept_.try_emplace(version, taken_of(*std::move(base), version));
    training.hold(unit.id, version, now);
    auto& entry = pending_[unit.id];
    entry.opinions.add({});
    entry.answers.push_back(std::move(update));
  } else if (trial) {
    begin_trial(std::move(update), *std::move(trial), now);
  } else {
    accept(std::move(update));
  }
  return close(report, {true, ""});
}

bool UnitBook::wants_comparison(const PendingUpdate& update, base::Time now) {
  const auto& training = session_.training();
  const auto& claim = update.claim;
  if (claim.base <= 0 || claim.evidence.steps != claim.unit.steps) return false;
  const base::LeaseId worker(static_cast<std::uint64_t>(claim.worker));
  if (audits_.units.contains({worker, claim.unit.id}) &&
      training.others_there(owner_of(worker), now))
    return true;
  return spec_.replicate > 0 && training.can_be_done_again(claim.unit.id, now) &&
         replication_.check(training.workers().at(claim.worker).streak, audits_.random);
}

// Answers to the same unit, from the same parameters, of which the last just came. Two that agree
// are right; as long as none do, another owner is asked.
UnitVerdict UnitBook::compared(OpenReport& report, PendingUpdate answer,
                               std::vector<Contribution> others, const std::vector<bool>& agrees) {
  const auto unit = session_.training().original(report.unit().id);
  const auto it = pending_.find(unit);
  if (it != pending_.end()) {
    it->second.comparing = false;
    for (std::size_t i = 0; i < others.size(); ++i)
      it->second.answers[i].contribution = std::move(others[i]);
  }
  if (!counts(report) || it == pending_.end()) return close(report, not_counted(report));
  auto& entry = it->second;
  entry.opinions.add(agrees);
  entry.answers.push_back(std::move(answer));
  auto& training = session_.training();
  const auto now = clock_.now();
  if (entry.opinions.right())
    return decided(report, unit, std::move(pending_.extract(it).mapped()));
  training.replicated(report.unit().id, std::nullopt, now);
  if (!entry.opinions.hopeless() && training.can_be_done_again(unit, now)) {
    audits_.policy.asked_again();
    return close(report, {true, ""});
  }
  undecided(unit, std::move(pending_.extract(it).mapped()));
  return close(report, {false, std::string(kOthersDiffer)});
}

UnitVerdict UnitBook::decided(OpenReport& report, std::int64_t unit, Comparison comparison) {
  auto& training = session_.training();
  auto& answers = comparison.answers;
  const auto first = *comparison.opinions.right();
  const auto last = answers.size() - 1;
  const bool last_is_right = comparison.opinions.is_right(last);
  training.replicated(report.unit().id, last_is_right, clock_.now());
  const auto claim = answers.front().claim;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto& answer = answers[i];
    const bool right = comparison.opinions.is_right(i);
    if (const auto owner = owner_of(answer.wage.lease); owner != 0)
      right ? audits_.policy.right(owner) : audits_.policy.wrong(owner);
    if (i == first) continue;
    if (i != last) training.credit(as_worker(answer.wage.lease), right);
    if (right && !answer.owed) wages_.add(answer.wage);
  }
  auto& believed = answers[first];
  training.hand_over(unit, as_worker(believed.wage.lease));
  believed.claim.unit = claim.unit;
  accept(std::move(believed));
  if (last_is_right) return close(report, {true, ""});
  return close(report, {false, std::string(kOthersDiffer)});
}

// All differ, and nobody is there to decide: none is believed, and the unit is done anew.
void UnitBook::undecided(std::int64_t unit, const Comparison& comparison) {
  auto& training = session_.training();
  const bool known = owner_of(comparison.answers.front().wage.lease) != 0;
  for (std::size_t i = 0; i < comparison.answers.size(); ++i) {
    const auto& answer = comparison.answers[i];
    if (known)
      audits_.policy.doubted(owner_of(answer.wage.lease));
    else if (i > 0)
      training.credit(as_worker(answer.wage.lease), false);
  }
  training.reject(unit, clock_.now(), !known);
}

void UnitBook::accept_uncompared() {
  const std::lock_guard lock(mutex_);
  if (pending_.empty()) return;
  for (const auto id : session_.training().unchecked(clock_.now())) {
    const auto it = pending_.find(id);
    if (it == pending_.end() || it->second.comparing) continue;
    auto comparison = std::move(pending_.extract(it).mapped());
    if (comparison.answers.size() == 1)
      accept(std::move(comparison.answers.front()));
    else
      undecided(id, comparison);
  }
}

}  // namespace souk::hub
