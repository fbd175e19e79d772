#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/vocabulary.h"
#include "wire/api/machine.h"
#include "wire/schema.h"

// Why a job does not run, and what would help.

namespace souk::wire {

using base::Credits;
using base::JobState;
using base::Obstacle;
using base::RelaxKind;

struct WhyGroup {
  std::vector<Obstacle> obstacles;
  std::int64_t offers = 0;
  std::int64_t slots = 0;
  base::OfferId example;
  SOUK_FIELDS(WhyGroup, obstacles, offers, slots, example)
};

struct Relaxation {
  RelaxKind kind = RelaxKind::wait;
  std::string change;
  std::int64_t slots = 0;
  Credits extra_per_hour;
  std::string flag;
  SOUK_FIELDS(Relaxation, kind, change, slots, extra_per_hour, flag)
};

// A machine that lacks packages, and few others: what it has instead.
struct NearMachine {
  base::OfferId offer;
  std::string machine;             // Its name.
  std::string environment;         // Of the machine; empty: the packages of its system.
  std::vector<std::string> lacks;  // "torch>=2.4 (it has 1.13.1)"
  SOUK_FIELDS(NearMachine, offer, machine, environment, lacks)
};

// A machine that would do, once it has proved what it claims.
struct UnprovedMachine {
  base::OfferId offer;
  base::MachineId machine;
  std::string name;
  std::optional<BusyCores> busy;  // What keeps it from a proof, if it says so.
  SOUK_FIELDS(UnprovedMachine, offer, machine, name, busy)
};

struct Why {
  base::JobId job;
  JobState state = JobState::queued;
  std::string summary;
  std::int64_t needed = 0;
  std::int64_t matching = 0;
  std::vector<WhyGroup> groups;
  std::vector<Relaxation> relaxations;    // Cheapest first.
  std::vector<NearMachine> nearly;        // Of those that lack packages, who lacks fewest.
  std::vector<UnprovedMachine> unproved;  // A few of those that lack nothing else.
  SOUK_FIELDS(Why, job, state, summary, needed, matching, groups, relaxations, nearly, unproved)
};

SOUK_JSON_ELSEWHERE(WhyGroup);
SOUK_JSON_ELSEWHERE(Relaxation);
SOUK_JSON_ELSEWHERE(Why);

}  // namespace souk::wire
