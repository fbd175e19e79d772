#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "market/decide/decide.h"
#include "market/invariants.h"
#include "market/liveness.h"

namespace souk::market::testing {

using namespace base::literals;

inline constexpr Time kStart{1'767'571'200'000'000};  // 2026-01-05T00:00:00Z, a Monday.
inline constexpr Actor kBoss{AccountId(1), Scope::operator_, {}};

inline Actor user(AccountId account) { return {account, Scope::user, {}}; }

// Up to `max` workers at `limit`, with `budget` in escrow.
inline JobTerms wants(std::int32_t min, std::int32_t max, Credits limit, Credits budget) {
  return {.workers = {min, max}, .limit = limit, .budget = budget};
}

template <class E>
std::size_t count(const Events& events) {
  std::size_t n = 0;
  for (const auto& e : events) n += std::holds_alternative<E>(e);
  return n;
}

template <class E>
E only(const Events& events) {
  EXPECT_EQ(count<E>(events), 1u);
  for (const auto& e : events)
    if (const auto* found = std::get_if<E>(&e)) return *found;
  throw std::logic_error("the event is missing");
}

// A small market for tests: its state, a clock that moves when told to, and one call for each thing
// that people and agents do. Every command is followed by a check of all invariants. Account 1 is
// an operator; machines stand for their agents too.
class World {
 public:
  State s;
  Time now = kStart;

  World() {
    for (auto event : founding_events()) {
      // Tests reckon with one price between the marginal bid and ask.
      if (auto* set = std::get_if<ClassSet>(&event)) set->slot_class.mechanism = "k-double";
      apply(s, now, event);
    }
    run(kSystem, CreateAccount{.name = "boss", .is_operator = true});
  }

  Events run(const Actor& actor, Command command) {
    auto events = execute(s, {now, actor, std::move(command)});
    EXPECT_TRUE(events) << (events ? "" : events.error().message);
    EXPECT_EQ(broken_invariants(s), std::vector<std::string>{});
    return events ? *std::move(events) : Events{};
  }

  base::Error refused(const Actor& actor, Command command) {
    const auto before = s.events;
    const auto events = execute(s, {now, actor, std::move(command)});
    EXPECT_FALSE(events) << "it was accepted";
    EXPECT_EQ(s.events, before);
    return events ? base::Error{} : events.error();
  }

  AccountId account(const std::string& name, Credits credits = {}) {
    run(kSystem, CreateAccount{.name = name});
    const auto id = s.find_account(name)->id;
    if (credits > Credits()) run(kBoss, GrantCredits{id, credits, "for a test"});
    return id;
  }

  MachineId machine(AccountId owner, MachineSpec spec = {.cores = 8, .memory_mib = 65'536}) {
    run(user(owner), AddMachine{"m" + std::to_string(s.machines.next().value), std::move(spec)});
    return s.machines.before(s.machines.next());
  }

  ClassId slot_class(std::string_view name = "c1") const { return s.find_class(name)->id; }

  OfferId offer(MachineId m, OfferTerms terms = {}, std::string_view name = "c1") {
    run(user(s.machines.at(m).owner), PostOffer{m, slot_class(name), std::move(terms)});
    return s.offers.before(s.offers.next());
  }

  JobId job(AccountId owner, JobTerms terms, std::string_view name = "c1") {
    run(user(owner), SubmitJob{"job", "batch", slot_class(name), std::move(terms)});
    return s.jobs.before(s.jobs.next());
  }

  Events clear(std::string_view name = "c1", std::uint64_t seed = 1) {
    return run(kSystem, Clear{slot_class(name), seed});
  }

  // Moves the clock and does all that is due.
  Events tick(Duration d = {}) {
    now = now + d;
    Events all;
    for (auto some = run(kSystem, Tick{}); !some.empty(); some = run(kSystem, Tick{}))
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }

  Actor agent(MachineId m) const { return {s.machines.at(m).owner, Scope::machine, m}; }

  Events start(LeaseId id) {
    const auto& l = s.leases.at(id);
    return run(agent(l.machine), StartLease{id, l.epoch});
  }

  // The agent of `m` reports all it holds.
  Events beat(MachineId m) {
    Heartbeat beat{m, {}};
    s.leases.for_each([&](const Lease& l) {
      if (l.machine == m && l.state != LeaseState::closed) beat.leases.push_back({l.id, l.epoch});
    });
    return run(agent(m), std::move(beat));
  }

  Events finish(LeaseId id, LeaseOutcome outcome = LeaseOutcome::completed) {
    const auto& l = s.leases.at(id);
    return run(agent(l.machine), FinishLease{id, l.epoch, outcome, "exit", "r" + to_string(id)});
  }

  // Starts what was granted; returns the job's open leases.
  std::vector<LeaseId> start_all(JobId id) {
    const auto leases = s.jobs.at(id).leases;
    for (const auto l : leases)
      if (s.leases.at(l).state == LeaseState::granted) start(l);
    return leases;
  }

  // Lets `total` pass with every machine reporting each minute.
  Events pass(Duration total, Duration step = base::minutes(1)) {
    Events all;
    const auto add = [&](Events some) { all.insert(all.end(), some.begin(), some.end()); };
    for (const auto end = now + total; now < end;) {
      now = std::min(end, now + step);
      for (auto m = s.machines.after({}); m; m = s.machines.after(m)) add(beat(m));
      add(tick());
    }
    return all;
  }

  const Job& at(JobId id) const { return s.jobs.at(id); }
  const Lease& at(LeaseId id) const { return s.leases.at(id); }
  const ledger::Balance& balance(AccountId id) const { return s.ledger.balance(id); }

  void settings(Settings v) { run(kBoss, ChangeSettings{v}); }
};

}  // namespace souk::market::testing
