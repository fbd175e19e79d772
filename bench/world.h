#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/report.h"
#include "market/decide/decide.h"

// Markets of a given size, made from a seed through ordinary commands, and the commands of a busy
// day on them. Nothing here is measured.

namespace souk::bench {

using base::Credits;
using base::Duration;
using base::Time;
using market::Actor;
using market::Request;
using market::Scope;

inline constexpr market::ClassId kClass{1};  // c1
inline constexpr Time kStart{1'767'571'200'000'000};

struct WorldSize {
  std::uint64_t lenders = 1'000;
  std::uint64_t borrowers = 1'000;
  std::uint64_t machines = 20'000;  // One offer each.
  std::int32_t slots = 4;           // Of each offer.
};

// A market in which everybody has signed up and everything is on offer. `on_event` sees what
// happens, in order.
class World {
 public:
  using OnEvent = std::function<void(Time, const market::Event&)>;

  explicit World(const WorldSize& size, OnEvent on_event = {}, std::uint64_t seed = 1)
      : size_(size), random(seed), on_event_(std::move(on_event)) {
    for (const auto& event : market::founding_events()) {
      apply(state, kStart, event);
      if (on_event_) on_event_(kStart, event);
    }
    run(market::kSystem, market::CreateAccount{"operator", "-", true});
    for (std::uint64_t i = 1; i <= size.lenders + size.borrowers; ++i) {
      run(market::kSystem, market::CreateAccount{"account-" + std::to_string(i), "-", false});
      if (i > size.lenders)
        run(kOperator, market::GrantCredits{base::AccountId(i + 1), Credits(100'000'000'000), ""});
    }
    for (std::uint64_t i = 0; i < size.machines; ++i) add_machine(i);
  }

  market::Events run(const Actor& actor, market::Command command) {
    return run(Request{now, actor, std::move(command)});
  }
  market::Events run(const Request& request) {
    auto events = must(market::execute(state, request));
    if (on_event_)
      for (const auto& event : events) on_event_(state.now, event);
    return events;
  }

  [[nodiscard]] Actor lender_of(std::uint64_t machine) const {
    return {base::AccountId(2 + machine % size_.lenders), Scope::user, {}};
  }
  [[nodiscard]] Actor borrower(std::uint64_t i) const {
    return {base::AccountId(2 + size_.lenders + i % size_.borrowers), Scope::user, {}};
  }
  // Reserve prices are 0.100000 to 0.300000, limits 0.200000 to 0.400000: most jobs find somebody.
  Credits any_reserve() { return Credits(random.between(100'000, 300'000)); }
  Credits any_limit() { return Credits(random.between(200'000, 400'000)); }

  market::OfferTerms any_offer() { return {.slots = size_.slots, .reserve = any_reserve()}; }
  market::JobTerms any_job(std::int32_t most_workers) {
    const auto workers = static_cast<std::int32_t>(random.between(1, most_workers));
    return {.workers = {1, workers}, .limit = any_limit(), .budget = Credits(2'000'000 * workers)};
  }

  // Queued jobs, one round, and all leases of it running.
  void fill(std::uint64_t jobs, std::int32_t most_workers) {
    for (std::uint64_t i = 0; i < jobs; ++i)
      run(borrower(i), market::SubmitJob{"warm-up", "batch", kClass, any_job(most_workers)});
    run(market::kSystem, market::Clear{kClass, random.next()});
    std::vector<std::pair<base::LeaseId, std::int32_t>> granted;
    state.leases.for_each([&](const market::Lease& l) { granted.emplace_back(l.id, l.epoch); });
    for (const auto& [lease, epoch] : granted) run(kOperator, market::StartLease{lease, epoch});
  }

  static constexpr Actor kOperator{base::AccountId(1), Scope::operator_, {}};

 private:
  const WorldSize size_;  // First: `random` and the rest follow it in construction.

 public:
  market::State state;
  Time now = kStart;
  base::Random random;

 private:
  void add_machine(std::uint64_t i) {
    constexpr const char* regions[] = {"eu-west", "us-east", "ap-south", "sa-east"};
    market::MachineSpec spec{.cores = size_.slots, .memory_mib = 2048L * size_.slots};
    spec.region = regions[i % 4];
    spec.rtt_ms = static_cast<std::int32_t>(random.below(200));
    spec.packages = {"python3-numpy", i % 2 == 0 ? "python3-torch" : "python3-sklearn"};
    const auto owner = lender_of(i);
    const auto id = state.machines.next();
    run(owner, market::AddMachine{"box-" + std::to_string(i), std::move(spec)});
    run(owner, market::PostOffer{id, kClass, any_offer()});
  }

  OnEvent on_event_;
};

// The commands of a busy market, a chunk at a time. Time moves so that every lease comes up for
// settlement about when it is next heard of, and terms end and are renewed on the way.
class Traffic {
 public:
  // Out of 10,000 commands.
  struct Mix {
    std::uint32_t offers = 6'000, heartbeats = 2'000, submits = 1'000, cancels = 990, ticks = 9,
                  rounds = 1;
  };

  Traffic(World& world, const Mix& mix)
      : world_(world), mix_(mix), oldest_job_(world.state.jobs.next().value) {
    world.state.leases.for_each([&](const market::Lease& l) {
      if (l.state == market::LeaseState::running) leases_.push_back({l.machine, {l.id, l.epoch}});
    });
    const auto spacing = base::seconds(61) / static_cast<std::int64_t>(leases_.size() + 1);
    step_ = std::max(Duration(1), spacing * mix.heartbeats / 10'000);
    newest_job_ = oldest_job_;
  }

  std::vector<Request> next(std::size_t count) {
    std::vector<Request> out;
    out.reserve(count);
    while (out.size() < count) {
      world_.now = world_.now + step_;
      out.push_back(one());
    }
    return out;
  }

 private:
  struct Heard {
    base::MachineId machine;
    market::LeaseAndEpoch held;
  };

  Request one() {
    auto draw = static_cast<std::uint32_t>(world_.random.below(10'000));
    const auto is = [&](std::uint32_t share) {
      const bool hit = draw < share;
      draw -= share;
      return hit;
    };
    if (is(mix_.offers)) {
      const auto machine = world_.random.below(world_.state.machines.size());
      return {world_.now, world_.lender_of(machine),
              market::ChangeOffer{base::OfferId(machine + 1), world_.any_offer()}};
    }
    if (is(mix_.heartbeats)) {
      const auto& h = leases_[next_lease_++ % leases_.size()];
      return {world_.now, world_.lender_of(h.machine.value - 1),
              market::Heartbeat{h.machine, {h.held}}};
    }
    if (is(mix_.rounds)) return {world_.now, market::kSystem, market::Clear{kClass, draw}};
    if (is(mix_.ticks)) return {world_.now, market::kSystem, market::Tick{}};
    if (is(mix_.cancels) && oldest_job_ + 1'000 < newest_job_)
      return {world_.now, world_.borrower(oldest_job_),
              market::CancelJob{base::JobId(oldest_job_++), ""}};
    return {world_.now, world_.borrower(newest_job_++),
            market::SubmitJob{"bench", "batch", kClass, world_.any_job(4)}};
  }

  World& world_;
  const Mix mix_;
  std::uint64_t oldest_job_, newest_job_;
  Duration step_;
  std::vector<Heard> leases_;
  std::size_t next_lease_ = 0;
};

}  // namespace souk::bench
