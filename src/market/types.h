#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/time.h"
#include "base/vocabulary.h"
#include "market/window.h"

// The things a market is made of. All plain values: what may be done with them is in decide.h, what
// an event does to them in state.h. Field lists are part of the journal's format: append only.

namespace souk::market {

using base::AccountId;
using base::came_to_nothing;
using base::Credits;
using base::FeedbackCategory;
using base::FeedbackId;
using base::GangPhase;
using base::is_final;
using base::JobId;
using base::JobState;
using base::LeaseId;
using base::LeaseOutcome;
using base::LeaseState;
using base::LineKind;
using base::MachineId;
using base::OfferId;
using base::Scope;
using base::TokenId;

struct ClassIdTag {
  static constexpr char prefix = 'k';
  static constexpr std::string_view noun = "slot class";
};
using ClassId = base::Id<ClassIdTag>;

struct Account {
  AccountId id;
  std::string name;
  std::string password;  // Argon2id, in its usual text form.
  bool is_operator = false;
  std::string frozen;  // Why, or empty.
  Time created;

  SOUK_FIELDS(Account, id, name, password, is_operator, frozen, created)
};

struct Token {
  TokenId id;
  AccountId account;
  Scope scope = Scope::user;
  MachineId machine;  // With scope machine.
  base::Digest digest;
  std::string label;
  Time created;
  Time expires = base::kNever;
  bool session = false;  // Made by logging in, and counted apart from those that people make.
  // With scope spend: the most that `used` may come to; the sums of TokenShare over its jobs.
  std::optional<Credits> limit;
  Credits used;
  Credits spent;

  SOUK_FIELDS(Token, id, account, scope, machine, digest, label, created, expires, session, limit,
              used, spent)
};

// What a mechanism with a memory (Karma) knows of an account.
struct Standing {
  AccountId account;
  std::int64_t karma = 0;

  SOUK_FIELDS(Standing, account, karma)
};

// Two mechanisms take turns, a slice of time each, so that their rounds can be compared.
struct Trial {
  std::string mechanism;  // In force in every other slice.
  std::map<std::string, std::string> params;
  Duration slice;

  SOUK_FIELDS(Trial, mechanism, params, slice)
};

// The name under which a market runs a program of the operator's as a mechanism: parameter
// `program` names it, `fallback` what clears when it misbehaves.
inline constexpr std::string_view kExternal = "external";

// What the classes of a new market begin with (docs/decisions/0032).
inline constexpr std::string_view kDefaultMechanism = "vickrey";

// A commodity: what one slot of this class guarantees at least.
struct SlotClass {
  ClassId id;
  std::string name;
  std::int32_t cores = 1;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;
  Credits price;  // The suggested price before there is any history.
  std::string mechanism = "k-double";
  std::map<std::string, std::string> params;  // The mechanism's parameters.
  bool retired = false;                       // Takes no new offers or jobs.
  std::optional<Trial> trial;

  // Which of the two is in force.
  [[nodiscard]] bool on_trial(Time at) const { return trial && at.us / trial->slice.us % 2 == 1; }
  [[nodiscard]] const std::string& mechanism_at(Time at) const {
    return on_trial(at) ? trial->mechanism : mechanism;
  }
  [[nodiscard]] const std::map<std::string, std::string>& params_at(Time at) const {
    return on_trial(at) ? trial->params : params;
  }

  SOUK_FIELDS(SlotClass, id, name, cores, memory_mib, gpus, gpu_memory_mib, price, mechanism,
              params, retired, trial)
};

// Packages that a lender's machine has in a place of their own: a job gets all of them or none.
struct MachineEnvironment {
  std::string name;
  std::vector<std::string> packages;  // "python==3.12.3", "cuda==12.4", "torch==2.4.0"

  bool operator==(const MachineEnvironment&) const = default;
  SOUK_FIELDS(MachineEnvironment, name, packages)
};

struct MachineSpec {
  std::int32_t cores = 1;
  std::int64_t memory_mib = 1024;
  std::int64_t disk_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;
  std::string gpu;
  std::string cpu;
  std::string os;
  std::string region;
  std::string provider = "community";
  std::vector<std::string> packages;             // "python3-torch", "numpy==1.24.2"
  std::int32_t rtt_ms = 0;                       // To the server, as the agent measured it.
  std::vector<MachineEnvironment> environments;  // Beside `packages`.

  bool operator==(const MachineSpec&) const = default;
  SOUK_FIELDS(MachineSpec, cores, memory_mib, disk_mib, gpus, gpu_memory_mib, gpu, cpu, os, region,
              provider, packages, rtt_ms, environments)
};

struct Machine {
  MachineId id;
  AccountId owner;
  std::string name;
  MachineSpec spec;
  // Share of leases kept, in millionths: 20% of what is missing is regained with each lease kept,
  // and a fifth is lost with each lease broken.
  std::int32_t reliability_ppm = 900'000;
  bool online = true;  // False after it was silent for too long, until it is heard again.
  Time created;
  std::string doubted;      // Why: it failed a challenge, and lends nothing until it passes one.
  std::int64_t leases = 0;  // Kept or broken: what the reliability is made from.
  Duration lane;            // What a core took for a lane of its last challenge; 0: not known.

  SOUK_FIELDS(Machine, id, owner, name, spec, reliability_ppm, online, created, doubted, leases,
              lane)
};

// The part of an offer its lender can edit.
struct OfferTerms {
  std::int32_t slots = 1;
  std::optional<Credits> reserve;  // Least price per slot-hour; empty for "market".
  Availability availability;
  Duration longest_lease = base::hours(24);

  bool operator==(const OfferTerms&) const = default;
  SOUK_FIELDS(OfferTerms, slots, reserve, availability, longest_lease)
};

struct Offer {
  OfferId id;
  MachineId machine;
  AccountId owner;
  ClassId slot_class;
  OfferTerms terms;
  Time paused_until;      // In the past: not paused.
  bool draining = false;  // Takes no new leases, renews none.
  std::int32_t leased = 0;
  Time created;

  SOUK_FIELDS(Offer, id, machine, owner, slot_class, terms, paused_until, draining, leased, created)
};

// Where a job's code and data may go. Empty means anywhere.
struct Constraints {
  std::vector<std::string> packages;
  std::vector<std::string> regions;
  std::int32_t max_rtt_ms = 0;           // 0: any
  std::int32_t min_reliability_ppm = 0;  // 0: any
  std::vector<AccountId> lenders_allowed;
  std::vector<AccountId> lenders_refused;
  std::vector<std::string> providers_allowed;
  std::vector<std::string> providers_refused;

  auto operator<=>(const Constraints&) const = default;
  SOUK_FIELDS(Constraints, packages, regions, max_rtt_ms, min_reliability_ppm, lenders_allowed,
              lenders_refused, providers_allowed, providers_refused)
};

struct Workers {
  std::int32_t min = 1;
  std::int32_t max = 1;

  bool operator==(const Workers&) const = default;
  SOUK_FIELDS(Workers, min, max)
};

// The part of a job its owner can edit while it lives.
struct JobTerms {
  Workers workers;
  Credits limit;   // The most it pays per slot-hour.
  Credits budget;  // The most it pays in all; in escrow from the start.
  Time deadline = base::kNever;
  std::int32_t priority = 0;  // -100..100; breaks ties between equal limits.
  Constraints constraints;

  bool operator==(const JobTerms&) const = default;
  SOUK_FIELDS(JobTerms, workers, limit, budget, deadline, priority, constraints)
};

// A machine this job stays away from for a while, because it failed the job.
struct Avoided {
  MachineId machine;
  std::int32_t times = 0;
  Time until;

  auto operator<=>(const Avoided&) const = default;
  SOUK_FIELDS(Avoided, machine, times, until)
};

// How often a part of a job that did not come to its end is tried again. A lost machine is not the
// program's fault, a failure usually is.
struct Retry {
  bool lost = true;
  bool failed = false;
  std::int32_t max = 10;  // Of each part.

  bool operator==(const Retry&) const = default;
  SOUK_FIELDS(Retry, lost, failed, max)
};

// What a lease gave for a part that more than one owner must agree on, until they do.
struct PartAnswer {
  LeaseId lease;
  AccountId lender;
  MachineId machine;
  std::string result;
  Credits owed;  // For its time, if it is confirmed; stays in the job's escrow until then.
  Credits fee;   // Of that, the platform's.
  Time until;    // The time that was paid ends here.

  SOUK_FIELDS(PartAnswer, lease, lender, machine, result, owed, fee, until)
};

// What is known of one numbered part of a job's work, once there is anything to know.
struct JobPart {
  std::int32_t index = 0;
  bool done = false;
  std::int32_t tries = 0;  // That came to nothing.
  std::string checkpoint;  // Names of blobs, empty: none.
  std::string result;
  std::vector<PartAnswer> answers;  // Of a job with `replicate`, while it is undecided.

  [[nodiscard]] bool answered_by(AccountId lender) const {
    return std::ranges::find(answers, lender, &PartAnswer::lender) != answers.end();
  }
  SOUK_FIELDS(JobPart, index, done, tries, checkpoint, result, answers)
};

// What a job's workers are paid for: the time that they run, or the part of it that led to accepted
// work (AcceptWork).
SOUK_ENUM(Pay, time, work)

// A job whose workers are granted, started and ended together, because their programs talk to each
// other. With fewer workers than its maximum it goes on only while it has its minimum and worker 0.
struct Gang {
  bool together = false;  // The job is a gang.
  bool led = false;       // It ends when worker 0 does; else when all have.
  GangPhase phase = GangPhase::forming;
  std::int32_t restarts = 0;  // How often it regrouped.
  // While it regroups: what a program failed with, unless a worker was lost: then others fail too.
  std::string failure;

  bool operator==(const Gang&) const = default;
  SOUK_FIELDS(Gang, together, led, phase, restarts, failure)
};

// A job left one class for another.
struct Move {
  Time at;
  ClassId from, to;
  std::string why;

  bool operator==(const Move&) const = default;
  SOUK_FIELDS(Move, at, from, to, why)
};

struct Job {
  JobId id;
  AccountId owner;
  std::string name;
  std::string kind = "batch";
  ClassId slot_class;
  JobTerms terms;
  JobState state = JobState::queued;
  std::string reason;  // Why it is paused or how it ended.
  Credits spent;
  std::int32_t epoch = 0;       // Leases granted so far; fences late reports.
  std::int32_t done = 0;        // Workers that finished their part.
  std::int32_t held = 0;        // Slots of its open leases.
  std::vector<LeaseId> leases;  // Open ones.
  std::vector<Avoided> avoided;
  bool warned = false;  // That its escrow runs low.
  Time created;
  Time started;  // First worker running.
  Time ended;
  // What its workers do, in the words of whoever runs it; the market only keeps it. A job with work
  // has `workers.max` parts, numbered from 0, each with a lease of its own and done once.
  std::string work;
  Retry retry;
  std::vector<JobPart> parts;  // By index; those that nothing is known of are absent.
  std::string result;          // Of the job as a whole: the name of a blob, or empty.
  std::string forecast;        // Before it began, in the words of whoever made it.
  std::int32_t planned = 0;    // Workers it is to have for now; 0: as many as it may.
  std::string planned_why;
  std::vector<ClassId> also;  // Classes it may move to, beside the one it is in.
  std::vector<Move> moves;    // The latest, oldest first.
  Pay pay = Pay::time;
  std::int64_t paid_through = 0;  // Wages up to this number are paid (AcceptWork).
  std::int32_t replicate = 1;     // So many owners must give the same result for each part.
  // Of a probe: the result that each part must have. It runs where it is aimed, once for an owner.
  std::string expect;
  MachineId aimed;                // Where its next part is to run; none: nowhere yet.
  std::vector<AccountId> probed;  // Owners that had a part of it.
  TokenId token;                  // With which it was submitted, if that can spend only so much.
  Credits token_budget;           // What of the budget was asked for with that token.
  // Of a sweep: it has no workers of its own. Its trials are jobs that are paid from its escrow, so
  // many at a time at most; the live ones.
  std::int32_t most_trials = 0;
  std::vector<JobId> trials;
  JobId sweep;       // Of a trial: what it belongs to.
  std::string note;  // Of a trial, in the words of whoever leads the sweep.
  Gang gang;
  Credits per_request;  // Of a service: what a lender gets for each, beside the price of the time.
  std::vector<std::string> volumes;  // Of its owner, that its workers may change.
  // The smallest class that holds what it asks for, where its owner named none: while no slot of it
  // is on offer, the job may go on in a larger one. None: the owner named its class.
  ClassId least_class;

  [[nodiscard]] const JobPart* part(std::int32_t index) const {
    const auto it = std::ranges::lower_bound(parts, index, {}, &JobPart::index);
    return it != parts.end() && it->index == index ? &*it : nullptr;
  }
  SOUK_FIELDS(Job, id, owner, name, kind, slot_class, terms, state, reason, spent, epoch, done,
              held, leases, avoided, warned, created, started, ended, work, retry, parts, result,
              forecast, planned, planned_why, also, moves, pay, paid_through, replicate, expect,
              aimed, probed, token, token_budget, most_trials, trials, sweep, note, gang,
              per_request, volumes, least_class)
};

// Is it in a larger class than it needs? Those that need that class come first.
[[nodiscard]] inline bool is_guest(const Job& j) {
  return j.least_class && j.least_class != j.slot_class;
}

// What a job takes of the limit of its token, and what of that it has spent: its budget while it
// lives, since that is in escrow, then what it cost; never more than was asked for with the token.
struct TokenShare {
  Credits used;
  Credits spent;
};
[[nodiscard]] inline TokenShare share_of(const Job& j) {
  return {.used = std::min(is_final(j.state) ? j.spent : j.terms.budget, j.token_budget),
          .spent = std::min(j.spent, j.token_budget)};
}

// How many workers the job is to have now: its maximum, or what was planned within its bounds.
[[nodiscard]] inline std::int32_t aimed_workers(const Job& j) {
  const auto& [min, max] = j.terms.workers;
  return j.planned > 0 ? std::clamp(j.planned, min, max) : max;
}

// The workers of such a job may come and go: losing one costs the job nothing.
[[nodiscard]] inline bool paid_by_work(const Job& j) { return j.pay == Pay::work; }

// Each part of such a job is done by more than one owner, and paid when they agree.
[[nodiscard]] inline bool is_replicated(const Job& j) { return j.replicate > 1; }

// An operator's job whose result is known: it shows whether a lender does the work.
[[nodiscard]] inline bool is_probe(const Job& j) { return !j.expect.empty(); }

// Its workers are granted, started and ended together.
[[nodiscard]] inline bool is_gang(const Job& j) { return j.gang.together; }

// Its work is done by other jobs, its trials.
[[nodiscard]] inline bool is_sweep(const Job& j) { return j.most_trials > 0; }

// A price for a length of time. Buyer pays, seller gets, per slot-hour.
struct Term {
  Credits pays;
  Credits gets;
  Time from;
  Time until;
  std::int32_t fee_ppm = 0;  // The platform's share of what the seller gets, fixed like the price.

  bool operator==(const Term&) const = default;
  SOUK_FIELDS(Term, pays, gets, from, until, fee_ppm)
};

struct Lease {
  LeaseId id;
  JobId job;
  OfferId offer;
  MachineId machine;
  AccountId borrower;
  AccountId lender;
  ClassId slot_class;
  std::int32_t slots = 1;
  std::int32_t epoch = 0;
  Term term;                 // The term in force. Its price never changes.
  std::optional<Term> next;  // Agreed, begins when `term` ends.
  LeaseState state = LeaseState::granted;
  LeaseOutcome outcome = LeaseOutcome::none;
  std::string detail;  // Exit code, reason to drain.
  Time granted;
  Time started;        // Billing began.
  Time settled_until;  // Billing is paid up to here.
  Credits paid;        // By the borrower, over all terms.
  Credits earned;      // By the lender, after fees.
  Credits term_paid;   // By the borrower in the term in force.
  Credits term_earned;
  Time ended;
  std::int32_t part = 0;   // Of a job with work: which.
  Duration worked;         // Accepted work that the term in force pays, where work is what is paid,
  Duration worked_before;  // and what earlier terms paid.
  Time ready;  // Of a gang: since when its machine could start, and waits for the others.
  std::int64_t requests = 0;  // Of a service: answered and paid.

  SOUK_FIELDS(Lease, id, job, offer, machine, borrower, lender, slot_class, slots, epoch, term,
              next, state, outcome, detail, granted, started, settled_until, paid, earned,
              term_paid, term_earned, ended, part, worked, worked_before, ready, requests)
};

// How long the term in force runs for the lease.
[[nodiscard]] inline Duration term_length(const Lease& l) {
  return l.term.until - std::max(l.term.from, l.started);
}

// What was learnt of a kind of work, in the words of whoever learnt it; the market only keeps it.
struct Profile {
  std::string text;
  Time at;

  SOUK_FIELDS(Profile, text, at)
};

// A folder of an account's that outlives the jobs that change it: the name of a blob.
struct Volume {
  AccountId owner;
  std::string name;
  std::string blob;
  Time saved;
  JobId job;  // That changed it last.

  bool operator==(const Volume&) const = default;
  SOUK_FIELDS(Volume, owner, name, blob, saved, job)
};

struct Feedback {
  FeedbackId id;
  AccountId account;
  FeedbackCategory category = FeedbackCategory::question;
  std::string text;
  Time at;

  SOUK_FIELDS(Feedback, id, account, category, text, at)
};

// The last time an account asked the operator for credits. Open until it is answered.
struct CreditRequest {
  Credits amount;
  std::string why;
  Time at;
  Time answered;     // Zero: it is open.
  Credits granted;   // Zero, once answered: declined.
  std::string word;  // What the operator says to it.
  Time day;          // When the first of the last `times` requests was made: a day has few.
  std::int32_t times = 0;

  [[nodiscard]] bool open() const { return answered == Time(); }
  SOUK_FIELDS(CreditRequest, amount, why, at, answered, granted, word, day, times)
};

// What the operator can set for the whole market.
struct Settings {
  std::int32_t fee_ppm = 0;
  Credits signup_bonus;  // From the platform's account, while it has any.
  bool signup_open = true;
  Duration term = base::hours(1);             // Of a lease.
  Duration shortest_term = base::minutes(1);  // Below this a lease is not worth granting.
  Duration drain = base::minutes(2);          // Notice before a term ends without renewal.
  Duration settle_every = base::minutes(1);
  Duration silence = base::seconds(45);     // A lease is lost after this much silence.
  Duration setup = base::minutes(10);       // A lease must be running after this long.
  Duration low_escrow = base::minutes(10);  // Warn when this much runway is left.
  Duration history = base::days(7);         // Price history kept.
  Duration retention = base::days(30);      // Ended jobs and leases kept.
  Duration pickup = base::seconds(20);  // A lease that its machine has not taken by then goes on.
  std::int32_t probes_ppm = 5'000;      // Of batch leases, so many are followed by a probe.

  bool operator==(const Settings&) const = default;
  SOUK_FIELDS(Settings, fee_ppm, signup_bonus, signup_open, term, shortest_term, drain,
              settle_every, silence, setup, low_escrow, history, retention, pickup, probes_ppm)
};

// One movement of one account's credits, with its reason. Payments of one lease are one line.
struct StatementLine {
  Time at;
  LineKind kind = LineKind::grant;
  Credits amount;
  JobId job;
  LeaseId lease;
  std::string memo;

  SOUK_FIELDS(StatementLine, at, kind, amount, job, lease, memo)
};

struct AuditEntry {
  Time at;
  AccountId who;
  std::string action;   // "grant", "freeze", "settings"
  std::string subject;  // What it was done to.
  std::string detail;

  SOUK_FIELDS(AuditEntry, at, who, action, subject, detail)
};

// The first answer to a request with an idempotency key; a repeat gets it again.
struct Answer {
  AccountId account;
  std::string key;                // As it was sent; since there is `key_hash`, empty.
  std::uint64_t fingerprint = 0;  // Of method, path and body.
  std::int32_t status = 0;
  std::string body;  // Empty where it is not kept.
  Time at;
  std::uint64_t key_hash = 0;  // key_hash_of(account, key).
  std::string made;            // The id of what the request made, or empty.
  // A repeat has no effect in itself, because reports are numbered: its key need not be kept.
  bool numbered = false;

  SOUK_FIELDS(Answer, account, key, fingerprint, status, body, at, key_hash, made, numbered)
};

// That a key was used, in few bytes: kept for kKeysFor whatever happens to the answer.
struct UsedKey {
  AccountId account;
  std::uint64_t key_hash = 0;
  std::uint64_t fingerprint = 0;
  std::uint64_t made = 0;  // An id (pack_id), or 0.
  Time at;

  SOUK_FIELDS(UsedKey, account, key_hash, fingerprint, made, at)
};

// What an idempotency key is known by. Keys of two accounts never meet.
[[nodiscard]] std::uint64_t key_hash_of(AccountId account, std::string_view key);

// "j17" as a number, 0 for what is no id, and back.
[[nodiscard]] std::uint64_t pack_id(std::string_view id);
[[nodiscard]] std::string unpack_id(std::uint64_t packed);

}  // namespace souk::market
