#include <algorithm>

#include "train/units/training.h"

// The workers of a training: who is there, and what each of them has.

namespace souk::train {
namespace {

using base::Time;

constexpr auto kActive = base::seconds(5);

}  // namespace

// The worker has said what became of a unit, if that was still its own. One that it has beside it
// it can begin now, perhaps sooner than was thought.
void Training::reported(Worker id, std::int64_t unit, Time now) {
  auto& worker = workers_[id];
  if (worker.has.erase(unit) == 0) return;
  worker.seen = worker.reported = now;
  for (const auto other : worker.has) {
    auto& next = given_.at(other);
    next.unit.deadline = std::min(next.unit.deadline, now + allowance(worker, next.unit));
    next.expected = std::min(next.expected, next.unit.kind == UnitKind::train
                                                ? now + time_for(worker, next.unit.steps, 0.5)
                                                : next.unit.deadline);
  }
}

void Training::give_back(std::int64_t id, Time now) {
  const auto wasted = s_.wasted_steps;
  drop(id, now);
  s_.wasted_steps = wasted;
}

void Training::gone(Worker id, Time now) {
  const auto it = workers_.find(id);
  if (it == workers_.end()) return;
  for (const auto unit : std::set(it->second.has)) take_back(unit, now, true);
  leave_trials(id);
  it->second.seen = Time();
}

Training::Owner Training::owner(Worker id) const {
  const auto it = workers_.find(id);
  return it == workers_.end() ? 0 : it->second.owner;
}

bool Training::is_active(const WorkerRecord& worker, Time now) {
  return !worker.has.empty() || now - worker.seen < kActive;
}

bool Training::others_there(Owner owner, Time now) const {
  return std::ranges::any_of(workers_, [&](const auto& w) {
    return w.second.owner != 0 && w.second.owner != owner && is_active(w.second, now);
  });
}

std::map<Training::Worker, Training::WorkerView> Training::workers() const {
  std::map<Worker, WorkerView> out;
  for (const auto& [id, w] : workers_)
    out[id] = {.units = w.units,
               .steps = w.steps,
               .lost = w.lost,
               .rejected = w.rejected,
               .streak = w.streak,
               .busy = !w.has.empty(),
               .seen = w.seen,
               .seconds_per_step = w.quantile(0.5)};
  return out;
}

std::int32_t Training::active(Time now) const {
  return static_cast<std::int32_t>(
      std::ranges::count_if(workers_, [&](const auto& w) { return is_active(w.second, now); }));
}

}  // namespace souk::train
