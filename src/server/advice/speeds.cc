#include "server/advice/speeds.h"

#include <algorithm>

#include "market/decide/decider.h"
#include "mechanism/mechanism.h"
#include "server/advice/profiles.h"
#include "wire/api_json.h"

namespace souk::server {
namespace {

// A rule looks at no more trainings than this by their speed; those behind them run alike on all.
constexpr std::size_t kMostJobs = 1'000;

bool wants_rates(const market::SlotClass& slot_class, base::Time now) {
  const auto rule = market::rule_of(slot_class.mechanism_at(now), slot_class.params_at(now));
  return rule && (*rule)->wants_rates();
}

}  // namespace

// Nothing for what is no training.
Speeds::Work* Speeds::work_of(const market::State& s, const market::Job& job, Works& works) {
  if (!market::paid_by_work(job)) return nullptr;
  const auto [it, fresh] = works.try_emplace(job.id);
  auto& work = it->second;
  if (fresh) {
    if (auto batch = wire::from_json<wire::Batch>(job.work)) work.batch = *std::move(batch);
    if (work.batch.train) work.key = profile_key(work.batch, s.slot_class(job.slot_class).name);
  }
  if (!work.batch.train) return nullptr;
  const auto known = s.profiles.find(work.key);
  if (known != s.profiles.end() && known->second.at != work.learnt) {
    work.learnt = known->second.at;
    work.profile = known_profile(s, work.batch, job.slot_class);
  }
  return &work;
}

void Speeds::tell(const market::State& s, base::Time now, market::Clear& round) {
  if (!wants_rates(s.slot_class(round.slot_class), now)) return;
  const auto& index = s.index.classes[round.slot_class.value - 1];
  auto& before = works_[round.slot_class];
  Works waited;
  for (const auto& [priority, id] : index.wanting) {
    if (waited.size() == kMostJobs) break;
    const auto& job = s.jobs.at(id);
    const auto* work = work_of(s, job, before);
    if (work == nullptr) continue;
    const auto& train = *work->batch.train;
    const auto steps = samples_of(train) / train.batch;
    const auto done = std::clamp(progress_(id), 0.0, 1.0);
    round.works.push_back(
        {id,
         {.steps = steps * (1 - done),
          .done = steps * done,
          .elapsed_s = (now - job.created).seconds(),
          .slo_s = job.terms.deadline == base::kNever ? 0 : (job.terms.deadline - now).seconds()}});
    if (work->profile) {
      const Paces paces(s, round.slot_class, *work->profile, train.batch);
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
