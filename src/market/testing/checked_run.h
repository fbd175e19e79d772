#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "market/decide/decide.h"
#include "market/invariants.h"
#include "market/limits.h"

namespace souk::market::testing {

// Runs requests on a fresh market and holds every event against the invariants and against a small
// model of the money that shares no code with the ledger.
class CheckedRun {
 public:
  State state;
  std::uint64_t accepted = 0, refused = 0;
  std::map<std::string_view, std::uint64_t> kinds;  // Events seen.
  std::function<void(Time, const Event&)> on_event = [](Time, const Event&) {};

  CheckedRun() {
    for (const auto& event : founding_events()) apply_checked(Time(), event);
  }

  // What broke, in words; empty when nothing did.
  std::string step(const Request& r) {
    // A shortened history may name an account that was never made. No server would let it in.
    if (r.actor.account && !state.accounts.find(r.actor.account)) return {};
    const auto before = state.events;
    const auto decision = decide(state, r);
    if (!decision) {
      ++refused;
      if (decision.error().message.empty()) return "a refusal without a word";
      return state.events == before ? "" : "a refused command changed the state";
    }
    ++accepted;
    for (const auto& event : decision->events) {
      apply_checked(decision->at, event);
      if (!problem_.empty()) return fmt::format("after {}: {}", kind_of(event), problem_);
    }
    check_totals();
    return problem_;
  }

 private:
  struct Promise {
    AccountId owner;
    Credits budget, paid;
    bool ended = false;
  };
  struct Meter {
    JobId job;
    AccountId lender;
    Time until;
    bool closed = false;
  };

  void apply_checked(Time at, const Event& event) {
    ++kinds[kind_of(event)];
    std::visit([&](const auto& e) { follow(e); }, event);
    apply(state, at, event);
    on_event(at, event);
    if (const auto broken = broken_invariants(state); !broken.empty()) note(broken.front());
  }

  void note(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  void follow(const auto&) {}
  void follow(const AccountCreated& e) { worth_[e.account.id] += e.bonus, worth_[{}] -= e.bonus; }
  void follow(const CreditsGranted& e) { worth_[e.account] += e.amount; }
  void follow(const JobSubmitted& e) {
    promises_[e.job.id] = {e.job.owner, e.job.terms.budget, {}};
  }
  void follow(const JobChanged& e) { promises_[e.job].budget = e.terms.budget; }
  void follow(const JobEnded& e) {
    if (std::exchange(promises_[e.job].ended, true)) note("a hold was resolved twice");
  }
  void follow(const LeaseGranted& e) {
    if (meters_.contains(e.lease.id)) note("a lease was granted twice");
    auto& epoch = epochs_[e.lease.job];
    if (e.lease.epoch <= epoch) note("an epoch was used again");
    epoch = e.lease.epoch;
    meters_[e.lease.id] = {e.lease.job, e.lease.lender, {}};
  }
  void follow(const LeaseSettled& e) {
    auto& meter = meters_[e.lease];
    auto& promise = promises_[meter.job];
    if (meter.closed || promise.ended) note("a late report was paid");
    if (e.until < meter.until) note("an interval was billed twice");
    if (e.amount < Credits() || e.fee < Credits() || e.fee > e.amount) note("a payment below zero");
    meter.until = e.until;
    promise.paid += e.amount;
    if (promise.paid > promise.budget) note("more was paid than reserved");
    worth_[promise.owner] -= e.amount;
    worth_[meter.lender] += e.amount - e.fee;
    worth_[{}] += e.fee;
  }
  void follow(const LeaseServed& e) {
    auto& meter = meters_[e.lease];
    auto& promise = promises_[meter.job];
    if (meter.closed || promise.ended) note("a late request was paid");
    promise.paid += e.amount;
    if (promise.paid > promise.budget) note("more was paid than reserved");
    worth_[promise.owner] -= e.amount;
    worth_[meter.lender] += e.amount - e.fee;
    worth_[{}] += e.fee;
  }
  void follow(const LeaseClosed& e) {
    if (std::exchange(meters_[e.lease].closed, true)) note("a lease was closed twice");
  }

  void check_totals() {
    for (const auto& [account, worth] : worth_) {
      const auto& b = state.ledger.balance(account);
      if (b.available + b.bonus + b.escrow != worth)
        note(fmt::format("account {} has {} and should have {}", to_string(account),
                         to_string(b.available + b.bonus + b.escrow), to_string(worth)));
    }
  }

  std::map<AccountId, Credits> worth_;
  std::map<JobId, Promise> promises_;
  std::map<LeaseId, Meter> meters_;
  std::map<JobId, std::int32_t> epochs_;
  std::string problem_;
};

// One line about a request, for a failing history.
inline std::string describe(const Request& r) {
  auto out = fmt::format("{} {}/{}", base::to_string(r.now), to_string(r.actor.account),
                         to_string(r.actor.scope));
  std::visit(
      [&]<class C>(const C& c) {
        const std::string_view name = __PRETTY_FUNCTION__;
        const auto from = name.rfind("::") + 2;
        out += fmt::format(" {}", name.substr(from, name.find_first_of(" ];>,", from) - from));
        const auto add = [&](std::string_view key, const std::string& value) {
          out += fmt::format(" {}={}", key, value);
        };
        if constexpr (requires { c.account; }) add("account", to_string(c.account));
        if constexpr (requires { c.machine; }) add("machine", to_string(c.machine));
        if constexpr (requires { c.offer; }) add("offer", to_string(c.offer));
        if constexpr (requires { c.job; }) add("job", to_string(c.job));
        if constexpr (requires { c.lease; }) add("lease", to_string(c.lease));
        if constexpr (requires { c.epoch; }) add("epoch", std::to_string(c.epoch));
        if constexpr (requires { c.outcome; }) add("outcome", std::string(to_string(c.outcome)));
        if constexpr (requires { c.slot_class.value; }) add("class", to_string(c.slot_class));
        if constexpr (requires { c.amount; }) add("amount", to_string(c.amount));
        if constexpr (requires { c.terms.budget; }) {
          add("workers", fmt::format("{}..{}", c.terms.workers.min, c.terms.workers.max));
          add("limit", to_string(c.terms.limit));
          add("budget", to_string(c.terms.budget));
        }
        if constexpr (requires { c.terms.slots; }) {
          add("slots", std::to_string(c.terms.slots));
          add("available", to_string(c.terms.availability));
        }
      },
      r.command);
  return out;
}

}  // namespace souk::market::testing
