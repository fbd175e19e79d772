#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "wire/plan.h"
#include "wire/training.h"

// What goes over the wire under /v1: the bodies of requests (New..., ...Edit) and of responses. The
// server, the CLI, the OpenAPI document and generated clients all follow from these structs.
// Prices are credits per slot-hour. An absent price means "market". Times are UTC.

namespace souk::wire {

using base::Credits;
using base::Duration;
using base::Time;

// One page of a list. `next` goes back as ?after= to get the one that follows; absent at the end.
template <class T>
struct Page {
  std::vector<T> items;
  std::optional<std::string> next;
  SOUK_FIELDS(Page, items, next)
};

struct Done {
  bool ok = true;
  SOUK_FIELDS(Done, ok)
};

// --- Accounts and tokens

struct Account {
  base::AccountId id;
  std::string name;
  bool operator_ = false;
  std::optional<std::string> frozen;  // Why.
  Credits available;
  Credits bonus;   // Pays for jobs only.
  Credits escrow;  // Promised to live jobs.
  Time created;
  SOUK_FIELDS(Account, id, name, operator_, frozen, available, bonus, escrow, created)
};

struct NewAccount {
  std::string name;
  std::string password;
  std::optional<std::string> bootstrap;  // Makes the market's first account, from elsewhere.
  SOUK_FIELDS(NewAccount, name, password, bootstrap)
};

struct Login {
  std::string name;
  std::string password;
  std::optional<std::string> label;
  std::optional<Duration> expires_in;
  SOUK_FIELDS(Login, name, password, label, expires_in)
};

struct Session {
  Account account;
  std::string token;  // Shown once; the server keeps only its hash.
  base::TokenId token_id;
  Time expires;
  SOUK_FIELDS(Session, account, token, token_id, expires)
};

struct NewPassword {
  std::string old_password;
  std::string password;
  SOUK_FIELDS(NewPassword, old_password, password)
};

struct Token {
  base::TokenId id;
  std::string scope;  // user, machine, operator
  std::optional<base::MachineId> machine;
  std::string label;
  Time created;
  std::optional<Time> expires;
  SOUK_FIELDS(Token, id, scope, machine, label, created, expires)
};

struct NewToken {
  std::string scope = "user";
  std::optional<base::MachineId> machine;
  std::string label;
  std::optional<Duration> expires_in;
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"scope", "label"};
  SOUK_FIELDS(NewToken, scope, machine, label, expires_in)
};

struct IssuedToken {
  base::TokenId id;
  std::string token;  // Shown once.
  std::string scope;
  std::optional<base::MachineId> machine;
  std::optional<Time> expires;
  SOUK_FIELDS(IssuedToken, id, token, scope, machine, expires)
};

struct Grant {
  Credits amount;
  std::string memo;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"memo"};
  SOUK_FIELDS(Grant, amount, memo)
};

struct Freeze {
  std::string reason;
  SOUK_FIELDS(Freeze, reason)
};

// --- Slot classes

// Two mechanisms take turns, a slice of time each.
struct Trial {
  std::string mechanism;
  std::map<std::string, std::string> params;
  Duration slice = base::hours(1);
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"params", "slice"};
  SOUK_FIELDS(Trial, mechanism, params, slice)
};

struct SlotClass {
  std::string name;
  std::int32_t cores = 1;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;
  Credits price;      // Suggested before there is any history.
  Credits suggested;  // Suggested now.
  std::string mechanism;
  std::map<std::string, std::string> params;
  bool retired = false;
  std::int64_t leased = 0;  // Slots in use now,
  std::int64_t wanted = 0;  // and wanted by jobs.
  std::optional<Trial> trial;
  std::string in_force;  // The mechanism of this moment.
  SOUK_FIELDS(SlotClass, name, cores, memory_mib, gpus, gpu_memory_mib, price, suggested, mechanism,
              params, retired, leased, wanted, trial, in_force)
};

struct SlotClassEdit {
  std::int32_t cores = 1;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;
  Credits price;
  std::string mechanism = "k-double";
  std::map<std::string, std::string> params;
  bool retired = false;
  std::optional<Trial> trial;
  static constexpr auto optional_fields =
      std::array<std::string_view, 3>{"gpus", "gpu_memory_mib", "mechanism"};
  SOUK_FIELDS(SlotClassEdit, cores, memory_mib, gpus, gpu_memory_mib, price, mechanism, params,
              retired, trial)
};

// What one mechanism did for a class while it was in force. Money is for an hour of all that was
// traded; gains are as people declared them.
struct MechanismRecord {
  std::string mechanism;
  bool in_force = false;
  std::int64_t rounds = 0;           // With supply and demand.
  std::int64_t traded = 0;           // Slots.
  std::optional<double> efficiency;  // The gain from trade, of the best there was.
  std::optional<Credits> price;      // Mean, per slot-hour.
  Credits borrowers_pay, lenders_get, platform;
  std::optional<double> served;                // Of the slots wanted in a round.
  std::optional<double> utilisation;           // Of the slots there were.
  std::optional<Duration> wait_p50, wait_p95;  // For a job's first lease, to a factor of 2.
  // Of the gain: they sum to 1. The platform's is what mechanisms leave between the sides.
  std::optional<double> borrowers_share, lenders_share, platform_share;
  std::optional<double> alpha;       // Smith's: distance of prices from the competitive ones.
  std::optional<double> volatility;  // Deviation of the log of the price from round to round.
  SOUK_FIELDS(MechanismRecord, mechanism, in_force, rounds, traded, efficiency, price,
              borrowers_pay, lenders_get, platform, served, utilisation, wait_p50, wait_p95,
              borrowers_share, lenders_share, platform_share, alpha, volatility)
};

// How a class treats its borrowers, over the jobs that the market still remembers.
struct Treatment {
  std::int64_t borrowers = 0;
  std::optional<double> gini_credits;  // Of all accounts of the market; 0: all have the same.
  // Of the share of the slot-time wanted that each borrower had, the rest being waited for.
  std::optional<double> gini_access;
  std::optional<double> defection;  // Borrowers with a job that waited over 15 times its run time.
  std::optional<double> completed;  // Of the jobs that ended.
  SOUK_FIELDS(Treatment, borrowers, gini_credits, gini_access, defection, completed)
};

struct MechanismRecords {
  std::string class_;
  std::vector<MechanismRecord> items;
  Treatment treatment;
  SOUK_FIELDS(MechanismRecords, class_, items, treatment)
};

// --- Machines

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
  std::vector<std::string> packages;
  std::int32_t rtt_ms = 0;
  static constexpr auto optional_fields = std::array<std::string_view, 9>{
      "disk_mib", "gpus", "gpu_memory_mib", "gpu", "cpu", "os", "region", "provider", "rtt_ms"};
  SOUK_FIELDS(MachineSpec, cores, memory_mib, disk_mib, gpus, gpu_memory_mib, gpu, cpu, os, region,
              provider, packages, rtt_ms)
};

struct Machine {
  base::MachineId id;
  std::string name;
  std::string owner;
  MachineSpec spec;
  double reliability = 0;  // Share of leases kept, recent ones weigh most.
  bool online = true;
  std::vector<base::OfferId> offers;
  Time created;
  std::optional<std::string> doubted;  // Why: it failed a challenge, and lends nothing meanwhile.
  SOUK_FIELDS(Machine, id, name, owner, spec, reliability, online, offers, created, doubted)
};

struct NewMachine {
  std::string name;
  MachineSpec spec;
  SOUK_FIELDS(NewMachine, name, spec)
};

struct MachineEdit {
  std::optional<std::string> name;
  std::optional<MachineSpec> spec;
  SOUK_FIELDS(MachineEdit, name, spec)
};

// --- Offers

struct Offer {
  base::OfferId id;
  base::MachineId machine;
  std::string machine_name;
  std::string lender;
  std::string class_;
  std::int32_t slots = 1;
  std::int32_t free = 0;
  std::optional<Credits> price;  // Absent: market.
  std::string state;             // open, closed, full, paused, draining, offline, doubted, frozen
  std::vector<std::string> weekly;
  std::optional<Time> from;
  std::optional<Time> until;
  std::optional<Time> opens;   // When closed: the next time it opens.
  std::optional<Time> closes;  // When open: the time it closes.
  std::optional<Time> paused_until;
  Duration longest_lease;
  double reliability = 0;
  std::string region;
  std::string provider;
  std::int32_t rtt_ms = 0;
  Time created;
  bool sandboxed = true;  // False: programs run there as their lender.
  SOUK_FIELDS(Offer, id, machine, machine_name, lender, class_, slots, free, price, state, weekly,
              from, until, opens, closes, paused_until, longest_lease, reliability, region,
              provider, rtt_ms, created, sandboxed)
};

struct OfferPage {
  std::optional<std::string> query;  // The `where` as it was understood.
  std::vector<Offer> items;
  std::optional<std::string> next;
  SOUK_FIELDS(OfferPage, query, items, next)
};

struct NewOffer {
  base::MachineId machine;
  std::string class_;
  std::int32_t slots = 1;
  std::optional<Credits> price;     // Absent: market.
  std::vector<std::string> weekly;  // "Mon,Wed 22:00-05:00 America/Los_Angeles"
  std::optional<Time> from;
  std::optional<Time> until;
  std::optional<Duration> longest_lease;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"slots"};
  SOUK_FIELDS(NewOffer, machine, class_, slots, price, weekly, from, until, longest_lease)
};

// What is absent stays as it is.
struct OfferEdit {
  std::optional<std::int32_t> slots;
  std::optional<Credits> price;
  bool market = false;  // Takes the price away: whatever the market pays.
  std::optional<std::vector<std::string>> weekly;
  std::optional<Time> from;
  std::optional<Time> until;
  bool always = false;  // Takes windows, start and end away.
  std::optional<Duration> longest_lease;
  SOUK_FIELDS(OfferEdit, slots, price, market, weekly, from, until, always, longest_lease)
};

struct Pause {
  std::optional<Duration> for_;  // Absent: until resumed.
  SOUK_FIELDS(Pause, for_)
};

// --- Jobs

struct Workers {
  std::int32_t min = 1;
  std::int32_t max = 1;
  SOUK_FIELDS(Workers, min, max)
};

struct Constraints {
  std::vector<std::string> packages;
  std::vector<std::string> regions;
  std::optional<std::int32_t> max_rtt_ms;
  std::optional<double> min_reliability;
  std::vector<std::string> lenders_allowed;
  std::vector<std::string> lenders_refused;
  std::vector<std::string> providers_allowed;
  std::vector<std::string> providers_refused;
  SOUK_FIELDS(Constraints, packages, regions, max_rtt_ms, min_reliability, lenders_allowed,
              lenders_refused, providers_allowed, providers_refused)
};

// What one worker needs at least; the market finds the smallest class that has it.
struct Resources {
  std::int32_t cores = 1;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;
  static constexpr auto optional_fields =
      std::array<std::string_view, 4>{"cores", "memory_mib", "gpus", "gpu_memory_mib"};
  SOUK_FIELDS(Resources, cores, memory_mib, gpus, gpu_memory_mib)
};

// --- What the workers of a batch job do
//
// Files are named by the digest of a manifest (blob/manifest.h): upload first, then submit.

struct BatchInput {
  std::string path;  // Where the program finds it, below its working folder; read-only.
  std::string blob;
  bool file = false;  // It is one file: `path` is its name, not that of a folder.
  SOUK_FIELDS(BatchInput, path, blob, file)
};

struct BatchCheckpoint {
  std::string path;  // A folder below the working folder, kept every so often and on drain.
  Duration every = base::minutes(2);
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"every"};
  SOUK_FIELDS(BatchCheckpoint, path, every)
};

struct Retry {
  std::vector<std::string> on = {"lost"};  // lost, failed
  std::int32_t max = 10;                   // For each worker.
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"on", "max"};
  SOUK_FIELDS(Retry, on, max)
};

// One program, run once by each worker; SOUK_INDEX and SOUK_WORKERS tell them apart.
struct Batch {
  std::string run;                     // For sh -c, in the working folder.
  std::string setup;                   // Before it; not billed.
  std::optional<std::string> workdir;  // What the working folder begins with.
  std::vector<BatchInput> inputs;
  std::vector<std::string> outputs;  // Files and folders to keep when it has ended.
  std::map<std::string, std::string> env;
  std::optional<std::string> image;  // Of a container; else the machine's own programs.
  std::optional<BatchCheckpoint> checkpoint;
  std::string network = "none";  // none, internet
  Retry retry;
  std::optional<Train> train;  // `run` is then a trainer (docs/worker-protocol.md).
  static constexpr auto optional_fields =
      std::array<std::string_view, 6>{"setup", "outputs", "env", "inputs", "network", "retry"};
  SOUK_FIELDS(Batch, run, setup, workdir, inputs, outputs, env, image, checkpoint, network, retry,
              train)
};

// One worker's share of a job, as its machine gets it.
struct Task {
  std::string job_name;
  std::string kind = "batch";  // Of the job: what the agent does beside running the program.
  std::int32_t index = 0;
  std::int32_t workers = 1;
  std::int32_t tries = 0;                 // Before this one.
  std::optional<std::string> checkpoint;  // To go on from.
  Batch batch;
  std::int32_t cores = 1;  // What the slot guarantees and the program may use.
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  SOUK_FIELDS(Task, job_name, kind, index, workers, tries, checkpoint, batch, cores, memory_mib,
              gpus)
};

struct NewJob {
  std::string name;
  std::string kind = "batch";
  std::optional<std::string> class_;   // Either a class
  std::optional<Resources> resources;  // or what it must have; neither: the smallest class.
  Workers workers;
  std::optional<Credits> limit;  // Absent: twice the suggested price now.
  Credits budget;
  std::optional<Time> deadline;
  std::int32_t priority = 0;
  Constraints constraints;
  std::optional<Batch> batch;  // Absent: whoever holds the leases decides what runs.
  // Other classes that would do. A training begins where it is best, and moves when that changes.
  std::vector<std::string> also_classes;
  static constexpr auto optional_fields =
      std::array<std::string_view, 5>{"name", "kind", "workers", "priority", "constraints"};
  SOUK_FIELDS(NewJob, name, kind, class_, resources, workers, limit, budget, deadline, priority,
              constraints, batch, also_classes)
};

// What is absent stays as it is.
struct JobEdit {
  std::optional<Workers> workers;
  std::optional<Credits> limit;
  std::optional<Credits> budget;
  std::optional<Time> deadline;
  std::optional<std::int32_t> priority;
  std::optional<Constraints> constraints;
  SOUK_FIELDS(JobEdit, workers, limit, budget, deadline, priority, constraints)
};

struct Cancel {
  std::string reason;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"reason"};
  SOUK_FIELDS(Cancel, reason)
};

struct Lease {
  base::LeaseId id;
  base::JobId job;
  base::OfferId offer;
  base::MachineId machine;
  std::string borrower;
  std::string lender;
  std::string class_;
  std::int32_t slots = 1;
  std::int32_t epoch = 0;
  std::string state;  // granted, running, draining, closed
  std::optional<std::string> outcome;
  std::optional<std::string> detail;
  Credits price;  // The borrower pays this, in the term in force.
  Time from;
  Time until;  // The end of the term in force.
  std::optional<Credits> next_price;
  std::optional<Time> next_until;
  Time granted;
  std::optional<Time> started;
  std::optional<Time> settled_until;
  Credits paid;
  Credits earned;
  std::optional<Time> ended;
  std::optional<std::int32_t> part;  // Of a batch job: which worker it is.
  std::optional<std::string> doing;  // "fetching 40%", as its machine last said.
  std::optional<Task> task;          // Only for the machine that is to do it.
  SOUK_FIELDS(Lease, id, job, offer, machine, borrower, lender, class_, slots, epoch, state,
              outcome, detail, price, from, until, next_price, next_until, granted, started,
              settled_until, paid, earned, ended, part, doing, task)
};

// One worker's part of a batch job.
struct Part {
  std::int32_t index = 0;
  std::string state;  // waiting, preparing, running, draining, done
  std::int32_t tries = 0;
  std::optional<base::LeaseId> lease;  // The latest that is known.
  std::optional<std::string> machine;
  std::optional<std::string> doing;
  std::optional<std::string> checkpoint;
  std::optional<std::string> result;
  SOUK_FIELDS(Part, index, state, tries, lease, machine, doing, checkpoint, result)
};

struct JobMove {
  Time at;
  std::string from, to;  // Classes.
  std::string why;
  SOUK_FIELDS(JobMove, at, from, to, why)
};

struct Job {
  base::JobId id;
  std::string name;
  std::string kind;
  std::string owner;
  std::string class_;
  Workers workers;
  Credits limit;
  Credits budget;
  Credits spent;
  Credits escrow;  // Of the budget, what is left.
  std::optional<Time> deadline;
  std::int32_t priority = 0;
  Constraints constraints;
  std::string state;  // queued, running, paused, succeeded, failed, cancelled, expired
  std::string reason;
  std::int32_t held = 0;           // Workers now,
  std::int32_t done = 0;           // and finished ones.
  bool low = false;                // Its escrow runs low.
  std::optional<Duration> runway;  // How long the escrow lasts at the present rate.
  std::vector<Lease> leases;       // Open ones.
  Time created;
  std::optional<Time> started;
  std::optional<Time> ended;
  std::optional<Batch> batch;         // For its owner.
  std::optional<std::string> result;  // The blob with what it came to as a whole.
  std::optional<JobForecast> forecast;
  std::optional<std::int32_t> planned;  // Workers it is to have for now, if fewer than it may,
  std::optional<std::string> planned_why;
  std::optional<std::vector<std::string>> classes;  // If it may be in several: those.
  std::optional<std::vector<JobMove>> moves;        // Between them, the latest last.
  SOUK_FIELDS(Job, id, name, kind, owner, class_, workers, limit, budget, spent, escrow, deadline,
              priority, constraints, state, reason, held, done, low, runway, leases, created,
              started, ended, batch, result, forecast, planned, planned_why, classes, moves)
};

struct WhyGroup {
  std::vector<std::string> obstacles;
  std::int64_t offers = 0;
  std::int64_t slots = 0;
  base::OfferId example;
  SOUK_FIELDS(WhyGroup, obstacles, offers, slots, example)
};

struct Relaxation {
  std::string kind;
  std::string change;
  std::int64_t slots = 0;
  Credits extra_per_hour;
  std::string flag;
  SOUK_FIELDS(Relaxation, kind, change, slots, extra_per_hour, flag)
};

struct Why {
  base::JobId job;
  std::string state;
  std::string summary;
  std::int64_t needed = 0;
  std::int64_t matching = 0;
  std::vector<WhyGroup> groups;
  std::vector<Relaxation> relaxations;  // Cheapest first.
  SOUK_FIELDS(Why, job, state, summary, needed, matching, groups, relaxations)
};

// --- What a machine's agent says and hears

// What a lease's program has used since it began, and uses now.
struct Usage {
  double cpu_seconds = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_peak_bytes = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t received_bytes = 0;  // Files fetched for it,
  std::int64_t sent_bytes = 0;      // and sent back.
  std::optional<double> gpu_seconds;
  SOUK_FIELDS(Usage, cpu_seconds, memory_bytes, memory_peak_bytes, scratch_bytes, received_bytes,
              sent_bytes, gpu_seconds)
};

struct UsageSample {
  Time at;
  Usage usage;
  SOUK_FIELDS(UsageSample, at, usage)
};

// The series of one lease, oldest first.
struct LeaseUsage {
  base::LeaseId lease;
  std::optional<std::int32_t> part;
  std::vector<UsageSample> samples;
  SOUK_FIELDS(LeaseUsage, lease, part, samples)
};

struct JobUsage {
  std::vector<LeaseUsage> items;
  SOUK_FIELDS(JobUsage, items)
};

struct Held {
  base::LeaseId lease;
  std::int32_t epoch = 0;
  std::optional<std::string> doing;
  std::optional<Usage> usage;
  SOUK_FIELDS(Held, lease, epoch, doing, usage)
};

struct Heartbeat {
  std::vector<Held> leases;
  // Blobs whose files the machine holds; when it has changed. Jobs that need them go there first.
  std::optional<std::vector<std::string>> holds;
  SOUK_FIELDS(Heartbeat, leases, holds)
};

// run: go on until `until`. drain: finish, checkpoint and report before `until`. stop: now, it is
// no longer paid.
struct Order {
  base::LeaseId lease;
  std::int32_t epoch = 0;
  std::string action;
  std::optional<Time> until;
  SOUK_FIELDS(Order, lease, epoch, action, until)
};

// A computation that only a machine as fast as it says can do in time (base/challenge.h).
struct Challenge {
  std::string seed;  // A number of 64 bits, as text: more than a JSON number holds.
  std::int32_t size = 0;
  std::int32_t rounds = 0;
  SOUK_FIELDS(Challenge, seed, size, rounds)
};

struct ChallengeAnswer {
  std::string seed;
  std::string checksum;
  SOUK_FIELDS(ChallengeAnswer, seed, checksum)
};

struct Orders {
  std::vector<Order> orders;
  Duration heartbeat_every;
  std::optional<Challenge> challenge;  // To be answered at once.
  SOUK_FIELDS(Orders, orders, heartbeat_every, challenge)
};

// The open leases of a machine. Ask again with ?seen=version to wait for a change.
struct Work {
  std::vector<Lease> leases;
  std::uint64_t version = 0;
  SOUK_FIELDS(Work, leases, version)
};

struct LeaseStart {
  std::int32_t epoch = 0;
  SOUK_FIELDS(LeaseStart, epoch)
};

struct LeaseFinish {
  std::int32_t epoch = 0;
  std::string outcome;  // completed, failed, released, unstarted
  std::string detail;
  std::optional<std::string> result;  // The blob with its outputs.
  std::optional<Usage> usage;         // In all.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"detail"};
  SOUK_FIELDS(LeaseFinish, epoch, outcome, detail, result, usage)
};

struct LeaseCheckpoint {
  std::int32_t epoch = 0;
  std::string checkpoint;  // The blob; whoever continues begins with it.
  SOUK_FIELDS(LeaseCheckpoint, epoch, checkpoint)
};

// A piece of what a lease's program printed. Pieces may arrive twice: `offset` says where it goes.
struct LogPiece {
  std::int32_t epoch = 0;
  std::int64_t offset = 0;
  std::string text;
  SOUK_FIELDS(LogPiece, epoch, offset, text)
};

struct LogSize {
  std::int64_t size = 0;  // What the server has; the next piece begins here.
  SOUK_FIELDS(LogSize, size)
};

struct Log {
  base::LeaseId lease;
  std::string text;
  std::int64_t next = 0;  // Goes back as ?from=.
  bool ended = false;     // Nothing will follow.
  SOUK_FIELDS(Log, lease, text, next, ended)
};

// --- Blobs

struct BlobNames {
  std::vector<std::string> names;
  SOUK_FIELDS(BlobNames, names)
};

// --- Prices

struct PriceSummary {
  std::int64_t volume = 0;  // Slots traded.
  std::optional<Credits> average;
  std::optional<Credits> low;
  std::optional<Credits> quartile1;
  std::optional<Credits> median;
  std::optional<Credits> quartile3;
  std::optional<Credits> high;
  SOUK_FIELDS(PriceSummary, volume, average, low, quartile1, median, quartile3, high)
};

struct PriceBucket {
  Time from;
  PriceSummary prices;
  std::optional<double> utilisation;
  SOUK_FIELDS(PriceBucket, from, prices, utilisation)
};

struct Suggestion {
  Time from;  // For the hour that begins here.
  Credits price;
  SOUK_FIELDS(Suggestion, from, price)
};

struct Prices {
  std::string class_;
  std::string mechanism;
  Credits suggested;            // Now.
  std::optional<Credits> last;  // Of the last round that traded.
  PriceSummary summary;         // Over all the buckets.
  std::vector<PriceBucket> buckets;
  std::vector<Suggestion> ahead;  // The next 24 hours.
  SOUK_FIELDS(Prices, class_, mechanism, suggested, last, summary, buckets, ahead)
};

// --- Ledger

struct Balance {
  std::optional<base::AccountId> id;
  std::string name;
  Credits available;
  Credits bonus;
  Credits escrow;
  SOUK_FIELDS(Balance, id, name, available, bonus, escrow)
};

// Everybody an operator may see; for others themselves and everyone else in one row. Always the
// platform and the mint too, so that the sum can be checked: it is zero.
struct Ledger {
  std::vector<Balance> accounts;
  Credits sum;
  SOUK_FIELDS(Ledger, accounts, sum)
};

struct StatementLine {
  Time at;
  std::string kind;  // grant, bonus, reserve, refund, spend, earn
  Credits amount;
  std::optional<base::JobId> job;
  std::optional<base::LeaseId> lease;
  std::string memo;
  SOUK_FIELDS(StatementLine, at, kind, amount, job, lease, memo)
};

struct Statement {
  std::string account;
  std::vector<StatementLine> lines;  // Newest first.
  SOUK_FIELDS(Statement, account, lines)
};

// --- Operator and help

struct Settings {
  double fee = 0;  // Share of what lenders get.
  Credits signup_bonus;
  bool signup_open = true;
  Duration term;
  Duration shortest_term;
  Duration drain;
  Duration settle_every;
  Duration silence;
  Duration setup;
  Duration low_escrow;
  Duration history;
  Duration retention;
  SOUK_FIELDS(Settings, fee, signup_bonus, signup_open, term, shortest_term, drain, settle_every,
              silence, setup, low_escrow, history, retention)
};

// What is absent stays as it is.
struct SettingsEdit {
  std::optional<double> fee;
  std::optional<Credits> signup_bonus;
  std::optional<bool> signup_open;
  std::optional<Duration> term;
  std::optional<Duration> shortest_term;
  std::optional<Duration> drain;
  std::optional<Duration> settle_every;
  std::optional<Duration> silence;
  std::optional<Duration> setup;
  std::optional<Duration> low_escrow;
  std::optional<Duration> history;
  std::optional<Duration> retention;
  SOUK_FIELDS(SettingsEdit, fee, signup_bonus, signup_open, term, shortest_term, drain,
              settle_every, silence, setup, low_escrow, history, retention)
};

struct AuditEntry {
  Time at;
  std::string who;
  std::string action;
  std::string subject;
  std::string detail;
  SOUK_FIELDS(AuditEntry, at, who, action, subject, detail)
};

struct Feedback {
  base::FeedbackId id;
  std::string account;
  std::string category;  // question, problem, idea, praise
  std::string text;
  Time at;
  SOUK_FIELDS(Feedback, id, account, category, text, at)
};

struct NewFeedback {
  std::string category;
  std::string text;
  SOUK_FIELDS(NewFeedback, category, text)
};

struct FaqEntry {
  std::string question;
  std::string answer;
  SOUK_FIELDS(FaqEntry, question, answer)
};

struct Faq {
  std::vector<FaqEntry> items;
  SOUK_FIELDS(Faq, items)
};

struct Health {
  std::string status;  // ok
  std::string version;
  std::uint64_t events = 0;  // Committed so far.
  SOUK_FIELDS(Health, status, version, events)
};

// One event as /v1/events shows it: what concerns everybody, or this account.
struct Notice {
  std::uint64_t number = 0;
  Time at;
  std::string kind;  // LeaseGranted, RoundCleared...
  std::optional<base::JobId> job;
  std::optional<base::LeaseId> lease;
  std::optional<base::OfferId> offer;
  std::optional<base::MachineId> machine;
  std::optional<std::string> class_;
  std::optional<Credits> price;
  std::optional<Credits> amount;
  std::optional<std::string> text;
  SOUK_FIELDS(Notice, number, at, kind, job, lease, offer, machine, class_, price, amount, text)
};

struct Notices {
  std::vector<Notice> items;
  std::uint64_t next = 0;  // Goes back as ?after=.
  SOUK_FIELDS(Notices, items, next)
};

}  // namespace souk::wire
