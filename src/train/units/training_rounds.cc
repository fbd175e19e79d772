#include <algorithm>
#include <utility>

#include "train/units/training.h"

// Rounds by the clock (round_clock.h): all have work from the same version of the parameters, one
// unit each; who has answered waits for the rest; and when the time is over what came is folded.

namespace souk::train {
namespace {

using base::Duration;
using base::Time;

// Whoever waits for a round asks again when it should be folded, and then so often: a part of it,
// and of the time that it is late.
constexpr double kAgain = 0.05;
constexpr auto kSoonest = base::milliseconds(2), kLatest = base::milliseconds(100);

}  // namespace

Unit Training::of_round(WorkerRecord& worker, Worker id, Time now,
                        const std::set<std::int32_t>& holds) {
  close_round(now);
  if (!round_over_ && !worker.round.had_turn && !s_.epochs.empty()) {
    if (!round_.under_way()) {
      std::vector<RoundClock::Pace> lines;
      for (const auto& [_, w] : workers_)
        if (is_active(w, now)) lines.push_back(w.round.pace);
      round_.begin(now, lines);
    }
    auto steps = round_.steps(worker.round, now);
    if (plan_.local_steps > 0) steps = std::min<std::int64_t>(steps, plan_.local_steps);
    if (const auto unit = steps > 0 ? range_for(worker, id, now, holds, steps) : std::nullopt) {
      worker.round.gave(unit->steps);
      return *unit;
    }
  }
  return {.kind = UnitKind::wait, .wait = until_folded(now)};
}

// Who evaluates, or was refused and waits, is not waited for.
bool Training::all_had_turn(Time now) const {
  return std::ranges::all_of(workers_, [&](const auto& w) {
    const auto& worker = w.second;
    return worker.round.had_turn || !worker.has.empty() || now < worker.not_before ||
           !is_active(worker, now);
  });
}

// What comes late is nobody's fault, and is done again by others. What is here and being judged is
// waited for.
void Training::close_round(Time now) {
  const bool last = s_.epochs.empty();
  if (round_over_ || (!round_.under_way() && !last)) return;
  std::vector<std::int64_t> late;
  for (const auto& [id, g] : given_) {
    if (g.unit.kind != UnitKind::train || g.unit.deadline == base::kNever) continue;
    auto& worker = workers_.at(g.worker).round;
    if (now < round_.late(worker.pace)) continue;
    worker.late(now - g.at);
    late.push_back(id);
  }
  for (const auto id : late) take_back(id, now, false);
  if (under_way() > 0) return;
  if (!last && now < round_.over() && !all_had_turn(now)) return;
  round_.end();
  for (auto& [_, w] : workers_) w.round.had_turn = false;
  round_over_ = buffered_ > 0;
}

Duration Training::until_folded(Time now) const {
  auto done = now;
  for (const auto& [_, g] : given_)
    if (g.unit.kind == UnitKind::train) done = std::max(done, g.expected);
  // Nobody sleeps through the next round because somebody, or something unknown, is late in this.
  done = std::min(done, round_.over());
  if (done > now) return std::max(done - now, kSoonest);
  const Duration later(
      static_cast<std::int64_t>(kAgain * static_cast<double>((now - round_.over()).us)));
  return std::clamp(std::max(round_.part(kAgain), later), kSoonest, kLatest);
}

void Training::folded() {
  buffered_ = 0;
  round_over_ = false;
}

}  // namespace souk::train
