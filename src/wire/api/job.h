#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "base/vocabulary.h"
#include "wire/api/answer.h"
#include "wire/api/batch.h"
#include "wire/api/lease.h"
#include "wire/api/plan.h"
#include "wire/schema.h"

// Jobs: what a borrower wants, and what came of it.

namespace souk::wire {

using base::Credits;
using base::Duration;
using base::GangPhase;
using base::JobState;
using base::Time;

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
  // The blob with the outputs that each worker must give: a probe, which only operators submit.
  std::optional<std::string> expect;
  // Of a service: what a lender gets for each request, beside the price of the time.
  std::optional<Credits> per_request;
  static constexpr auto optional_fields =
      std::array<std::string_view, 5>{"name", "kind", "workers", "priority", "constraints"};
  SOUK_FIELDS(NewJob, name, kind, class_, resources, workers, limit, budget, deadline, priority,
              constraints, batch, also_classes, expect, per_request)
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

// ready: of a gang, it waits for the others.
SOUK_ENUM(WorkerState, waiting, preparing, running, draining, done, ready)

// One worker's part of a batch job.
struct WorkerStatus {
  std::int32_t index = 0;
  WorkerState state = WorkerState::waiting;
  std::int32_t tries = 0;
  std::optional<base::LeaseId> lease;  // The latest that is known.
  std::optional<std::string> machine;
  std::optional<std::string> doing;
  std::optional<std::string> checkpoint;
  std::optional<std::string> result;
  SOUK_FIELDS(WorkerStatus, index, state, tries, lease, machine, doing, checkpoint, result)
};

struct JobMove {
  Time at;
  std::string from, to;  // Classes.
  std::string why;
  SOUK_FIELDS(JobMove, at, from, to, why)
};

struct JobGang {
  GangPhase phase = GangPhase::forming;
  std::int32_t restarts = 0;
  SOUK_FIELDS(JobGang, phase, restarts)
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
  JobState state = JobState::queued;
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
  std::optional<std::string> expect;                // Of a probe: the result that is right,
  std::optional<std::int32_t> wrong;                // and how often there was another.
  std::optional<Credits> accrued;   // Earned by its workers, not settled: not in `spent` yet.
  std::optional<JobQuote> quoted;   // When it was submitted; it never changes.
  std::optional<JobActual> actual;  // Once it has started.
  // Of a batch job that runs: what its own parts say of all of it, once one is done.
  std::optional<JobQuote> estimate;
  std::optional<base::JobId> sweep;  // Of a trial: what it belongs to.
  std::optional<JobGang> gang;
  std::optional<Credits> per_request;  // Of a service.
  std::optional<std::vector<std::string>> volumes;
  SOUK_FIELDS(Job, id, name, kind, owner, class_, workers, limit, budget, spent, escrow, deadline,
              priority, constraints, state, reason, held, done, low, runway, leases, created,
              started, ended, batch, result, forecast, planned, planned_why, classes, moves, expect,
              wrong, accrued, quoted, actual, estimate, sweep, gang, per_request, volumes)
};

SOUK_JSON_ELSEWHERE(Workers);
SOUK_JSON_ELSEWHERE(Constraints);
SOUK_JSON_ELSEWHERE(Resources);
SOUK_JSON_ELSEWHERE(NewJob);
SOUK_JSON_ELSEWHERE(JobEdit);
SOUK_JSON_ELSEWHERE(Cancel);
SOUK_JSON_ELSEWHERE(Job);
SOUK_JSON_ELSEWHERE(Page<Job>);
SOUK_JSON_ELSEWHERE(WorkerStatus);
SOUK_JSON_ELSEWHERE(Page<WorkerStatus>);

}  // namespace souk::wire
