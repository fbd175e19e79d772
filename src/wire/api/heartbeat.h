#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "wire/api/lease.h"
#include "wire/api/usage.h"
#include "wire/schema.h"

// What a machine's agent says every few seconds, and what it is told.

namespace souk::wire {

using base::Duration;
using base::Time;

struct LeaseReport {
  base::LeaseId lease;
  std::int32_t epoch = 0;
  std::optional<std::string> doing;
  std::optional<Usage> usage;
  SOUK_FIELDS(LeaseReport, lease, epoch, doing, usage)
};

// Other programs leave too little of the machine's cores for a challenge.
struct BusyReport {
  double cores = 0;                 // What they use,
  std::int32_t of = 1;              // of so many cores,
  Duration lasting;                 // for so long by now.
  std::optional<Duration> put_off;  // No challenge is wanted for so long, unless they stop before.
  SOUK_FIELDS(BusyReport, cores, of, lasting, put_off)
};

struct Heartbeat {
  std::vector<LeaseReport> leases;
  // Blobs whose files the machine holds; when it has changed. Jobs that need them go there first.
  std::optional<std::vector<std::string>> holds;
  std::optional<BusyReport> busy;  // While the market says that the machine is unproved.
  SOUK_FIELDS(Heartbeat, leases, holds, busy)
};

// run: go on until `until`. drain: finish, checkpoint and report before `until`. stop: now, it is
// no longer paid.
SOUK_ENUM(OrderAction, run, drain, stop)

struct Order {
  base::LeaseId lease;
  std::int32_t epoch = 0;
  OrderAction action = OrderAction::run;
  std::optional<Time> until;
  SOUK_FIELDS(Order, lease, epoch, action, until)
};

// compute: a chain of `steps` for each of `seeds`, all at once. fill: `memory_mib` of memory with
// the pattern of the one seed. read: what was filled, at the places that the one seed draws.
// gpu_open: so many of the GPUs that no lease has are made ready; those that follow are about them,
// in an order that the machine chooses here. gpu_product: of `steps` and `size`, one for each of
// `seeds`, at once, and the commitment to each. gpu_rows: of those products, the hashes of all rows
// and then `rows`, for each of `gpus`. gpu_fill, gpu_read: as above, a seed for each GPU.
SOUK_ENUM(ChallengeKind, compute, fill, read, gpu_open, gpu_product, gpu_rows, gpu_fill, gpu_read)

// What only a machine that has what it says can do in time (base/proof/challenge.h,
// base/proof/gpu_challenge.h). Numbers of 64 bits are text, in decimal: a JSON number does not hold
// them.
struct Challenge {
  std::string id;
  ChallengeKind kind = ChallengeKind::compute;
  std::vector<std::string> seeds;
  std::int64_t steps = 0;
  std::int64_t memory_mib = 0;
  std::int32_t cores = 1;  // That fill and read it.
  std::int32_t size = 0;
  std::int64_t reads = 0;  // Of each group.
  std::vector<std::int32_t> gpus;
  std::vector<std::int32_t> rows;
  static constexpr auto optional_fields = std::array<std::string_view, 8>{
      "seeds", "steps", "memory_mib", "cores", "size", "reads", "gpus", "rows"};
  SOUK_FIELDS(Challenge, id, kind, seeds, steps, memory_mib, cores, size, reads, gpus, rows)
};

struct ChallengeAnswer {
  std::string id;
  // compute: of each seed. read: of each group of reads. gpu_product: of each seed. gpu_rows: of
  // each GPU the hashes and the rows asked for, gpu_read: all its groups, in hexadecimal.
  std::vector<std::string> results;
  std::optional<double> cpu_share;     // How much of the time its lanes were running, 0 to 1.
  std::optional<std::string> trouble;  // Why it cannot be done now.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"results"};
  SOUK_FIELDS(ChallengeAnswer, id, results, cpu_share, trouble)
};

struct ChallengeVerdict {
  bool good = false;
  std::optional<std::string> reason;  // Why not.
  std::optional<Challenge> next;      // To be answered at once.
  SOUK_FIELDS(ChallengeVerdict, good, reason, next)
};

struct Orders {
  std::vector<Order> orders;
  Duration heartbeat_every;
  std::optional<Challenge> challenge;  // To be answered at once.
  std::optional<bool> unproved;        // True: no leases until a challenge is met. Else absent.
  SOUK_FIELDS(Orders, orders, heartbeat_every, challenge, unproved)
};

// The open leases of a machine. Ask again with ?seen=version to wait for a change.
struct OpenLeases {
  std::vector<Lease> leases;
  std::uint64_t version = 0;
  // Granted ones whose tasks do not fit into this answer. They come when others have started.
  std::vector<base::LeaseId> later;
  SOUK_FIELDS(OpenLeases, leases, version, later)
};

SOUK_JSON_ELSEWHERE(LeaseReport);
SOUK_JSON_ELSEWHERE(BusyReport);
SOUK_JSON_ELSEWHERE(Heartbeat);
SOUK_JSON_ELSEWHERE(Order);
SOUK_JSON_ELSEWHERE(Orders);
SOUK_JSON_ELSEWHERE(OpenLeases);
SOUK_JSON_ELSEWHERE(Challenge);
SOUK_JSON_ELSEWHERE(ChallengeAnswer);
SOUK_JSON_ELSEWHERE(ChallengeVerdict);

}  // namespace souk::wire
