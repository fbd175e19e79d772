#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "base/vocabulary.h"
#include "wire/api/answer.h"
#include "wire/api/batch.h"
#include "wire/api/usage.h"
#include "wire/schema.h"

// Leases: slots of an offer granted to a job at a price for a term, and what a machine reports of
// one.

namespace souk::wire {

using base::Credits;
using base::LeaseOutcome;
using base::LeaseState;
using base::Time;

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
  LeaseState state = LeaseState::granted;
  std::optional<LeaseOutcome> outcome;  // Absent while it is open.
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
  std::optional<std::int32_t> part;      // Of a batch job: which worker it is.
  std::optional<std::string> doing;      // "fetching 40%", as its machine last said.
  std::optional<BatchAssignment> task;   // Only for the machine that is to do it.
  std::optional<Time> ready;             // Of a gang: since when it waits for the others.
  std::optional<std::int64_t> requests;  // Of a service: answered and paid.
  SOUK_FIELDS(Lease, id, job, offer, machine, borrower, lender, class_, slots, epoch, state,
              outcome, detail, price, from, until, next_price, next_until, granted, started,
              settled_until, paid, earned, ended, part, doing, task, ready, requests)
};

struct LeaseStart {
  std::int32_t epoch = 0;
  SOUK_FIELDS(LeaseStart, epoch)
};

// The outcomes that a machine may report; the others are the market's to say.
SOUK_ENUM(ReportedOutcome, completed, failed, released, unstarted)

// Whose fault it is that a lease did not start: what the job asked for cannot be had (a folder that
// is larger than the scratch, an image that does not exist), or the machine could not do it.
SOUK_ENUM(Fault, machine, job)

struct LeaseFinish {
  std::int32_t epoch = 0;
  ReportedOutcome outcome = ReportedOutcome::completed;
  std::string detail;
  std::optional<std::string> result;  // The blob with its outputs.
  std::optional<Usage> usage;         // In all.
  std::optional<Fault> fault;         // With `unstarted`; else the machine's.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"detail"};
  SOUK_FIELDS(LeaseFinish, epoch, outcome, detail, result, usage, fault)
};

struct LeaseCheckpoint {
  std::int32_t epoch = 0;
  std::string checkpoint;  // The blob; whoever continues begins with it.
  SOUK_FIELDS(LeaseCheckpoint, epoch, checkpoint)
};

SOUK_JSON_ELSEWHERE(Lease);
SOUK_JSON_ELSEWHERE(LeaseStart);
SOUK_JSON_ELSEWHERE(LeaseFinish);
SOUK_JSON_ELSEWHERE(Page<Lease>);
SOUK_JSON_ELSEWHERE(LeaseCheckpoint);

}  // namespace souk::wire
