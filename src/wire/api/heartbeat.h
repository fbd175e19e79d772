#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "wire/api/lease.h"
#include "wire/api/usage.h"

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

struct Heartbeat {
  std::vector<LeaseReport> leases;
  // Blobs whose files the machine holds; when it has changed. Jobs that need them go there first.
  std::optional<std::vector<std::string>> holds;
  SOUK_FIELDS(Heartbeat, leases, holds)
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
struct OpenLeases {
  std::vector<Lease> leases;
  std::uint64_t version = 0;
  SOUK_FIELDS(OpenLeases, leases, version)
};

}  // namespace souk::wire
