#include "server/advice/speeds.h"

#include <algorithm>

#include "market/decide/decider.h"
#include "mechanism/mechanism.h"
#include "server/advice/profiles.h"

namespace souk::server {
namespace {

// A mechanism looks at no more trainings than this by their speed; those behind them run alike on
// all.
constexpr std::size_t kMostJobs = 1'000;

bool wants_rates(const market::SlotClass& slot_class, base::Time now) {
  const auto rule = market::rule_of(slot_class.mechanism_at(now), slot_class.params_at(now));
  return rule && (*rule)->wants_rates();
}

}  // namespace

// Nothing for what is no training.
Speeds::KnownTraining* Speeds::training_of(const market::State& s, const market::Job& job,
                                           Trainings& known) {
  if (!market::paid_by_work(job)) return nullptr;
  const auto [it, fresh] = known.try_emplace(job.id);
  auto& training = it->second;
  if (fresh) {
    training.batch = parsed_.of(job);
    if (training.batch && training.batch->train)
      training.key = profile_key(*training.batch, s.slot_class(job.slot_class).name);
  }
  if (!training.batch || !training.batch->train) return nullptr;
  const auto profile = s.profiles.find(training.key);
  if (profile != s.profiles.end() && profile->second.at != training.learnt) {
    training.learnt = profile->second.at;
    training.profile = known_profile(s, *training.batch, job.slot_class);
  }
  return &training;
}

void Speeds::tell(const market::State& s, base::Time now, market::Clear& round) {
  if (!wants_rates(s.slot_class(round.slot_class), now)) return;
  const auto& index = s.index.classes[round.slot_class.value - 1];
  auto& before = trainings_[round.slot_class];
  Trainings waited;
  for (const auto& [priority, id] : index.wanting) {
    if (waited.size() == kMostJobs) break;
    const auto& job = s.jobs.at(id);
    const auto* known = training_of(s, job, before);
    if (known == nullptr) continue;
    const auto& train = *known->batch->train;
    const auto steps = samples_of(train) / train.batch;
    const auto done = std::clamp(progress_(id), 0.0, 1.0);
    round.works.push_back(
        {id,
         {.steps = steps * (1 - done),
          .done = steps * done,
          .elapsed_s = (now - job.created).seconds(),
          .slo_s = job.terms.deadline == base::kNever ? 0 : (job.terms.deadline - now).seconds()}});
    if (known->profile) {
      const Paces paces(s, round.slot_class, *known->profile, train.batch);
      for (const auto& row : index.supply)
        if (row.usable && row.free > 0)
          round.paces.push_back({id, row.machine, 1 / paces.on(row.machine).step_s()});
    }
    waited.insert(before.extract(id));
  }
  before = std::move(waited);
  std::ranges::sort(round.works, {}, &market::JobWork::job);
  const auto order = [](const market::Pace& p) { return std::pair(p.job, p.machine); };
  std::ranges::sort(round.paces, {}, order);
  const auto twice = std::ranges::unique(round.paces, {}, order);
  round.paces.erase(twice.begin(), twice.end());
}

}  // namespace souk::server
