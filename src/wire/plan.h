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
#include "wire/training.h"

// What Souk knows and foretells of a job before and while it runs.

namespace souk::wire {

using base::Credits;

// One kind of cluster for a job, and what would come of it. The interval holds 8 of 10 runs.
struct PlanCandidate {
  std::string class_;
  std::string cluster;  // "2 x ada + 1 x bob's desktop"
  std::int32_t workers = 0;
  Duration time, time_low, time_high;  // From the first worker's start to the end.
  Credits cost, cost_low, cost_high;
  std::optional<double> chance;  // Of an end by the deadline.
  std::string limit;             // compute, network or hub: what more workers would run into.
  bool chosen = false;
  SOUK_FIELDS(PlanCandidate, class_, cluster, workers, time, time_low, time_high, cost, cost_low,
              cost_high, chance, limit, chosen)
};

struct Plan {
  std::vector<PlanCandidate> candidates;  // Fewest workers first. Empty: nothing can be said.
  std::string why;                        // About the choice, or why there is none.
  bool profiled = false;                  // The job, or one like it, was measured before.
  std::int64_t runs = 0;                  // From which this was learnt.
  // Intervals rest on a guess for lack of finished runs.
  bool guessed = false;
  SOUK_FIELDS(Plan, candidates, why, profiled, runs, guessed)
};

// Kept with a job from the moment it is submitted.
struct JobForecast {
  std::int32_t workers = 0;  // That were assumed.
  Duration time, time_low, time_high;
  Credits cost, cost_low, cost_high;
  std::optional<double> chance;
  SOUK_FIELDS(JobForecast, workers, time, time_low, time_high, cost, cost_low, cost_high, chance)
};

// One machine's pace at a kind of training.
struct ProfiledMachine {
  base::MachineId machine;
  std::int64_t units = 0, steps = 0;
  TimeSpent spent;
  SOUK_FIELDS(ProfiledMachine, machine, units, steps, spent)
};

// What was learnt of a kind of training on machines of one class: of its last runs.
struct Profile {
  std::int64_t runs = 0;
  std::int64_t bytes = 0;  // That a unit moves, both ways.
  Duration startup;        // From the first worker's start to the first unit, and from the last on.
  std::vector<ProfiledMachine> machines;
  std::vector<double> errors;  // Of forecasts: time it took / time forecast - 1.
  SOUK_FIELDS(Profile, runs, bytes, startup, machines, errors)
};

}  // namespace souk::wire
