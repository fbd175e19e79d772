#include <algorithm>
#include <cmath>

#include "lab/worlds/market_sim.h"

namespace souk::lab::sim {
namespace {}  // namespace

void MarketWorld::act(const Planned& p) {
  switch (p.act) {
    case Act::start:
    case Act::finish:
    case Act::release:
      on_lease(p);
      break;
    case Act::beat: {
      auto& m = record_->machines[p.id];
      m.beating = false;
      if (m.present && beat(static_cast<std::uint32_t>(p.id)))
        keep_beating(static_cast<std::uint32_t>(p.id));
      break;
    }
    case Act::leave:
      leave(static_cast<std::uint32_t>(p.id - 1));
      break;
    case Act::expire:
      expire(static_cast<std::uint32_t>(p.id - 1), p.epoch);
      break;
    case Act::back:
      back(static_cast<std::uint32_t>(p.id - 1));
      break;
    case Act::revise_offer:
      revise_offer(p.id);
      break;
    case Act::revise_jobs:
      revise_jobs(p.id);
      break;
    case Act::defect:
      defect(JobId(p.id));
      break;
    case Act::withdraw:
      if (record_->jobs[p.id - 1].started < 0 && record_->jobs[p.id - 1].ended < 0)
        do_as(owner_of(JobId(p.id)), market::CancelJob{JobId(p.id), "waited too long"});
      break;
  }
  top_up();
}

void MarketWorld::on_lease(const Planned& p) {
  const LeaseId id(p.id);
  const auto* l = state_.leases.find(id);
  if (l == nullptr || l->state == LeaseState::closed || l->epoch != p.epoch) return;
  const auto machine = static_cast<std::uint32_t>(l->machine.value - 1);
  if (!record_->machines[machine].present) return;
  if (p.act != Act::start) {
    const bool done = p.act == Act::finish;
    do_as(agent(machine),
          market::FinishLease{
              id, p.epoch, done ? LeaseOutcome::completed : LeaseOutcome::released, {}, {}});
    return;
  }
  if (l->state != LeaseState::granted || time_at(now_) >= l->term.until) return;
  const auto index = l->job.value - 1;
  const auto part = static_cast<std::size_t>(l->part);
  const bool first = record_->jobs[index].started < 0;
  do_as(agent(machine), market::StartLease{id, p.epoch});
  const auto& job = record_->jobs[index];
  const auto& draw = draws_.jobs[job.draw];
  const auto saved = part < job.saved.size() ? job.saved[part] : 0;
  plan(now_ + std::max(0.0, draw.run_time - saved), Act::finish, id.value, p.epoch);
  keep_beating(machine);
  if (first) started(JobId(index + 1), draw);
}

void MarketWorld::started(JobId id, const JobDraw& draw) {
  auto& u = users_[draw.user];
  std::erase(u.waiting, id);
  const auto& terms = state_.jobs.at(id).terms;
  u.strategy->learn({true, draw.value, in_credits(terms.limit), true,
                     situation(true, draw.value, *u.draw->population, 0).last_price});
}

void MarketWorld::keep_beating(std::uint32_t machine) {
  auto& m = record_->machines[machine];
  if (std::exchange(m.beating, true)) return;
  plan(now_ + s_.rules.settle_every.seconds(), Act::beat, machine);
}

bool MarketWorld::beat(std::uint32_t machine) {
  const MachineId id(machine + 1);
  market::Heartbeat beat{id, {}};
  for (const auto lease : state_.index.leases_of[id.value]) {
    const auto& l = state_.leases.at(lease);
    if (l.state != LeaseState::granted) beat.leases.push_back({l.id, l.epoch});
  }
  if (beat.leases.empty()) return !state_.index.leases_of[id.value].empty();
  do_as(agent(machine), std::move(beat));
  return true;
}

void MarketWorld::leave(std::uint32_t machine) {
  auto& m = record_->machines[machine];
  const auto& away = draws_.machines[m.draw].away[m.away++];
  const MachineId id(machine + 1);
  if (away.notice) {
    const auto until = away.until == kForever ? base::kNever : time_at(away.until);
    do_as(agent(machine), market::PauseOffer{OfferId(id.value), until});
  } else {
    m.present = false;
    plan(now_ + state_.settings.silence.seconds() + kTick, Act::expire, id.value,
         static_cast<std::int32_t>(m.away));
  }
  if (away.until < kForever) plan(away.until, Act::back, id.value);
}

void MarketWorld::expire(std::uint32_t machine, std::int32_t absence) {
  const auto& m = record_->machines[machine];
  if (m.present || static_cast<std::int32_t>(m.away) != absence) return;
  const auto leases = state_.index.leases_of[machine + 1];
  for (const auto id : leases)
    if (const auto* l = state_.leases.find(id); l != nullptr && l->state != LeaseState::granted)
      do_as(market::kSystem, market::ExpireLease{id});
}

void MarketWorld::back(std::uint32_t machine) {
  auto& m = record_->machines[machine];
  const auto& all = draws_.machines[m.draw].away;
  if (m.away < all.size()) plan(all[m.away].from, Act::leave, machine + 1);
  if (std::exchange(m.present, true)) return;
  // What ran here is gone; the market hears so.
  const auto leases = state_.index.leases_of[machine + 1];
  for (const auto id : leases) {
    const auto* l = state_.leases.find(id);
    if (l == nullptr || l->state == LeaseState::closed) continue;
    const auto outcome =
        l->state == LeaseState::granted ? LeaseOutcome::unstarted : LeaseOutcome::released;
    do_as(agent(machine), market::FinishLease{id, l->epoch, outcome, {}, {}});
  }
  do_as(agent(machine), market::Heartbeat{MachineId(machine + 1), {}});
}

void MarketWorld::submit(std::size_t draw_index) {
  const auto& draw = draws_.jobs[draw_index];
  auto& u = users_[draw.user];
  if (u.gone) return;
  const auto& p = *u.draw->population;
  const auto quoted =
      quote(*u.strategy, true, draw.value, p, u.draw->index, u.quotes++, draw.run_time);
  // A gang stays whole, under each name in turn.
  const auto pieces = p.gang ? 1 : std::min(u.names, draw.workers);
  const auto turn = u.submitted++;
  const auto now = situation(true, draw.value, p, draw.run_time);
  for (std::int32_t n = 0; n < pieces; ++n) {
    const auto name = (turn + static_cast<std::uint64_t>(n)) % static_cast<std::uint64_t>(u.names);
    const auto workers = draw.workers / pieces + (n < draw.workers % pieces ? 1 : 0);
    const auto limit = as_price(pieces == 1 ? quoted : u.strategy->quote_of(n, now, quoted));
    const auto id = state_.jobs.next();
    record_->jobs.push_back(
        {.draw = static_cast<std::uint32_t>(draw_index), .workers = workers, .submitted = now_});
    if (!try_as({AccountId(u.first.value + name), Scope::user, {}},
                market::SubmitJob{.name = {},
                                  .kind = "batch",
                                  .slot_class = state_.find_class(p.slot_class)->id,
                                  .terms = {.workers = {p.gang ? workers : 1, workers},
                                            .limit = limit,
                                            .budget = budget_of(limit, workers, draw.run_time)},
                                  .work = "lab",
                                  .retry = {.lost = true, .failed = false, .max = 1'000}})) {
      record_->jobs.pop_back();  // It cannot afford it.
      continue;
    }
    u.waiting.push_back(id);
    plan(now_ + kPatience * u.draw->mean_run_time, Act::defect, id.value);
    if (p.patience) plan(now_ + p.patience->seconds(), Act::withdraw, id.value);
  }
}

void MarketWorld::defect(JobId id) {
  const auto& job = record_->jobs[id.value - 1];
  if (job.started >= 0 || job.ended >= 0) return;
  const auto who = draws_.jobs[job.draw].user;
  record_->defected[who] = true;
  auto& u = users_[who];
  if (!u.draw->population->leaves || std::exchange(u.gone, true)) return;
  for (const auto waiting : std::exchange(u.waiting, {}))
    if (record_->jobs[waiting.value - 1].ended < 0)
      do_as(owner_of(waiting), market::CancelJob{waiting, "its owner left"});
}

void MarketWorld::revise_offer(std::uint64_t index) {
  auto& l = lenders_[index];
  const auto& p = *l.draw->population;
  plan(now_ + p.revise.seconds(), Act::revise_offer, index);
  auto& first = record_->machines[l.first_machine];
  bool traded = false;
  for (std::int32_t n = 0; n < l.names; ++n)
    traded |=
        std::exchange(record_->machines[l.first_machine + static_cast<std::uint32_t>(n)].traded,
                      false) ||
        !state_.index.leases_of[l.first_machine + static_cast<std::uint32_t>(n) + 1].empty();
  l.strategy->learn(
      {false, l.draw->cost, first.quoted, traded, situation(false, l.draw->cost, p, 0).last_price});
  first.quoted = quote(*l.strategy, false, l.draw->cost, p, l.draw->index, l.quotes++, 0);
  for (std::int32_t n = 0; n < l.names; ++n) {
    const auto machine = l.first_machine + static_cast<std::uint32_t>(n);
    if (record_->machines[machine].present)
      do_as(agent(machine),
            market::ChangeOffer{OfferId(machine + 1), terms_of(l, n, first.quoted)});
  }
}

void MarketWorld::revise_jobs(std::uint64_t index) {
  auto& u = users_[index];
  const auto& p = *u.draw->population;
  plan(now_ + p.revise.seconds(), Act::revise_jobs, index);
  std::erase_if(u.waiting, [&](JobId id) { return record_->jobs[id.value - 1].ended >= 0; });
  for (const auto id : u.waiting) {
    const auto& job = record_->jobs[id.value - 1];
    const auto& draw = draws_.jobs[job.draw];
    auto terms = state_.jobs.at(id).terms;
    u.strategy->learn({true, draw.value, in_credits(terms.limit), false,
                       situation(true, draw.value, p, 0).last_price});
    terms.limit =
        as_price(quote(*u.strategy, true, draw.value, p, u.draw->index, u.quotes++, draw.run_time));
    terms.budget = std::max(terms.budget, budget_of(terms.limit, job.workers, draw.run_time));
    (void)try_as(owner_of(id), market::ChangeJob{id, std::move(terms)});  // If it can pay.
  }
}

void MarketWorld::top_up() {
  for (const auto id : std::exchange(out_of_budget_, {})) {
    const auto* job = state_.jobs.find(id);
    if (job == nullptr || job->state != market::JobState::paused) continue;
    auto terms = job->terms;
    const auto& sim = record_->jobs[id.value - 1];
    terms.budget += budget_of(terms.limit, sim.workers, draws_.jobs[sim.draw].run_time);
    if (try_as(owner_of(id), market::ChangeJob{id, std::move(terms)}))
      do_as(owner_of(id), market::ResumeJob{id});
  }
}

}  // namespace souk::lab::sim
