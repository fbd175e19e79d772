#include "market/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace souk::market {
namespace {

using Problems = std::vector<std::string>;

void check_ledger(const State& s, Problems& out) {
  if (s.ledger.sum() != Credits()) out.push_back("the ledger does not sum to zero");
  std::map<AccountId, Credits> held;
  for (const auto& [id, hold] : s.ledger.holds()) {
    held[hold.owner] += hold.left;
    if (hold.left < Credits() || hold.bonus < Credits() || hold.bonus > hold.left)
      out.push_back(fmt::format("hold {} is out of range", to_string(id)));
    const auto* job = s.jobs.find(JobId(id.value));
    if (job == nullptr || is_final(job->state))
      out.push_back(fmt::format("hold {} outlived its job", to_string(id)));
  }
  for (std::uint64_t i = 0; i <= s.ledger.accounts(); ++i) {
    const auto& b = s.ledger.balance(AccountId(i));
    if (b.available < Credits() || b.bonus < Credits() || b.escrow < Credits())
      out.push_back(fmt::format("account a{} has a balance below zero", i));
    if (b.escrow != held[AccountId(i)])
      out.push_back(fmt::format("account a{}: escrow is not the sum of its holds", i));
  }
}

// What the live trials of a sweep have in escrow, which came from its own.
Credits held_by_trials(const State& s, const Job& j, Problems& out) {
  Credits sum;
  for (const auto id : j.trials) {
    const auto* trial = s.jobs.find(id);
    const auto* hold = s.ledger.hold(hold_of(id));
    if (trial == nullptr || hold == nullptr || trial->sweep != j.id || trial->owner != j.owner)
      out.push_back(fmt::format("sweep {} lists trial {} wrongly", to_string(j.id), to_string(id)));
    else
      sum += hold->left;
  }
  if (std::ssize(j.trials) > j.most_trials || (!j.trials.empty() && !j.leases.empty()))
    out.push_back(fmt::format("sweep {} has too many trials, or leases", to_string(j.id)));
  return sum;
}

// Nobody works for a gang that has not begun, nor comes to one that breaks up.
void check_gang(const State& s, const Job& j, Problems& out) {
  const bool all_ready =
      std::ranges::all_of(j.leases, [&](LeaseId id) { return s.leases.at(id).ready > Time(); });
  for (const auto id : j.leases) {
    const bool granted = s.leases.at(id).state == LeaseState::granted;
    const bool good = j.gang.phase == GangPhase::forming ? granted || all_ready
                      : j.gang.phase == GangPhase::running
                          ? !granted || j.terms.workers.min < j.terms.workers.max
                          : !granted;
    if (!good)
      out.push_back(fmt::format("gang {} is {}, and its lease {} is not", to_string(j.id),
                                to_string(j.gang.phase), to_string(id)));
  }
}

void check_jobs(const State& s, Problems& out) {
  s.jobs.for_each([&](const Job& j) {
    const auto name = to_string(j.id);
    const auto* hold = s.ledger.hold(hold_of(j.id));
    if (is_final(j.state)) {
      if (!j.leases.empty()) out.push_back(fmt::format("job {} ended with open leases", name));
      return;
    }
    if (hold == nullptr) return out.push_back(fmt::format("job {} has no escrow", name));
    if (j.spent + hold->left + held_by_trials(s, j, out) != j.terms.budget)
      out.push_back(fmt::format("job {}: spent + escrow is not its budget", name));
    if (std::ranges::find(j.also, j.slot_class) != j.also.end())
      out.push_back(fmt::format("job {} may move to where it is", name));
    if (s.free_budget(j) < Credits())
      out.push_back(fmt::format("job {} has promised more than its escrow", name));
    std::int32_t held = 0, done = 0;
    std::set<std::int32_t> parts;
    for (const auto& part : j.parts) {
      if (!part.done) continue;
      parts.insert(part.index);
      ++done;
    }
    if (!j.work.empty() && done != j.done)
      out.push_back(fmt::format("job {} miscounts its finished parts", name));
    for (const auto id : j.leases) {
      const auto* l = s.leases.find(id);
      if (l == nullptr || l->job != j.id || l->state == LeaseState::closed ||
          l->slot_class != j.slot_class)
        return out.push_back(fmt::format("job {} lists lease {} wrongly", name, to_string(id)));
      held += l->slots;
      if (!j.work.empty() &&
          (l->slots != 1 || l->part >= j.terms.workers.max || !parts.insert(l->part).second))
        out.push_back(fmt::format("job {}: part {} is worked on twice", name, l->part));
    }
    if (is_gang(j)) check_gang(s, j, out);
    if (held != j.held) out.push_back(fmt::format("job {} miscounts its slots", name));
    const bool tries = !j.trials.empty() && j.state != JobState::paused;
    if ((j.state == JobState::running) != (j.held > 0 || tries))
      out.push_back(fmt::format("job {} is {} with {} slots", name, to_string(j.state), j.held));
  });
}

void check_tokens(const State& s, Problems& out) {
  std::map<TokenId, TokenShare> counted;
  s.jobs.for_each([&](const Job& j) {
    if (!j.token) return;
    counted[j.token].used += share_of(j).used;
    counted[j.token].spent += share_of(j).spent;
  });
  s.tokens.for_each([&](const Token& t) {
    if ((t.scope == Scope::spend) != t.limit.has_value() || (!t.limit && t.used != Credits()))
      return out.push_back(fmt::format("token {} has a limit it should not", to_string(t.id)));
    if (!t.limit) return;
    // What jobs spent that are forgotten since is the same of both.
    const auto& known = counted[t.id];
    if (t.used > *t.limit || t.spent < known.spent || t.spent > t.used ||
        t.used - t.spent != known.used - known.spent)
      out.push_back(fmt::format("token {} has used {} of {}, its jobs {}", to_string(t.id),
                                to_string(t.used), to_string(*t.limit), to_string(known.used)));
  });
}

void check_leases(const State& s, Problems& out) {
  std::map<OfferId, std::int32_t> leased;
  s.leases.for_each([&](const Lease& l) {
    const auto name = to_string(l.id);
    if (l.paid > Credits() && l.started == Time())
      out.push_back(fmt::format("lease {} was paid before it ran", name));
    if (l.earned > l.paid) out.push_back(fmt::format("lease {} earned more than was paid", name));
    if (l.state == LeaseState::closed) return;
    leased[l.offer] += l.slots;
    const auto* offer = s.offers.find(l.offer);
    if (offer == nullptr) return out.push_back(fmt::format("lease {} has no offer", name));
    const auto& end = l.next ? l.next->until : l.term.until;
    const auto window = opening(offer->terms.availability, l.term.from);
    if (!window || !window->contains(l.term.from) || end > window->until)
      out.push_back(fmt::format("lease {} lies outside its offer's window", name));
    if (l.settled_until > l.term.until)
      out.push_back(fmt::format("lease {} was settled beyond its term", name));
  });
  s.offers.for_each([&](const Offer& o) {
    if (leased[o.id] != o.leased || o.leased > o.terms.slots)
      out.push_back(fmt::format("offer {} has {} of {} slots leased, {} counted", to_string(o.id),
                                leased[o.id], o.terms.slots, o.leased));
  });
}

}  // namespace

std::vector<std::string> broken_invariants(const State& s) {
  Problems out;
  check_ledger(s, out);
  check_jobs(s, out);
  check_tokens(s, out);
  check_leases(s, out);
  return out;
}

}  // namespace souk::market
