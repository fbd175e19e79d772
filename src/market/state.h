#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/ledger.h"
#include "market/events.h"
#include "market/index.h"
#include "market/prices.h"
#include "market/table.h"
#include "market/tally.h"
#include "market/types.h"

namespace souk::market {

// The whole market at one moment: the fold of all events so far. Owned by one thread. Changed by
// apply() alone; a default-constructed State is a market in which nothing has happened.
struct State {
  Time now;                  // Of the last event. Never runs backwards.
  std::uint64_t events = 0;  // Applied so far.
  Settings settings;
  std::vector<SlotClass> classes;  // By class id - 1.
  Table<AccountId, Account> accounts;
  Table<TokenId, Token> tokens;
  Table<MachineId, Machine> machines;
  Table<OfferId, Offer> offers;
  Table<JobId, Job> jobs;
  Table<LeaseId, Lease> leases;
  Table<FeedbackId, Feedback> feedback;
  ledger::Ledger ledger;
  std::vector<PriceHistory> prices;                   // By class id - 1.
  std::vector<std::deque<StatementLine>> statements;  // By account id - 1, oldest first.
  std::deque<AuditEntry> audit;                       // Oldest first.
  std::deque<Answer> answers;                         // The latest, oldest first.
  std::vector<Tallies> tallies;                       // By class id - 1.
  std::vector<std::vector<Standing>> standings;       // By class id - 1.
  std::map<std::string, Profile> profiles;            // The kProfiles learnt last.
  std::deque<UsedKey> keys;                           // Of the last kKeysFor, oldest first.
  std::map<AccountId, CreditRequest> requests;        // For credits, the last of each account.
  std::map<std::string, Volume> volumes;              // By volume_key().

  SOUK_FIELDS(State, now, events, settings, classes, accounts, tokens, machines, offers, jobs,
              leases, feedback, ledger, prices, statements, audit, answers, tallies, standings,
              profiles, keys, requests, volumes)

  Index index;  // Derived; see index.h.

  State() = default;
  State(State&&) = default;
  State& operator=(State&&) = default;
  State(const State&) = delete;  // Large, and the index points into it.
  State& operator=(const State&) = delete;

  [[nodiscard]] const SlotClass& slot_class(ClassId id) const { return classes[id.value - 1]; }
  [[nodiscard]] const SlotClass* find_class(std::string_view name) const;
  [[nodiscard]] const Account* find_account(std::string_view name) const;
  // The live token with this digest, or nothing when it is unknown or expired.
  [[nodiscard]] const Token* find_token(const base::Digest& digest, Time at) const;
  // What is known of a request under this key: that it was made within kKeysFor, and its answer.
  [[nodiscard]] const UsedKey* find_key(AccountId account, std::string_view key) const;
  [[nodiscard]] const Answer* find_answer(AccountId account, std::string_view key) const;
  // What is left in the job's escrow and not promised to its open leases.
  [[nodiscard]] Credits free_budget(const Job& j) const;
  // The suggested price of a class for the hour that contains `slot`.
  [[nodiscard]] Credits suggested(ClassId c, Time at, Time slot) const;
};

// The escrow of a job is the ledger's hold of the same number.
inline base::HoldId hold_of(JobId job) { return base::HoldId(job.value); }

// What a volume is kept under: those of one account stand together.
[[nodiscard]] std::string volume_key(AccountId owner, std::string_view name);

// The most the lease can still cost its borrower: its terms to their ends, less what was paid.
[[nodiscard]] Credits committed(const Lease& l);

// What a job's workers have earned by `now` and were not paid yet, if they are heard of again: it
// is settled now and then, not every second. Of a replicated job: what undecided answers would get.
[[nodiscard]] Credits accrued(const State& s, const Job& j, Time now);

// What `workers` workers may cost for the shortest term at this limit price: the least budget with
// which they are worth starting.
[[nodiscard]] Credits least_budget(Credits limit, std::int32_t workers, const Settings& settings);

// The fewest workers of which the job can use any: its minimum until it runs, then one.
[[nodiscard]] std::int32_t least_workers(const Job& j);

inline constexpr std::string_view kBudgetUsedUp = "its budget is used up";

// Makes `event`, which happened at `at`, part of the state. Total: every event that decide() made
// on this state is accepted, and a journal's events are accepted in the journal's order.
void apply(State& state, Time at, const Event& event);

// A market with the default slot classes: the events that make one.
[[nodiscard]] Events founding_events();

}  // namespace souk::market
