#include "server/advice/replan.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

#include "advisor/move.h"
#include "advisor/resize.h"
#include "server/advice/advice.h"

namespace souk::server {
namespace {

constexpr auto kEvery = base::seconds(5);
// Of work with the same workers, to know its pace; a move costs more, and waits longer.
constexpr auto kLeastSeen = base::seconds(10);
constexpr auto kLeastToMove = base::seconds(20);
constexpr auto kSettle = base::seconds(30);  // After a change.

bool resizable(const market::Job& j) {
  return j.terms.deadline != base::kNever && j.terms.workers.min < j.terms.workers.max;
}

bool steered(const market::Job& j) {
  const bool at_it = j.state == market::JobState::running || j.state == market::JobState::queued;
  return market::paid_by_work(j) && at_it && (resizable(j) || !j.also.empty());
}

// Those that prepare do nothing yet.
std::int32_t working(const market::State& s, const market::Job& j) {
  std::int32_t out = 0;
  for (const auto id : j.leases)
    if (const auto& l = s.leases.at(id); l.state != market::LeaseState::granted) out += l.slots;
  return out;
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

void Replan::on_tick(const market::State& s, base::Time now, const Execute& execute) {
  if (now < next_) return;
  next_ = now + kEvery;
  std::map<base::JobId, Watched> still;
  std::vector<const market::Job*> jobs;
  s.jobs.for_each([&](const market::Job& j) {
    if (steered(j)) jobs.push_back(&j);
  });
  for (const auto* job : jobs) {
    auto& seen = still[job->id];
    if (const auto it = seen_.find(job->id); it != seen_.end()) seen = std::move(it->second);
    look({.s = s, .job = *job, .now = now, .execute = execute}, seen);
  }
  seen_ = std::move(still);
}

void Replan::look(Look at, Watched& seen) {
  const auto& job = at.job;
  const auto progress = progress_(job.id);
  at.left = 1 - progress;
  at.workers = working(at.s, job);
  // A pace is that of an unchanged number of workers of one class.
  if (seen.at == base::Time() || seen.workers != at.workers || seen.slot_class != job.slot_class) {
    seen.at = at.now;
    seen.slot_class = job.slot_class;
    seen.workers = at.workers;
    seen.progress = progress;
    return;
  }
  const auto lasted = at.now - seen.at;
  if (at.workers > 0) {
    if (lasted < kLeastSeen || at.now - seen.changed < kSettle || progress <= seen.progress) return;
    at.pace = (progress - seen.progress) / lasted.seconds() / at.workers;
    seen.been[job.slot_class] = {at.pace, price_of(at.s, job)};
  }
  const bool may_move = !job.also.empty() && lasted >= kLeastToMove;
  if (may_move && move(at, seen)) return;
  if (at.workers > 0 && resizable(job)) resize(at, seen);
}

// Whether it was moved.
bool Replan::move(const Look& at, Watched& seen) {
  const auto& job = at.job;
  advisor::Here here{
      .name = at.s.slot_class(job.slot_class).name,
      .left = at.left,
      .pace = at.pace,
      .workers = at.workers,
      .most = std::min(job.terms.workers.max, job.held + free_workers(at.s, job, at.now)),
      .price = price_of(at.s, job),
      .credits = credits_left(at.s, job),
      .idle_s = at.workers > 0 ? 0 : (at.now - seen.at).seconds()};
  if (job.terms.deadline != base::kNever) here.seconds = (job.terms.deadline - at.now).seconds();
  if (!job.moves.empty()) here.moved_s = (at.now - job.moves.back().at).seconds();
  const auto batch = works_.of(job);
  if (!batch) return false;
  auto places = elsewhere(at.s, job, *batch, at.now);
  // Where it has been, what was seen beats any forecast.
  for (std::size_t i = 0; i < places.size(); ++i)
    if (const auto been = seen.been.find(job.also[i]); been != seen.been.end())
      for (auto& cluster : places[i].clusters)
        cluster = {cluster.workers, been->second.pace * cluster.workers,
                   been->second.price * cluster.workers};
  const auto to = advisor::move(here, places);
  if (!to) return false;
  seen.changed = at.now;
  const auto done = at.execute(market::MoveJob{job.id, job.also[to->place], to->workers, to->why});
  if (!done) {
    spdlog::warn("{}: {}", to_string(job.id), done.error().message);
    return false;
  }
  spdlog::info("{}: class {} instead of {}: {}", to_string(job.id), places[to->place].name,
               here.name, to->why);
  return true;
}

void Replan::resize(const Look& at, Watched& seen) {
  const auto& job = at.job;
  const advisor::Running running{.left = at.left,
                                 .seconds = (job.terms.deadline - at.now).seconds(),
                                 .pace = at.pace,
                                 .aim = market::aimed_workers(job),
                                 .least = job.terms.workers.min,
                                 .most = job.terms.workers.max,
                                 .price = price_of(at.s, job),
                                 .credits = credits_left(at.s, job)};
  const auto change = advisor::resize(running);
  if (!change) return;
  seen.changed = at.now;
  const auto done = at.execute(market::ResizeJob{job.id, change->workers, change->why});
  if (!done) return spdlog::warn("{}: {}", to_string(job.id), done.error().message);
  spdlog::info("{}: {} workers instead of {}: {}", to_string(job.id), change->workers, running.aim,
               change->why);
}

}  // namespace souk::server
