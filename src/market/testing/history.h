#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "market/decide/decide.h"
#include "market/invariants.h"
#include "market/limits.h"
#include "market/liveness.h"

namespace souk::market::testing {

// Draws the requests of a small, unruly market from a seed: every kind of command, sensible and
// not, by the right people and the wrong ones, with time that jumps and runs backwards. It looks at
// the state to name things that exist; the requests themselves are complete, so any part of a
// history can be run again without it.
class HistoryMaker {
 public:
  // Even seeds make calmer markets, in which leases live long enough to be renewed.
  explicit HistoryMaker(std::uint64_t seed)
      : random_(seed), clock_(1'767'571'200'000'000), calm_(seed % 2 == 0) {}

  Request next(const State& s) {
    if (!pending_.empty()) {
      auto r = std::move(pending_.front());
      pending_.pop_front();
      return r;
    }
    move_clock();
    if (s.accounts.size() == 0)
      return {clock_, kSystem, CreateAccount{.name = "boss", .is_operator = true}};
    const auto draw = random_.below(100);
    if (draw < 36) return beat(s);
    if (draw < 48) return start(s);
    if (draw < 51) return finish(s);
    if (draw < 57) return {clock_, kSystem, Clear{any_class(s), random_.next()}};
    if (draw < 62) return clockwork(s);
    if (calm_ && random_.below(4) > 0) return random_.chance(8) ? clockwork(s) : beat(s);
    if (draw < 74) return borrower(s);
    if (draw < 75) return sweeper(s);
    if (draw < 87) return lender(s);
    if (draw < 94) return accounts(s);
    return operators(s);
  }

  void observe(const Event& event, Time at) { liveness_.observe(event, at); }

 private:
  static constexpr std::size_t kAccounts = 12, kMachines = 20, kOffers = 40, kLiveJobs = 50;

  void move_clock() {
    const auto draw = random_.below(1000);
    if (draw < 700)
      clock_ = clock_ + Duration(random_.between(0, 4'000'000));
    else if (draw < 960)
      clock_ = clock_ + base::seconds(random_.between(1, 40));
    else if (draw < 990)
      clock_ = clock_ + base::minutes(random_.between(1, 8));
    else if (draw < 994)
      clock_ = clock_ + base::hours(1);
    else
      clock_ = clock_ - base::seconds(random_.between(1, 900));
  }

  template <class I, class T>
  I any(const Table<I, T>& table) {
    if (random_.chance(40)) return I(random_.below(table.next().value + 2));
    // Somewhere among those that exist; the newest more often than not.
    auto id = table.before(table.next());
    for (auto back = random_.below(std::max<std::size_t>(1, table.size())); back > 0 && id; --back)
      id = table.before(id);
    return id;
  }
  AccountId any_account(const State& s) { return AccountId(1 + random_.below(s.accounts.size())); }
  ClassId any_class(const State& s) {
    if (random_.chance(100)) return ClassId(random_.below(s.classes.size() + 3));
    return ClassId(1 + random_.below(2));
  }

  // Mostly the owner, else somebody.
  Actor actor_for(const State& s, AccountId owner) {
    const auto draw = random_.below(20);
    if (draw == 0) return {any_account(s), Scope::user, {}};
    if (draw == 1) return {AccountId(1), Scope::operator_, {}};
    if (draw == 2) return {any_account(s), Scope::machine, any(s.machines)};
    if (draw == 3) {
      const auto* token = s.tokens.find(any(s.tokens));
      if (token != nullptr && token->limit)
        return {.account = token->account, .scope = Scope::spend, .token = token->id};
    }
    return s.accounts.find(owner) ? Actor{owner, Scope::user, {}} : kSystem;
  }
  Actor agent_of(const State& s, MachineId id) {
    const auto* m = s.machines.find(id);
    if (m == nullptr || random_.chance(40)) return {any_account(s), Scope::user, {}};
    return {m->owner, Scope::machine, id};
  }
  template <class Table, class Id>
  AccountId owner_in(const Table& table, Id id) {
    const auto* thing = table.find(id);
    return thing ? thing->owner : AccountId();
  }

  Credits any_price() {
    if (random_.chance(60)) return Credits(random_.between(-5, 3));
    if (random_.chance(200)) return Credits(random_.between(0, 2'000'000'000'000'000));
    return Credits(random_.between(1, 40) * 20'011 + random_.between(0, 3));
  }

  LeaseId any_lease(const State& s) {
    if (!remembered_.empty() && random_.chance(8))
      return remembered_[random_.below(remembered_.size())];
    const auto id = any(s.leases);
    if (random_.chance(50)) {
      remembered_.push_back(id);
      if (remembered_.size() > 64) remembered_.pop_front();
    }
    return id;
  }
  std::int32_t epoch_of(const State& s, LeaseId id) {
    const auto* l = s.leases.find(id);
    const auto epoch = l ? l->epoch : 1;
    return random_.chance(25) ? epoch + static_cast<std::int32_t>(random_.between(-1, 1)) : epoch;
  }

  Request beat(const State& s) {
    const auto machine = any(s.machines);
    Heartbeat beat{machine, {}};
    s.leases.for_each([&](const Lease& l) {
      if (l.machine != machine || (l.state == LeaseState::closed && !random_.chance(4))) return;
      beat.leases.push_back({l.id, l.epoch});
      liveness_.heard(l.id, std::max(clock_, s.now));
      if (random_.chance(10)) beat.leases.push_back({l.id, l.epoch});
    });
    if (random_.chance(8)) {
      const auto id = any_lease(s);
      beat.leases.push_back({id, epoch_of(s, id)});
    }
    return {clock_, agent_of(s, machine), std::move(beat)};
  }

  Request start(const State& s) {
    auto id = any_lease(s);
    s.leases.for_each([&](const Lease& l) {
      const bool waits = l.state == LeaseState::granted && l.ready == Time();
      if (waits && random_.chance(is_gang(s.jobs.at(l.job)) ? 2 : 3)) id = l.id;
    });
    const auto* l = s.leases.find(id);
    return {clock_, agent_of(s, l ? l->machine : MachineId()), StartLease{id, epoch_of(s, id)}};
  }

  Request finish(const State& s) {
    if (random_.chance(8)) return volume(s);
    const auto id = any_lease(s);
    const auto* l = s.leases.find(id);
    if (l != nullptr && random_.chance(3))
      return {clock_, random_.chance(9) ? actor_for(s, any_account(s)) : kSystem,
              AcceptWork{id, epoch_of(s, id), base::seconds(random_.between(0, 900))}};
    if (l != nullptr && random_.chance(30))
      return {clock_, random_.chance(5) ? actor_for(s, any_account(s)) : kSystem,
              ReportResult{l->job, "model", random_.chance(2), "the target was reached"}};
    if (l != nullptr && random_.chance(12))
      return {clock_, random_.chance(9) ? actor_for(s, any_account(s)) : kSystem,
              ServeRequests{id, epoch_of(s, id), random_.between(-1, 500)}};
    if (random_.chance(40))
      return {clock_, random_.chance(5) ? actor_for(s, any_account(s)) : kSystem,
              LearnProfile{"kind" + std::to_string(random_.below(5)), "slow"}};
    if (l != nullptr && random_.chance(20))
      return {clock_, random_.chance(5) ? actor_for(s, any_account(s)) : kSystem,
              ResizeJob{l->job, static_cast<std::int32_t>(random_.between(0, 4)), "slow"}};
    if (random_.chance(12))
      return {clock_, random_.chance(9) ? actor_for(s, any_account(s)) : kSystem,
              MoveJob{may_move(s), any_class(s), static_cast<std::int32_t>(random_.below(4)),
                      "cheaper"}};
    if (random_.chance(6))
      return {clock_, agent_of(s, l ? l->machine : MachineId()),
              CheckpointLease{id, epoch_of(s, id), "c" + std::to_string(random_.below(3))}};
    const auto draw = random_.below(10);
    const auto outcome = draw < 6   ? LeaseOutcome::completed
                         : draw < 7 ? LeaseOutcome::failed
                         : draw < 9 ? LeaseOutcome::released
                                    : static_cast<LeaseOutcome>(random_.below(8));
    return {clock_, agent_of(s, l ? l->machine : MachineId()),
            FinishLease{id, epoch_of(s, id), outcome, "exit",
                        random_.chance(5) ? "other" : "result", false, random_.chance(2)}};
  }

  Request volume(const State& s) {
    LeaseId id = any_lease(s);
    s.leases.for_each([&](const Lease& l) {
      const auto* job = s.jobs.find(l.job);
      if (job != nullptr && !job->volumes.empty() && l.started > Time()) id = l.id;
    });
    if (!s.volumes.empty() && random_.chance(4)) {
      const auto& known = s.volumes.begin()->second;
      return {clock_, actor_for(s, known.owner), RemoveVolume{known.owner, known.name}};
    }
    const auto* l = s.leases.find(id);
    return {clock_, agent_of(s, l ? l->machine : MachineId()),
            SaveVolume{id, epoch_of(s, id), random_.chance(9) ? "b" : "a",
                       "blob" + std::to_string(random_.below(9))}};
  }

  JobId any_probe(const State& s) {
    std::vector<JobId> probes;
    s.jobs.for_each([&](const Job& j) {
      if (is_probe(j) && !is_final(j.state)) probes.push_back(j.id);
    });
    return probes.empty() ? any(s.jobs) : probes[random_.below(probes.size())];
  }

  Request clockwork(const State& s) {
    if (random_.chance(10))
      return {clock_, random_.chance(9) ? actor_for(s, any_account(s)) : kSystem,
              AimProbe{any_probe(s), random_.chance(9) ? MachineId() : any(s.machines)}};
    if (random_.chance(50))
      return {clock_, random_.chance(4) ? actor_for(s, any_account(s)) : kSystem,
              JudgeMachine{any(s.machines), random_.chance(2) ? "too slow" : ""}};
    if (random_.chance(4))
      for (const auto id : liveness_.silent(s, std::max(clock_, s.now)))
        pending_.push_back({clock_, kSystem, ExpireLease{id}});
    if (random_.chance(60)) return {clock_, actor_for(s, AccountId(1)), ExpireLease{any_lease(s)}};
    Tick tick;
    if (random_.chance(4)) tick.unheard = {any(s.machines)};
    return {clock_, random_.chance(30) ? actor_for(s, any_account(s)) : kSystem, std::move(tick)};
  }

  Constraints any_constraints(const State& s) {
    Constraints c;
    if (random_.below(3) > 0) return c;
    switch (random_.below(8)) {
      case 0:
        c.packages = {random_.chance(2) ? "numpy" : "torch==1.13"};
        break;
      case 1:
        c.regions = {random_.chance(2) ? "eu" : "us", "mars"};
        break;
      case 2:
        c.max_rtt_ms = static_cast<std::int32_t>(random_.between(-1, 60));
        break;
      case 3:
        c.min_reliability_ppm = static_cast<std::int32_t>(random_.between(0, 1'050'000));
        break;
      case 4:
        c.lenders_allowed = {any_account(s), any_account(s)};
        break;
      case 5:
        c.lenders_refused = {any_account(s)};
        break;
      case 6:
        c.providers_allowed = {"community"};
        break;
      default:
        c.providers_refused = {"ec2"};
        break;
    }
    return c;
  }

  JobTerms any_job_terms(const State& s) {
    JobTerms t;
    t.workers.min = static_cast<std::int32_t>(random_.between(random_.chance(50) ? 0 : 1, 4));
    t.workers.max =
        t.workers.min + static_cast<std::int32_t>(random_.between(random_.chance(50) ? -1 : 0, 4));
    t.limit = any_price();
    t.budget = Credits(any_price().micro * random_.between(1, 12) / 4);
    if (random_.chance(3)) t.deadline = clock_ + base::minutes(random_.between(-2, 240));
    t.priority = static_cast<std::int32_t>(random_.between(-2, random_.chance(50) ? 101 : 2));
    t.constraints = any_constraints(s);
    return t;
  }

  Request borrower(const State& s) {
    const auto live = live_jobs(s);
    const auto id = any(s.jobs);
    const auto owner = owner_in(s.jobs, id);
    const auto draw = random_.below(20);
    if (draw < 10 && live < kLiveJobs) {
      const bool too_long = random_.chance(40);
      const bool by_work = !too_long && random_.chance(4);
      SubmitJob c{"job",
                  too_long  ? std::string(kNameMax + 1, 'k')
                  : by_work ? "train"
                            : "batch",
                  any_class(s), any_job_terms(s)};
      if (by_work) c.pay = Pay::work;
      if (random_.chance(3)) c.work = "sort";
      if (random_.chance(by_work ? 2 : 50)) c.also.assign(random_.chance(20) ? 9 : 1, any_class(s));
      if (c.also.empty() && c.terms.workers.max % 2 == 0) c.least_class = c.slot_class;
      c.retry = {!random_.chance(4), random_.chance(2),
                 static_cast<std::int32_t>(random_.between(-1, 3))};
      if (!c.work.empty() && !by_work && c.also.empty() && random_.chance(3))
        c.most_trials = static_cast<std::int32_t>(random_.between(random_.chance(20) ? -1 : 1, 3));
      if (c.most_trials == 0 && random_.chance(c.work.empty() || by_work ? 50 : 2)) {
        c.gang = true;
        c.led = random_.chance(2);
        if (random_.chance(2)) c.terms.workers.min = c.terms.workers.max;
      }
      if (!c.gang && random_.chance(c.work.empty() || by_work ? 50 : 2)) {
        c.per_request = Credits(random_.between(random_.chance(20) ? -1 : 0, 900));
        if (random_.chance(2)) {
          c.volumes = {random_.chance(9) ? "" : "a"};
          c.terms.workers = {1, random_.chance(9) ? 2 : 1};
        }
      }
      if (c.work.empty() || by_work || c.most_trials != 0 || c.gang || c.per_request != Credits() ||
          !c.volumes.empty() || !random_.chance(4))
        return {clock_, actor_for(s, any_account(s)), std::move(c)};
      c.expect = "result";
      c.least_class = {};
      c.terms.workers.min = 1;
      return {clock_, Actor{AccountId(1), Scope::operator_, {}}, std::move(c)};
    }
    if (draw < 14) {
      auto terms = any_job_terms(s);
      if (const auto* j = s.jobs.find(id); j && random_.chance(2)) {  // One change at a time.
        const auto budget = std::exchange(terms, j->terms).budget;
        if (random_.chance(2))
          terms.budget = budget;
        else
          terms.workers.max = terms.workers.min + static_cast<std::int32_t>(random_.below(3));
      }
      return {clock_, actor_for(s, owner), ChangeJob{id, std::move(terms)}};
    }
    if (draw < 15) return {clock_, actor_for(s, owner), PauseJob{id}};
    if (draw < 17) return {clock_, actor_for(s, owner), ResumeJob{id}};
    return {clock_, actor_for(s, owner), CancelJob{live > kLiveJobs / 2 ? oldest_live(s) : id, ""}};
  }

  // What the server does for sweeps: trials, more credits for them, notes, the end.
  Request sweeper(const State& s) {
    const auto& sweeps = s.index.live_sweeps;
    if (sweeps.empty() || live_jobs(s) >= kLiveJobs) return borrower(s);
    const auto id =
        *std::next(sweeps.begin(), static_cast<std::ptrdiff_t>(random_.below(sweeps.size())));
    const auto& sweep = s.jobs.at(id);
    Actor market = kSystem;
    market.account = sweep.owner;
    const auto trial = sweep.trials.empty() ? id : sweep.trials.front();
    switch (random_.below(8)) {
      case 0:
        return {clock_, kSystem, NoteTrial{random_.chance(9) ? id : trial, "so far so good"}};
      case 1:
        return {clock_, kSystem,
                EndSweep{random_.chance(9) ? trial : id, random_.chance(2), "all trials ended"}};
      case 2: {
        auto terms = s.jobs.at(trial).terms;
        terms.budget = Credits(terms.budget.micro * random_.between(1, 5) / 2);
        return {clock_, kSystem, ChangeJob{trial, std::move(terms)}};
      }
      default:
        break;
    }
    SubmitJob c{"trial", "batch", sweep.slot_class, sweep.terms, "sort"};
    c.terms.deadline = base::kNever;
    c.terms.budget = Credits(s.free_budget(sweep).micro / random_.between(1, 3) +
                             random_.between(0, random_.chance(9) ? 1 : 0));
    if (random_.chance(3)) c.pay = Pay::work;
    c.sweep = id;
    c.note = "a trial";
    if (random_.chance(20)) market.system = false;
    return {clock_, market, std::move(c)};
  }

  // A job with somewhere to go, if there is one.
  JobId may_move(const State& s) {
    auto out = any(s.jobs);
    s.jobs.for_each([&](const Job& j) {
      if (!is_final(j.state) && !j.also.empty() && !random_.chance(3)) out = j.id;
    });
    return out;
  }

  static std::size_t live_jobs(const State& s) {
    std::size_t n = 0;
    s.jobs.for_each([&](const Job& j) { n += !is_final(j.state); });
    return n;
  }
  static JobId oldest_live(const State& s) {
    JobId oldest;
    s.jobs.for_each([&](const Job& j) {
      if (!oldest && !is_final(j.state)) oldest = j.id;
    });
    return oldest;
  }

  OfferTerms any_offer_terms() {
    OfferTerms t;
    t.slots = static_cast<std::int32_t>(random_.between(random_.chance(40) ? -1 : 1, 3));
    if (!random_.chance(4)) t.reserve = Credits(any_price().micro / 2);
    if (random_.chance(6))
      t.availability.once = {clock_ + base::minutes(random_.between(-60, 60)),
                             clock_ + base::minutes(random_.between(-10, 300))};
    if (random_.chance(10)) {
      constexpr std::array zones{"UTC", "Europe/Berlin", "America/Los_Angeles", "Mars/Olympus"};
      t.availability.weekly.push_back(
          {static_cast<std::uint8_t>(random_.chance(3) ? 0x7f : random_.below(128)),
           static_cast<std::int32_t>(random_.between(0, 1439)),
           static_cast<std::int32_t>(random_.between(1, 1440)),
           zones[random_.below(random_.chance(10) ? 4 : 3)]});
    }
    t.longest_lease = base::minutes(random_.between(0, 300));
    return t;
  }

  MachineSpec any_spec() {
    MachineSpec v{.cores = static_cast<std::int32_t>(random_.between(0, 12)),
                  .memory_mib = random_.between(2'000, 64'000)};
    v.region = random_.chance(2) ? "eu" : "us";
    v.provider = random_.chance(3) ? "ec2" : "community";
    v.rtt_ms = static_cast<std::int32_t>(random_.between(0, 80));
    if (random_.chance(2)) v.packages = {"numpy==1.24", "torch==1.13"};
    return v;
  }

  Request lender(const State& s) {
    const auto machine = any(s.machines);
    const auto offer = any(s.offers);
    const auto owner = owner_in(s.offers, offer);
    const auto draw = random_.below(24);
    const auto by = actor_for(s, owner);
    if (draw < 4 && s.machines.size() < kMachines)
      return {clock_, actor_for(s, any_account(s)),
              AddMachine{"m" + std::to_string(random_.below(30)), any_spec()}};
    if (draw < 11 && s.offers.size() < kOffers)
      return {clock_, actor_for(s, owner_in(s.machines, machine)),
              PostOffer{machine, any_class(s), any_offer_terms()}};
    if (draw < 14) return {clock_, by, ChangeOffer{offer, any_offer_terms()}};
    if (draw < 17)
      return {clock_, by, PauseOffer{offer, clock_ + base::minutes(random_.between(-30, 30))}};
    if (draw < 18) return {clock_, by, DrainOffer{offer}};
    if (draw < 21) return {clock_, by, RemoveOffer{offer}};
    if (draw < 22)
      return {clock_, actor_for(s, owner_in(s.machines, machine)), RemoveMachine{machine}};
    return {clock_, actor_for(s, owner_in(s.machines, machine)),
            ChangeMachine{machine, "m" + std::to_string(random_.below(30)), any_spec()}};
  }

  Request accounts(const State& s) {
    const auto account = any_account(s);
    const auto by = actor_for(s, account);
    switch (random_.below(10)) {
      case 0:
      case 1:
        if (s.accounts.size() < kAccounts)
          return {clock_, random_.chance(2) ? kSystem : by,
                  CreateAccount{.name = "u" + std::to_string(random_.below(20)),
                                .is_operator = random_.chance(20)}};
        return {clock_, by, CreateAccount{.name = "Not A Name"}};
      case 2:
        return {clock_, by, ChangePassword{account, "hash"}};
      case 3:
      case 4: {
        IssueToken c{.account = account, .scope = static_cast<Scope>(random_.below(4))};
        if (c.scope == Scope::spend) {
          c.limit = Credits(random_.between(-1, 20) * 100'000);
          c.expires = clock_ + base::hours(random_.between(1, 20));
        }
        if (c.scope == Scope::machine) c.machine = any(s.machines);
        c.digest.bytes[0] = static_cast<unsigned char>(random_.below(200));
        if (!c.limit && random_.chance(2))
          c.expires = clock_ + base::minutes(random_.between(-5, 60));
        return {clock_, by, c};
      }
      case 5:
        return {clock_, by, RevokeToken{any(s.tokens)}};
      case 6:
        return {clock_, by, RevokeTokens{account}};
      case 7:
        return {clock_, by, RequestCredits{Credits(random_.between(-1, 5) * 1'000'000), "please"}};
      case 8:
        return {clock_, by,
                AnswerRequest{any_account(s), Credits(random_.between(-1, 2) * 1'000'000), "so"}};
      default:
        return {clock_, by, GiveFeedback{FeedbackCategory::idea, random_.chance(4) ? "" : "nice"}};
    }
  }

  Settings any_settings(const State& s) {
    auto v = s.settings;
    v.retention = base::hours(1);
    v.history = base::days(1);
    v.fee_ppm = static_cast<std::int32_t>(random_.chance(3) ? 0 : random_.between(0, 520'000));
    v.signup_bonus = Credits(random_.between(-1, 5) * 100'000);
    v.signup_open = !random_.chance(5);
    v.term = base::minutes(random_.between(1, 90));
    v.shortest_term = base::seconds(random_.between(0, 90));
    v.drain = base::seconds(random_.between(1, 200));
    v.settle_every = base::seconds(random_.between(1, 90));
    v.silence = base::seconds(random_.between(20, 1'800));
    v.setup = base::minutes(random_.between(1, 20));
    v.low_escrow = base::minutes(random_.between(0, 40));
    return v;
  }

  Request operators(const State& s) {
    const auto by = random_.chance(10) ? actor_for(s, any_account(s)) : kBossOfHistory;
    const auto account = any_account(s);
    switch (random_.below(12)) {
      case 0:
        return {clock_, by, ChangeSettings{any_settings(s)}};
      case 1:
        return {clock_, by, FreezeAccount{account, random_.chance(2) ? "" : "checks"}};
      case 2:
        return {clock_, by, FreezeAccount{account, ""}};
      case 3: {
        auto c = s.slot_class(ClassId(1 + random_.below(2)));
        c.mechanism = random_.chance(2) ? "posted" : random_.chance(20) ? "magic" : "k-double";
        c.params.clear();
        if (c.mechanism == "posted" && random_.chance(3)) c.params["price"] = "0.21";
        c.price = any_price();
        if (random_.chance(10)) ++c.memory_mib;
        c.retired = random_.chance(10);
        return {clock_, by, SetClass{std::move(c)}};
      }
      case 4:
        return {clock_, by, GrantCredits{AccountId(), any_price(), "for bonuses"}};
      default:
        return {clock_, by, GrantCredits{account, any_price(), "pocket money"}};
    }
  }

  static constexpr Actor kBossOfHistory{AccountId(1), Scope::operator_, {}};

  base::Random random_;
  Time clock_;
  bool calm_;
  Liveness liveness_;
  std::deque<Request> pending_;
  std::deque<LeaseId> remembered_;  // Some of them long closed.
};

}  // namespace souk::market::testing
