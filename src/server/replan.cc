#include "server/replan.h"

#include <spdlog/spdlog.h>

#include <vector>

#include "advisor/resize.h"
#include "hub/run.h"

namespace souk::server {
namespace {

constexpr auto kEvery = base::seconds(5);
constexpr auto kLeastSeen = base::seconds(10);  // Of work, to know its pace.
constexpr auto kSettle = base::seconds(30);     // After a change.

bool steered(const market::Job& j) {
  return market::paid_by_work(j) && j.state == market::JobState::running &&
         j.terms.deadline != base::kNever && j.terms.workers.min < j.terms.workers.max;
}

// Of one worker and second, on average over the leases it has.
double price_of(const market::State& s, const market::Job& j) {
  double sum = 0;
  for (const auto id : j.leases) sum += in_credits(s.leases.at(id).term.pays);
  return j.leases.empty() ? 0 : sum / static_cast<double>(j.leases.size()) / 3600;
}

double credits_left(const market::State& s, const market::Job& j) {
  const auto* hold = s.ledger.hold(market::hold_of(j.id));
  return hold == nullptr ? 0 : in_credits(hold->left);
}

}  // namespace

void Replan::on_tick(Core::Turn& turn) {
  if (turn.now() < next_) return;
  next_ = turn.now() + kEvery;
  std::map<base::JobId, Seen> still;
  std::vector<const market::Job*> jobs;
  turn.state().jobs.for_each([&](const market::Job& j) {
    if (steered(j)) jobs.push_back(&j);
  });
  for (const auto* job : jobs) {
    auto& seen = still[job->id];
    if (const auto it = seen_.find(job->id); it != seen_.end()) seen = it->second;
    look(turn, *job, seen);
  }
  seen_ = std::move(still);
}

void Replan::look(Core::Turn& turn, const market::Job& job, Seen& seen) {
  const auto run = hub_.find(job.id);
  if (run == nullptr) return;
  const auto progress = run->progress();
  const auto now = turn.now();
  // A pace is that of an unchanged number of workers.
  if (seen.at == base::Time() || seen.workers != job.held || job.held == 0) {
    seen.at = now;
    seen.progress = progress;
    seen.workers = job.held;
    return;
  }
  if (now - seen.at < kLeastSeen || now - seen.changed < kSettle || progress <= seen.progress)
    return;
  const advisor::Running running{
      .left = 1 - progress,
      .seconds = (job.terms.deadline - now).seconds(),
      .pace = (progress - seen.progress) / (now - seen.at).seconds() / job.held,
      .aim = market::aimed_workers(job),
      .least = job.terms.workers.min,
      .most = job.terms.workers.max,
      .price = price_of(turn.state(), job),
      .credits = credits_left(turn.state(), job)};
  const auto change = advisor::resize(running);
  if (!change) return;
  seen.changed = now;
  const auto done =
      turn.execute(market::kSystem, market::ResizeJob{job.id, change->workers, change->why});
  if (!done) return spdlog::warn("{}: {}", to_string(job.id), done.error().message);
  spdlog::info("{}: {} workers instead of {}: {}", to_string(job.id), change->workers, running.aim,
               change->why);
}

}  // namespace souk::server
