#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/id_map.h"
#include "market/due_set.h"
#include "market/types.h"

namespace souk::market {

struct State;

// What a round must know of one offer, packed so that a hundred thousand of them are read in a
// millisecond. Rows stay in order of offer id.
struct SupplyRow {
  OfferId offer;  // None: a removed offer's place.
  MachineId machine;
  AccountId lender;
  Credits reserve;
  // Of the machine, with its reliability and distance all that jobs make demands on: machines with
  // the same likeness have the same packages, environments, region and provider.
  std::uint64_t likeness = 0;
  std::int32_t reliability_ppm = 0;
  std::int32_t rtt_ms = 0;
  std::int32_t free = 0;
  std::int32_t rank = 0;  // Lower first: more reliable machines.
  Duration longest_lease;
  bool usable = false;  // Not draining, machine heard, owner not frozen.
  Time paused_until;
  // Memo of opening(availability, now): the opening around or after the time it was last asked
  // for. A pure function's result, so filling it in does not change the state.
  mutable std::optional<Interval> open = {};
  mutable bool open_known = false;
  mutable Time asked = {};

  // Does the memo answer for `now`? opening() looks two weeks ahead, so an opening that reaches so
  // far may be longer than it says: it is asked for again before that can matter to a lease, whose
  // term is a week at most.
  [[nodiscard]] bool knows(Time now) const {
    if (!open_known || !open) return open_known;
    const bool cut = open->until - asked >= base::days(13);
    return open->until > (cut ? now + base::days(8) : now);
  }
};

// What a job counts for in ClassIndex::wanted and Index::wanted_at().
struct WantedSlots {
  std::int32_t slots = 0;
  Credits limit;
  AccountId owner;

  bool operator==(const WantedSlots&) const = default;
};

using WantedAt = std::map<std::pair<Credits, AccountId>, std::int64_t>;

struct ClassIndex {
  std::vector<SupplyRow> supply;
  std::size_t dead = 0;                              // Rows of removed offers.
  std::set<std::pair<std::int32_t, JobId>> wanting;  // Jobs that bid: (-priority, id).
  std::int64_t leased = 0;                           // Slots under lease.
  std::int64_t wanted = 0;                           // Slots `wanting` asks for.
  // Of Index::wanted_at() alone: what it said last, while that is worth keeping, and what has
  // changed since (slots below zero: fewer).
  mutable std::optional<WantedAt> wanted_then;
  mutable std::vector<WantedSlots> changed_since;
};

// Keys and answers by key_hash_of(). Nothing is known until somebody looks one up, so a replay,
// which never does, does not pay for it. Never iterated.
struct KeyIndex {
  bool built = false;
  std::uint64_t keys_dropped = 0;                            // From the front of State::keys.
  std::unordered_map<std::uint64_t, std::uint64_t> keys;     // To the place, dropped ones counted.
  std::unordered_map<std::uint64_t, const Answer*> answers;  // Which stay where they are.
};

// How many things an account has, for the limits in limits.h.
struct Counts {
  std::int32_t machines = 0;
  std::int32_t live_jobs = 0;
  std::int32_t tokens = 0;
  std::int32_t sessions = 0;
  std::int64_t keys = 0;          // Used within kKeysFor.
  std::int64_t answer_bytes = 0;  // Of its answers whose text is kept.
  // None of its answers before this one (those dropped counted) has a text.
  std::uint64_t first_answer = 0;
};

// Everything that can be recomputed from the rest of the state and exists for speed only. Not part
// of snapshots or of the state hash; rebuild() makes it anew.
struct Index {
  std::map<std::string, AccountId, std::less<>> account_by_name;
  std::map<base::Digest, TokenId> token_by_digest;
  mutable KeyIndex by_key;
  std::int64_t answer_bytes = 0;                    // Of all answers that are kept.
  std::uint64_t answers_dropped = 0;                // From the front of State::answers.
  std::vector<ClassIndex> classes;                  // By class id - 1.
  std::vector<Counts> counts;                       // By account id.
  std::vector<std::uint32_t> row_of_offer;          // By offer id: its row in its class.
  std::vector<std::vector<OfferId>> offers_of;      // By machine id.
  std::vector<std::vector<LeaseId>> leases_of;      // Open ones, by machine id.
  std::vector<std::vector<MachineId>> machines_of;  // By account id.
  std::vector<std::uint64_t> likeness_of;           // By machine id: SupplyRow::likeness.
  std::vector<std::vector<JobId>> jobs_of;          // All that are kept, by account id, ascending.
  base::IdMap<JobId, WantedSlots> wanted;           // Of jobs that bid.
  std::map<JobId, std::vector<JobId>> trials_of;    // All that are kept, by sweep, ascending.
  std::set<JobId> live_sweeps;
  DueSet<LeaseId> lease_due;
  DueSet<JobId> job_due;

  // Called by apply() after it changed the thing.
  void account_added(const Account& a);
  void class_set(const SlotClass& c);
  void token_changed(const Token& t, int by);
  void machine_added(const Machine& m);
  void machine_changed(const State& s, const Machine& m);  // What it says of itself.
  void machine_removed(const Machine& m);
  void offer_added(const State& s, const Offer& o);
  void offer_changed(const State& s, const Offer& o, bool terms);
  void offer_leased(const Offer& o);  // Only its free slots changed: looks at nothing else.
  void offer_removed(const Offer& o);
  void offers_changed(const State& s, MachineId m);  // Of one machine.
  void job_added(const Job& j);
  void job_removed(const Job& j);
  void job_changed(const State& s, const Job& j);
  void job_leaves(const Job& j);  // Before its class or priority changes; then job_changed().
  // Slots wanted of a class, by limit price and owner. Jobs change far more often than anybody
  // asks, so what has changed is reckoned up then.
  const WantedAt& wanted_at(ClassId c) const;
  void lease_opened(const State& s, const Lease& l);
  void lease_changed(const State& s, const Lease& l);
  void lease_closed(const State& s, const Lease& l);

  void answer_added(const Answer& a);
  void answer_emptied(const Answer& a);  // Before its text goes.
  void answer_dropped(const Answer& a);  // The oldest.
  void key_added(const State& s, const UsedKey& k);
  void key_dropped(const UsedKey& k);  // The oldest.
  const KeyIndex& keys_of(const State& s) const;

  void rebuild(const State& s);

 private:
  SupplyRow* row(const Offer& o);
  void count_wanted(ClassIndex& c, const WantedSlots& w, int sign);
};

// How many more workers the job asks the market for: none unless it is queued or running.
std::int32_t wanted_workers(const Job& j);

// What an answer takes in memory.
std::int64_t size_of(const Answer& a);

// The opening of this offer around `now`, or the next one.
const std::optional<Interval>& opening_of(const SupplyRow& row, const Offer& offer, Time now);

}  // namespace souk::market
