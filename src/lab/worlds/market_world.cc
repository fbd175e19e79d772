#include "lab/worlds/market_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/worlds/market_sim.h"

namespace souk::lab {
namespace sim {
namespace {

constexpr auto kSampleEvery = base::minutes(5);  // The core's own.

}  // namespace

Result<Record> MarketWorld::run(const Watch& watch) {
  found();
  if (failure_) return std::unexpected(*failure_);
  const auto end = s_.horizon.seconds();
  double told = 0;
  while (!failure_) {
    SOUK_TRY(watch.go_on(record_->leases.size()));  // Each is a trade.
    const auto next = step(end);
    if (next > end) break;
    if (watch.progress && next - told > end / 1'000) watch.progress((told = next) / end);
  }
  now_ = end;
  // The last reports, so that what was used is paid.
  for (std::uint32_t m = 0; m < record_->machines.size() && !failure_; ++m)
    if (record_->machines[m].present) beat(m);
  if (failure_) return std::unexpected(*failure_);
  auto out = record_->finish(end);
  balances(out);
  return out;
}

void MarketWorld::found() {
  for (const auto& event : market::founding_events()) apply(state_, kMarketStart, event);
  auto settings = state_.settings;
  settings.term = s_.rules.term;
  settings.settle_every = s_.rules.settle_every;
  settings.fee_ppm = static_cast<std::int32_t>(std::lround(s_.rules.fee * 1e6));
  settings.retention = base::hours(1);  // What has ended is of no more use here.
  do_as(market::kSystem, market::ChangeSettings{settings});
  for (const auto* side : {&s_.lenders, &s_.borrowers})
    for (const auto& p : *side) use_class(p.slot_class);
  if (failure_) return;
  record_.emplace(s_, draws_, state_);
  for (const auto& m : draws_.machines) lender(m);
  for (const auto& u : draws_.users) user(u);
}

void MarketWorld::use_class(const std::string& name) {
  const auto* found = state_.find_class(name);
  if (found == nullptr) {
    failure_ = {base::Code::invalid, fmt::format("there is no slot class '{}'", name),
                "`souk class list` names them: c1, c4, g1..."};
    return;
  }
  if (std::ranges::find(classes_, found->id) != classes_.end()) return;
  auto c = *found;
  c.mechanism = mechanism_.name;
  c.params = class_params(mechanism_.name, mechanism_.params);
  if (s_.rules.price) c.price = *s_.rules.price;
  classes_.push_back(c.id);
  do_as(market::kSystem, market::SetClass{std::move(c)});
}

AccountId MarketWorld::accounts(std::string_view prefix, std::int32_t names, double credits) {
  const auto first = state_.accounts.next();
  for (std::int32_t n = 0; n < names && !failure_; ++n) {
    const auto id = state_.accounts.next();
    do_as(market::kSystem, market::CreateAccount{fmt::format("{}{}", prefix, id.value), "-"});
    if (const auto mine = as_price(credits / names); mine > Credits())
      do_as(market::kSystem, market::GrantCredits{id, mine, ""});
  }
  return first;
}

void MarketWorld::lender(const MachineDraw& draw) {
  const auto& p = *draw.population;
  Lender l{.draw = &draw, .strategy = make_strategy(p.strategy)};
  l.names = std::min(l.strategy->names(), draw.slots);
  l.first = accounts("lender", l.names, p.credits);
  l.first_machine = static_cast<std::uint32_t>(record_->machines.size());
  const auto& c = *state_.find_class(p.slot_class);
  const auto quoted = quote(*l.strategy, false, draw.cost, p, draw.index, l.quotes++, 0);
  for (std::int32_t n = 0; n < l.names && !failure_; ++n) {
    const auto slots = draw.slots / l.names + (n < draw.slots % l.names ? 1 : 0);
    const auto id = state_.machines.next();
    const Actor owner{AccountId(l.first.value + static_cast<std::uint64_t>(n)), Scope::user, {}};
    do_as(owner, market::AddMachine{fmt::format("m{}", id.value),
                                    {.cores = c.cores * slots,
                                     .memory_mib = c.memory_mib * slots,
                                     .gpus = c.gpus * slots,
                                     .gpu_memory_mib = c.gpu_memory_mib}});
    record_->machines.push_back({.draw = static_cast<std::uint32_t>(&draw - draws_.machines.data()),
                                 .slots = slots,
                                 .quoted = quoted});
    do_as(owner, market::PostOffer{id, c.id, terms_of(l, n, quoted)});
    if (!draw.away.empty()) plan(draw.away.front().from, Act::leave, id.value);
  }
  lenders_.push_back(std::move(l));
  if (p.revise > Duration())
    plan(p.revise.seconds() * (1 + mark("offers", lenders_.size())), Act::revise_offer,
         lenders_.size() - 1);
}

void MarketWorld::user(const UserDraw& draw) {
  const auto& p = *draw.population;
  User u{.draw = &draw, .strategy = make_strategy(p.strategy)};
  u.names = u.strategy->names();
  u.first = accounts("user", u.names, p.credits);
  users_.push_back(std::move(u));
  if (p.revise > Duration())
    plan(p.revise.seconds() * (1 + mark("jobs", users_.size())), Act::revise_jobs,
         users_.size() - 1);
}

double MarketWorld::mark(std::string_view what, std::uint64_t index) const {
  auto random = stream(seed_, what, index);
  return random.unit();
}

Situation MarketWorld::situation(bool buys, double value, const Population& p,
                                 double run_time) const {
  const auto& history = record_->prices(state_.find_class(p.slot_class)->id);
  return {.buys = buys,
          .value = value,
          .lowest = lowest_,
          .highest = highest_,
          .last_price = history.empty() ? std::nullopt : std::optional(history.back()),
          .history = history,
          .run_time = run_time,
          .slot = s_.rules.term.seconds()};
}

double MarketWorld::quote(Strategy& strategy, bool buys, double value, const Population& p,
                          std::uint64_t index, std::uint64_t number, double run_time) {
  auto random = stream(seed_, p.name + "/price", index, number);
  return strategy.quote(situation(buys, value, p, run_time), random);
}

market::OfferTerms MarketWorld::terms_of(const Lender& l, std::int32_t name, double quoted) const {
  const auto& p = *l.draw->population;
  const auto now = situation(false, l.draw->cost, p, 0);
  const auto price = l.names == 1 ? quoted : l.strategy->quote_of(name, now, quoted);
  return {.slots = record_->machines[l.first_machine + static_cast<std::uint32_t>(name)].slots,
          .reserve = as_price(price),
          .availability = {.weekly = p.windows},
          .longest_lease = p.longest_lease};
}

Credits MarketWorld::budget_of(Credits limit, std::int32_t workers, double run_time) {
  const auto hours = 1.5 * run_time / 3600 + .1;
  return as_price(in_credits(limit) * workers * hours) + Credits(100 * workers);
}

void MarketWorld::plan(double at, Act act, std::uint64_t id, std::int32_t epoch) {
  if (at > s_.horizon.seconds()) return;
  agenda_.add(std::max(at, now_), act, id, epoch);
}

double MarketWorld::next_due() const {
  auto at = base::kNever;
  if (const auto leases = state_.index.lease_due.soonest()) at = std::min(at, *leases);
  if (const auto jobs = state_.index.job_due.soonest()) at = std::min(at, *jobs);
  if (at == base::kNever) return kForever;
  return std::max(std::ceil(seconds_at(at) / kTick) * kTick, ticked_ + kTick);
}

double MarketWorld::step(double end) {
  const auto arrival = next_job_ < draws_.jobs.size() ? draws_.jobs[next_job_].arrival : kForever;
  const auto* const first = agenda_.next();
  const auto planned = first == nullptr ? kForever : first->at;
  const auto due = next_due();
  const auto next = std::min({arrival, planned, due, next_round_});
  if (next > end) return next;
  now_ = next;
  if (due <= next) {
    ticked_ = next;
    while (do_as(market::kSystem, market::Tick{}) > 0) {
    }
  } else if (planned <= next) {
    act(agenda_.take());
  } else if (arrival <= next) {
    submit(next_job_++);
  } else {
    round();
  }
  return next;
}

void MarketWorld::round() {
  next_round_ += s_.round.seconds();
  auto random = stream(seed_, "clear", rounds_++);
  for (const auto c : classes_) {
    const auto seed = random.next();
    // The core would look and say nothing: there is no need to ask.
    if (state_.index.classes[c.value - 1].wanting.empty() &&
        time_at(now_) - state_.prices[c.value - 1].sampled_at() < kSampleEvery)
      continue;
    do_as(market::kSystem, with_answer(program_.get(), state_, time_at(now_), {c, seed}));
  }
}

std::size_t MarketWorld::do_as(const Actor& actor, market::Command command) {
  const auto done = market::execute(state_, {time_at(now_), actor, std::move(command)}, events_);
  if (!done) {
    if (!failure_) failure_ = done.error();
    return 0;
  }
  if (record_)
    for (const auto& event : events_) observe(event);
  return events_.size();
}

bool MarketWorld::try_as(const Actor& actor, market::Command command) {
  if (!market::execute(state_, {time_at(now_), actor, std::move(command)}, events_)) return false;
  for (const auto& event : events_) observe(event);
  return true;
}

void MarketWorld::observe(const market::Event& event) {
  record_->observe(now_, event);
  if (const auto* granted = std::get_if<market::LeaseGranted>(&event)) {
    const auto& l = granted->lease;
    plan(now_ + s_.rules.start_after.seconds(), Act::start, l.id.value, l.epoch);
  } else if (const auto* draining = std::get_if<market::LeaseDraining>(&event)) {
    plan(seconds_at(draining->until), Act::release, draining->lease.value,
         state_.leases.at(draining->lease).epoch);
  } else if (const auto* paused = std::get_if<market::JobPaused>(&event)) {
    out_of_budget_.push_back(paused->job);
  }
}

Actor MarketWorld::agent(std::uint32_t machine) const {
  const MachineId id(machine + 1);
  return {state_.machines.at(id).owner, Scope::machine, id};
}

Actor MarketWorld::owner_of(JobId job) const {
  return {state_.jobs.at(job).owner, Scope::user, {}};
}

void MarketWorld::balances(Record& out) const {
  const auto all = [&](AccountId first, std::int32_t names) {
    double sum = 0;
    for (std::int32_t n = 0; n < names; ++n) {
      const auto& b = state_.ledger.balance(AccountId(first.value + static_cast<std::uint64_t>(n)));
      sum += in_credits(b.available + b.bonus + b.escrow);
    }
    return sum;
  };
  for (const auto& u : users_) out.credits.push_back(all(u.first, u.names));
  for (const auto& l : lenders_) out.credits.push_back(all(l.first, l.names));
}

}  // namespace sim

Result<Record> run_market(const Scenario& scenario, const Traces& traces,
                          const MechanismChoice& mechanism, std::uint64_t seed,
                          const Watch& watch) {
  auto out = sim::MarketWorld(scenario, traces, mechanism, seed).run(watch);
  if (out) return out;
  auto error = std::move(out).error();
  error.message = fmt::format("{}, seed {}: {}", mechanism.label, seed, error.message);
  return std::unexpected(std::move(error));
}

}  // namespace souk::lab
