#include "lab/worlds/market_record.h"

#include <algorithm>
#include <cmath>

#include "base/time.h"

namespace souk::lab {
namespace {

constexpr std::size_t kPrices = 256;  // Kept for agents to look at.

}  // namespace

MarketRecord::MarketRecord(const Scenario& scenario, const Draws& draws, const market::State& state)
    : draws_(draws), state_(state) {
  for (const auto& c : state.classes) {
    bounds_.push_back(bound_of(scenario, draws, c.name));
    record_.most_gain += bounds_.back().gain;
    record_.offered += bounds_.back().offered;
  }
  prices_.resize(state.classes.size());
  defected.resize(draws.users.size());
  had_.resize(draws.users.size());
  wanted_.resize(draws.users.size());
  for (const auto& job : draws.jobs)
    wanted_[job.user] += job.workers * job.run_time / base::kSecondsPerHour;
  for (const auto& shock : scenario.shocks)
    if (shock.dies.empty() && !record_.shock_end) record_.shock_end = shock.at + shock.length;
  record_.end = scenario.horizon.seconds();
}

void MarketRecord::granted(double now, const market::Lease& l) {
  const auto job = static_cast<std::uint32_t>(l.job.value - 1);
  const auto machine = static_cast<std::uint32_t>(l.machine.value - 1);
  leases.push_back({job, machine, l.part});
  machines[machine].traded = true;
  record_.trades.push_back({.time = now,
                            .bid = l.job.value,
                            .ask = l.offer.value,
                            .units = l.slots,
                            .pays = l.term.pays,
                            .gets = l.term.gets,
                            .limit = state_.jobs.at(l.job).terms.limit,
                            .reserve = state_.offers.at(l.offer).terms.reserve.value_or(Credits()),
                            .value = base::as_credits(draw_of(jobs[job]).value),
                            .cost = base::as_credits(draws_.machines[machines[machine].draw].cost),
                            .equilibrium = bounds_[l.slot_class.value - 1].price});
}

void MarketRecord::end_of(double now, const SimLease& lease, std::int32_t slots) {
  if (lease.started < 0) return;
  const auto hours = slots * (now - lease.started) / base::kSecondsPerHour;
  record_.used += hours;
  cost_ += hours * draws_.machines[machines[lease.machine].draw].cost;
  had_[draw_of(jobs[lease.job]).user] += hours;
}

void MarketRecord::closed(double now, const market::LeaseClosed& e) {
  const auto& lease = leases[e.lease.value - 1];
  end_of(now, lease, state_.leases.at(e.lease).slots);
  if (lease.started < 0) return;
  auto& job = jobs[lease.job];
  const auto part = static_cast<std::size_t>(lease.part);
  if (e.outcome == market::LeaseOutcome::completed) {  // The core counts it now.
    if (part < job.saved.size()) job.saved[part] = 0;
    return;
  }
  const auto& draw = draw_of(job);
  const auto every = draws_.users[draw.user].population->checkpoint.seconds();
  if (every <= 0) return;
  // With notice there is time to save all; without, what was saved last is what is left.
  auto worked = now - lease.started;
  if (e.outcome == market::LeaseOutcome::lost) worked = std::floor(worked / every) * every;
  job.saved.resize(static_cast<std::size_t>(draw.workers));
  auto& saved = job.saved[part];
  saved = std::min(draw.run_time, saved + worked);
}

void MarketRecord::observe(double now, const market::Event& event) {
  if (const auto* grant = std::get_if<market::LeaseGranted>(&event))
    return granted(now, grant->lease);
  if (const auto* settled = std::get_if<market::LeaseSettled>(&event)) {
    paid_ += in_credits(settled->amount);
    fees_ += in_credits(settled->fee);
    earned_ += in_credits(settled->amount - settled->fee);
  } else if (const auto* started = std::get_if<market::LeaseStarted>(&event)) {
    auto& lease = leases[started->lease.value - 1];
    lease.started = now;
    auto& job = jobs[lease.job];
    if (job.started < 0) job.started = now;
  } else if (const auto* ended = std::get_if<market::LeaseClosed>(&event)) {
    closed(now, *ended);
  } else if (const auto* over = std::get_if<market::JobEnded>(&event)) {
    auto& job = jobs[over->job.value - 1];
    job.ended = now;
    job.done = over->state == market::JobState::succeeded;
    const auto& draw = draw_of(job);
    if (job.done) value_ += draw.value * job.workers * draw.run_time / base::kSecondsPerHour;
  } else if (const auto* round = std::get_if<market::RoundCleared>(&event)) {
    if (!round->price) return;
    const auto c = round->slot_class.value - 1;
    record_.prices.push_back({now, in_credits(*round->price), bounds_[c].price});
    auto& kept = prices_[c];
    if (kept.size() == 2 * kPrices) kept.erase(kept.begin(), kept.begin() + kPrices);
    kept.push_back(in_credits(*round->price));
  }
}

Record MarketRecord::finish(double now) {
  // Leases still open have run until now; what they did is worth what its job is.
  state_.leases.for_each([&](const market::Lease& l) {
    if (l.state == market::LeaseState::closed) return;
    const auto& lease = leases[l.id.value - 1];
    end_of(now, lease, l.slots);
    if (lease.started < 0) return;
    auto& job = jobs[lease.job];
    job.saved.resize(static_cast<std::size_t>(draw_of(job).workers));
    job.saved[static_cast<std::size_t>(lease.part)] += now - lease.started;
  });
  record_.jobs = static_cast<std::int64_t>(draws_.jobs.size());
  std::vector<bool> finished(draws_.jobs.size(), true), seen(draws_.jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& job = jobs[i];
    const auto& draw = draw_of(job);
    seen[job.draw] = true;
    finished[job.draw] = finished[job.draw] && job.done;
    record_.waits.push_back((job.started >= 0 ? job.started
                             : job.ended >= 0 ? job.ended
                                              : now) -
                            draw.arrival);
    if (job.ended >= 0) continue;
    double useful = 0;
    for (const auto saved : job.saved) useful += std::min(saved, draw.run_time);
    if (const auto* live = state_.jobs.find(base::JobId(i + 1)))
      useful += live->done * draw.run_time;
    value_ += draw.value * useful / base::kSecondsPerHour;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) record_.jobs_done += seen[i] && finished[i];
  for (std::size_t u = 0; u < draws_.users.size(); ++u) {
    if (draws_.users[u].jobs == 0) continue;
    ++record_.users;
    record_.defectors += defected[u];
    if (wanted_[u] > 0) record_.access.push_back(had_[u] / wanted_[u]);
  }
  record_.buyers_gain = value_ - paid_;
  record_.sellers_gain = earned_ - cost_;
  record_.platform = fees_;
  record_.gain = value_ - cost_;
  record_.events = state_.events;
  return std::move(record_);
}

}  // namespace souk::lab
