#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "market/decide/decide.h"

namespace souk::codec::testing {

// A few days of a small market in which every kind of event happens at least once, by commands that
// say all there is to say: limits, windows, constraints, trials. Every event is kept with its time.
class BusyMarket {
 public:
  market::State state;
  std::vector<std::pair<base::Time, market::Event>> events;

  BusyMarket() {
    for (const auto& event : market::founding_events()) keep(base::Time(), event);
    found();
    lend();
    borrow();
    train();
    lose();
    end();
  }

 private:
  using Actor = market::Actor;
  static constexpr base::AccountId kBoss{1}, kAnn{2}, kBob{3};
  static constexpr base::MachineId kBig{1}, kSmall{2};

  static base::Credits credits(std::int64_t milli) { return base::Credits(milli * 1'000); }
  static Actor person(base::AccountId id) {
    return {id, id == kBoss ? market::Scope::operator_ : market::Scope::user, {}};
  }
  static Actor agent(base::MachineId id) { return {kAnn, market::Scope::machine, id}; }

  void keep(base::Time at, const market::Event& event) {
    market::apply(state, at, event);
    events.emplace_back(at, event);
  }

  void run(const Actor& actor, market::Command command) {
    const auto decision = market::decide(state, {now_, actor, std::move(command)});
    ASSERT_TRUE(decision) << decision.error().message << " (after event " << events.size() << ")";
    for (const auto& event : decision->events) keep(decision->at, event);
  }

  void tick(base::Duration d) {
    now_ = now_ + d;
    for (auto before = state.events + 1; before != state.events;) {
      before = state.events;
      run(market::kSystem, market::Tick{});
    }
  }

  void beat(base::MachineId machine) {
    market::Heartbeat beat{machine, {}};
    state.leases.for_each([&](const market::Lease& l) {
      if (l.machine == machine) beat.leases.push_back({l.id, l.epoch});
    });
    run(agent(machine), std::move(beat));
  }

  // Lets time pass with both machines reporting.
  void pass(int minutes) {
    for (; minutes > 0; minutes -= 2) {
      now_ = now_ + base::minutes(2);
      for (const auto machine : {kBig, kSmall})
        if (state.machines.find(machine)) beat(machine);
      tick({});
    }
  }

  void clear(std::uint64_t slot_class) {
    run(market::kSystem, market::Clear{market::ClassId(slot_class), 9'007'199'254'740'993});
  }

  void start(base::JobId job) {
    const auto leases = state.jobs.at(job).leases;
    ASSERT_FALSE(leases.empty()) << to_string(job) << " got nothing";
    for (const auto id : leases) {
      const auto& l = state.leases.at(id);
      run(agent(l.machine), market::StartLease{id, l.epoch});
    }
  }

  const market::Lease& lease_of(base::JobId job) const {
    return state.leases.at(state.jobs.at(job).leases.back());
  }

  void found() {
    const auto password = "$argon2id$v=19$m=65536,t=2,p=1$c2FsdA$aGFzaA";
    run(market::kSystem, market::CreateAccount{"boss", password, true});
    run(person(kBoss), market::ChangeSettings{{.fee_ppm = 20'000,
                                               .signup_bonus = credits(3'000),
                                               .signup_open = true,
                                               .term = base::hours(2),
                                               .shortest_term = base::minutes(2),
                                               .drain = base::minutes(3),
                                               .settle_every = base::minutes(2),
                                               .silence = base::seconds(60),
                                               .setup = base::minutes(15),
                                               .low_escrow = base::minutes(30),
                                               .history = base::days(3),
                                               .retention = base::days(2)}});
    run(person(kBoss), market::GrantCredits{{}, credits(100'000), "for bonuses"});
    auto c2 = state.slot_class(market::ClassId(2));
    c2.trial = {"posted", {{"price", "0.21"}}, base::hours(3)};
    run(person(kBoss), market::SetClass{std::move(c2)});
    auto c4 = state.slot_class(market::ClassId(3));
    c4.mechanism = "karma";
    run(person(kBoss), market::SetClass{std::move(c4)});
    run(person(kBoss), market::SetClass{{.name = "old",
                                         .cores = 3,
                                         .memory_mib = 3'333,
                                         .gpus = 1,
                                         .gpu_memory_mib = 4'444,
                                         .price = credits(321),
                                         .mechanism = "posted",
                                         .params = {{"price", "0.33"}},
                                         .retired = true}});
    run(market::kSystem, market::CreateAccount{"ann", password});
    run(market::kSystem, market::CreateAccount{"bob", password});
    run(person(kBoss), market::GrantCredits{kBob, credits(200'000), "pocket money"});
    run(person(kBob), market::ChangePassword{kBob, "$argon2id$another"});
    run(person(kBoss), market::FreezeAccount{kBob, "a check"});
    run(person(kBoss), market::FreezeAccount{kBob, ""});
    run(person(kBob), market::GiveFeedback{market::FeedbackCategory::praise, "nice"});
  }

  static market::MachineSpec spec(int cores) {
    return {.cores = cores,
            .memory_mib = 65'536,
            .disk_mib = 500'000,
            .gpus = 2,
            .gpu_memory_mib = 24'576,
            .gpu = "RTX 4090",
            .cpu = "EPYC 7443",
            .os = "Debian 12",
            .region = "eu",
            .provider = "campus",
            .packages = {"numpy==1.24.2", "python3-torch"},
            .rtt_ms = 12};
  }

  market::OfferTerms offer_terms(int slots) const {
    return {.slots = slots,
            .reserve = credits(90),
            .availability = {.once = {{now_ - base::hours(1), now_ + base::days(20)}},
                             .weekly = {{0x7f, 0, 1440, "Europe/Berlin"}}},
            .longest_lease = base::hours(12)};
  }

  void lend() {
    run(person(kAnn), market::AddMachine{"big", spec(16)});
    run(person(kAnn), market::AddMachine{"small", spec(4)});
    run(person(kAnn), market::ChangeMachine{kBig, "huge", spec(32)});
    run(person(kAnn), market::IssueToken{.account = kAnn,
                                         .scope = market::Scope::machine,
                                         .machine = kBig,
                                         .digest = base::blake2b("secret"),
                                         .label = "agent",
                                         .expires = now_ + base::days(90)});
    run(person(kBob), market::IssueToken{.account = kBob, .digest = base::blake2b("other")});
    run(person(kBob), market::RevokeToken{base::TokenId(2)});
    for (const std::uint64_t slot_class : {1, 2, 3})
      run(agent(kBig), market::PostOffer{kBig, market::ClassId(slot_class), offer_terms(2)});
    run(agent(kSmall), market::PostOffer{kSmall, market::ClassId(1), offer_terms(1)});
    run(agent(kBig), market::ChangeOffer{base::OfferId(1), offer_terms(3)});
    run(agent(kSmall), market::PauseOffer{base::OfferId(4), now_ + base::minutes(40)});
    run(agent(kSmall), market::PostOffer{kSmall, market::ClassId(1), offer_terms(2)});
    run(agent(kSmall), market::DrainOffer{base::OfferId(5)});
    run(agent(kSmall), market::RemoveOffer{base::OfferId(5)});
  }

  market::JobTerms job_terms(int workers, std::int64_t budget) const {
    return {.workers = {1, workers},
            .limit = credits(500),
            .budget = credits(budget),
            .deadline = now_ + base::days(1),
            .priority = -3,
            .constraints = {.packages = {"python3-torch"},
                            .regions = {"eu", "us"},
                            .max_rtt_ms = 80,
                            .min_reliability_ppm = 100'000,
                            .lenders_allowed = {kAnn},
                            .lenders_refused = {kBoss},
                            .providers_allowed = {"campus"},
                            .providers_refused = {"ec2"}}};
  }

  market::SubmitJob batch(std::uint64_t slot_class, int workers, std::int64_t budget) const {
    return {.name = "sums",
            .kind = "batch",
            .slot_class = market::ClassId(slot_class),
            .terms = job_terms(workers, budget),
            .work = R"({"run":"sort"})",
            .retry = {.lost = false, .failed = true, .max = 4},
            .forecast = R"({"hours":2})",
            .planned = 1,
            .planned_why = "cheaper"};
  }

  void borrow() {
    const base::JobId sums(1), poor(2), gone(3);
    run(person(kBob), batch(2, 2, 4'000));
    clear(2);
    start(sums);
    run(agent(kBig), market::CheckpointLease{lease_of(sums).id, lease_of(sums).epoch, "b2:abc"});
    run(person(kBob), market::ChangeJob{sums, job_terms(2, 5'000)});
    pass(118);  // To the end of the term, so that it is renewed.
    run(person(kBob), batch(1, 1, 60));
    clear(1);
    start(poor);
    pass(30);
    run(agent(kBig), market::FinishLease{lease_of(sums).id, lease_of(sums).epoch,
                                         market::LeaseOutcome::failed, "exit 3", "b2:def"});
    run(person(kBob), market::PauseJob{sums});
    run(person(kBob), market::ResumeJob{sums});
    run(person(kBob), batch(3, 1, 4'000));
    clear(3);
    start(gone);
    pass(4);
    run(agent(kBig), market::FinishLease{lease_of(gone).id, lease_of(gone).epoch,
                                         market::LeaseOutcome::completed, "exit 0", "b2:done"});
    run(person(kBob), market::CancelJob{sums, "no longer needed"});
  }

  void train() {
    const base::JobId fit(4);
    auto job = batch(1, 3, 9'000);
    job.name = "fit";
    job.kind = "train";
    job.pay = market::Pay::work;
    job.planned = 2;
    job.also = {market::ClassId(2)};
    run(person(kBob), std::move(job));
    clear(1);
    start(fit);
    pass(6);
    const auto lease = lease_of(fit);
    run(market::kSystem, market::AcceptWork{lease.id, lease.epoch, base::seconds(123)});
    run(market::kSystem, market::ReportResult{fit, "b2:model"});
    run(market::kSystem, market::ResizeJob{fit, 1, "one is enough"});
    run(market::kSystem, market::LearnProfile{"torch/resnet", R"({"steps_per_s":3})"});
    run(market::kSystem, market::MoveJob{fit, market::ClassId(2), 1, "cheaper there"});
    clear(2);
    start(fit);
    pass(4);
    const auto moved = lease_of(fit);
    run(market::kSystem, market::AcceptWork{moved.id, moved.epoch, base::seconds(77)});
    run(agent(kBig), market::PauseOffer{moved.offer, now_ + base::minutes(1)});  // Drains it.
    pass(6);
  }

  void lose() {
    const base::JobId sums(5);
    run(person(kBob), batch(1, 1, 4'000));
    clear(1);
    start(sums);
    const auto lease = lease_of(sums);
    run(market::kSystem, market::ExpireLease{lease.id});
    beat(lease.machine);
    run(market::kSystem, market::JudgeMachine{kSmall, "too slow"});
    run(agent(kSmall), market::RemoveOffer{base::OfferId(4)});
    run(person(kAnn), market::RemoveMachine{kSmall});
    keep(now_, market::Answered{{kBob, "key", 77, 201, R"({"id":"j5"})", now_}});
  }

  // Retention passes, and one job lives on.
  void end() {
    tick(base::days(3));
    auto job = batch(1, 1, 4'000);
    job.kind = "train";
    job.pay = market::Pay::work;
    run(person(kBob), std::move(job));
    clear(1);
    start(base::JobId(6));
    pass(4);
  }

  base::Time now_{1'767'571'200'000'000};  // 2026-01-05T00:00:00Z
};

}  // namespace souk::codec::testing
