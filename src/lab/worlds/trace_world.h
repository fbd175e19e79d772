#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/time.h"
#include "lab/worlds/book_world.h"
#include "lab/worlds/cluster_jobs.h"
#include "mechanism/schedule/schedule.h"

namespace souk::lab {

struct ClusterStudy {
  std::vector<std::string> types;  // The ones to fill first stand first.
  std::vector<std::int32_t> machines;
  std::vector<ClusterJob> jobs;  // In order of arrival.
  base::Duration round = base::seconds(360);
  base::Duration recompute = base::seconds(1'920);  // The least time between two schedules.
  // Rounds between checks of all that must hold in the market (market/invariants.h); 0: the end.
  std::int32_t verify_every = 0;
};

// What came of a trace. Times in seconds. A job's JCT is from its arrival to its end; its rho that
// over the time its steps would have taken on an equal part of the cluster, among the jobs that
// were there: above 1 it would have been better off alone.
struct ClusterResult {
  std::string policy;
  std::int64_t jobs = 0;
  double makespan = 0;
  double jct_mean = 0, jct_p50 = 0, jct_p95 = 0;
  double utilisation = 0;
  std::vector<double> utilisation_by_type;
  double rho_mean = 0, rho_p95 = 0, rho_worst = 0;
  std::vector<double> prices;  // Mean posted price of each type over the rounds, in credits.
  double paid = 0;             // Credits, by all jobs.
  std::int64_t rounds = 0, schedules = 0;
  double worst_gap = 0;  // Of the schedules.
  // Of the first schedule, in the policy's terms. Of makespan, if all jobs came at once: a bound.
  double first_objective = 0;
  std::int64_t leases = 0, events = 0;

  SOUK_FIELDS(ClusterResult, policy, jobs, makespan, jct_mean, jct_p50, jct_p95, utilisation,
              utilisation_by_type, rho_mean, rho_p95, rho_worst, prices, paid, rounds, schedules,
              worst_gap, first_objective, leases, events)
};

// Runs a trace through the market itself (market::State under decide and apply) with a virtual
// clock. Types are slot classes with one offer a machine room; a job that is to run on a type bids
// there for all its workers, the class's posted price clears the bid into a lease, the lease is
// metered and settled, and a job that is to stop pauses. Jobs that stay where they are keep their
// leases. The posted prices are the policy's, scaled so that a machine-hour costs a credit on
// average; without prices, nothing.
//
// Time goes in rounds. A policy with `places` is asked every round. Of any other the shares are
// approached: type after type, the jobs go first whose share is largest against the share of time
// they have had on this type since the last schedule, those that had none before all others. What
// is left free then goes to whoever can use it, in the same order. Schedules are made anew when
// jobs came or went, but not before `recompute` has passed. In a round a job does int(rate x round)
// steps; one that ends before the round does leaves its machines free until then.
//
// Pure: the same study gives the same result.
[[nodiscard]] Result<ClusterResult> run_cluster(const ClusterStudy& study,
                                                const mechanism::ScheduleEntry& policy,
                                                const Progress& progress = {});

}  // namespace souk::lab
