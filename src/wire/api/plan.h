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
#include "wire/api/training.h"
#include "wire/schema.h"

// What Souk knows and foretells of a job before and while it runs.

namespace souk::wire {

using base::Bottleneck;
using base::Credits;
using base::Duration;
using base::Time;

// What a quote rests on: runs of this kind of training, runs of others like it, what such programs
// usually take, or the parts of the job itself that are done.
SOUK_ENUM(QuoteMethod, runs, similar, guess, parts)

// What a job is expected to take, with an interval that holds 8 of 10 runs.
struct JobQuote {
  std::int32_t workers = 0;            // That were assumed.
  Duration time, time_low, time_high;  // From the first worker's start to the end.
  Credits cost, cost_low, cost_high;
  std::optional<Credits> price;  // Per slot-hour.
  QuoteMethod method = QuoteMethod::runs;
  std::int64_t runs = 0;  // Or parts, that it rests on.
  SOUK_FIELDS(JobQuote, workers, time, time_low, time_high, cost, cost_low, cost_high, price,
              method, runs)
};

// What a job came to, or has come to so far.
struct JobActual {
  Duration time;  // From the first worker's start.
  Credits cost;   // What has accrued included.
  bool over = false;
  SOUK_FIELDS(JobActual, time, cost, over)
};

// The prices that decide whether and when a job runs, per slot-hour, at this moment.
struct PlanPrices {
  std::string class_;
  Credits suggested;
  std::optional<Credits> cheapest;  // That is asked for a free slot which meets its demands.
  Credits limit;
  bool limit_given = false;       // By whoever submits; else it is twice the suggested price.
  std::int32_t workers = 0;       // That it would have now,
  std::optional<Credits> pays;    // and what it would pay for each.
  std::optional<Credits> enough;  // Where its limit is too low: the least one that would do.
  SOUK_FIELDS(PlanPrices, class_, suggested, cheapest, limit, limit_given, workers, pays, enough)
};

// One kind of cluster for a job, and what would come of it. The interval holds 8 of 10 runs.
struct PlanCandidate {
  std::string class_;
  std::string cluster;  // "2 x ada + 1 x bob's desktop"
  std::int32_t workers = 0;
  Duration time, time_low, time_high;  // From the first worker's start to the end.
  Credits cost, cost_low, cost_high;
  std::optional<double> chance;  // Of an end by the deadline.
  Bottleneck limit = Bottleneck::compute;
  bool chosen = false;
  SOUK_FIELDS(PlanCandidate, class_, cluster, workers, time, time_low, time_high, cost, cost_low,
              cost_high, chance, limit, chosen)
};

// Where a kind of training spends what, as runs of it showed.
struct PlanMeasures {
  std::vector<BatchTime> steps;   // By batch, of one machine.
  std::int64_t unit_bytes = 0;    // That a unit moves, both ways,
  double mbps = 0;                // and what that comes to while a worker works.
  std::int64_t memory_bytes = 0;  // The most that a worker used; 0: nobody looked.
  double folds_per_s = 0;         // That the hub could take at most; 0: nobody looked.
  Duration startup;               // Before the first unit, and after the last.
  TimeSpent spent;
  // By how much nearly all runs took longer than computed; forecasts include it.
  double longer = 0;
  SOUK_FIELDS(PlanMeasures, steps, unit_bytes, mbps, memory_bytes, folds_per_s, startup, spent,
              longer)
};

// Of a sweep: the plan is that of one trial, and this of all.
struct PlanSweep {
  std::int32_t trials = 0, parallel = 0;
  Credits most;  // Whatever happens: its budget.
  // If every trial ran to its end, with the workers of the plan's choice; fewer do with asha.
  std::optional<Credits> cost;
  std::optional<Duration> time;
  SOUK_FIELDS(PlanSweep, trials, parallel, most, cost, time)
};

struct JobPlan {
  std::vector<PlanCandidate> candidates;  // Fewest workers first. Empty: nothing can be said.
  std::string why;                        // About the choice, or why there is none.
  bool profiled = false;                  // The job, or one like it, was measured before.
  std::int64_t runs = 0;                  // From which this was learnt.
  // Intervals rest on a guess for lack of finished runs.
  bool guessed = false;
  std::optional<PlanMeasures> measures;
  // Of all epochs, the part after which the target is expected; absent: nothing is known of it.
  std::optional<double> target_after;
  QuoteMethod method = QuoteMethod::runs;  // Of the candidates.
  std::vector<PlanPrices> prices;          // Of each class that it may be in.
  std::optional<PlanSweep> sweep;
  // Where no slot of its class that fits is on offer, and of a larger one some are: what becomes of
  // that, in a sentence.
  std::optional<std::string> elsewhere;
  SOUK_FIELDS(JobPlan, candidates, why, profiled, runs, guessed, measures, target_after, method,
              prices, sweep, elsewhere)
};

// Kept with a job from the moment it is submitted.
struct JobForecast {
  std::int32_t workers = 0;  // That were assumed.
  Duration time, time_low, time_high;
  Credits cost, cost_low, cost_high;
  std::optional<double> chance;
  std::optional<double> part;       // Of all epochs, where less than all is expected to do.
  std::optional<Duration> startup;  // In the times: what does not depend on the work,
  std::optional<double> longer;     // and for the rest what earlier runs took longer than computed.
  std::optional<Credits> price;     // Per slot-hour, that was expected.
  std::optional<QuoteMethod> method;
  std::optional<std::int64_t> runs;  // Behind it.
  SOUK_FIELDS(JobForecast, workers, time, time_low, time_high, cost, cost_low, cost_high, chance,
              part, startup, longer, price, method, runs)

  // As whoever submitted the job saw it. It never changes.
  [[nodiscard]] JobQuote quote() const {
    return {workers,         time,  time_low,
            time_high,       cost,  cost_low,
            cost_high,       price, method.value_or(QuoteMethod::runs),
            runs.value_or(0)};
  }

  // For what was done: a training that reached its target where that was expected is compared with
  // the whole forecast, any other with as much of it as its progress through all epochs.
  [[nodiscard]] double seconds_for(const Training& t) const { return starting() + working(t); }
  // The same as it was computed, before earlier runs had their say.
  [[nodiscard]] double computed_for(const Training& t) const {
    return starting() + working(t) / (1 + longer.value_or(0));
  }

 private:
  [[nodiscard]] double starting() const { return startup.value_or(Duration()).seconds(); }
  [[nodiscard]] double working(const Training& t) const {
    const auto work = time.seconds() - starting();
    return part && t.reached() ? work : work * t.progress / part.value_or(1);
  }
};

// A forecast that was made for a job, and what came of it.
struct ForecastOutcome {
  base::JobId job;
  std::string kind;
  std::string class_;
  base::JobState state = base::JobState::queued;  // In which it ended.
  Time ended;
  JobQuote forecast;
  JobActual actual;
  SOUK_FIELDS(ForecastOutcome, job, kind, class_, state, ended, forecast, actual)
};

// One machine's pace at a kind of training.
struct ProfiledMachine {
  base::MachineId machine;
  std::int32_t batch = 0;
  std::int64_t units = 0, steps = 0;
  TimeSpent spent;
  Duration startup;  // From the start of its lease to the first unit, and from the last on.
  SOUK_FIELDS(ProfiledMachine, machine, batch, units, steps, spent, startup)
};

// What a check found after so many samples.
struct CheckedAt {
  std::int64_t samples = 0;
  double accuracy = 0;
  SOUK_FIELDS(CheckedAt, samples, accuracy)
};

// How the last run of a kind learnt. It says something of the next with the same data and rate.
struct LearningCurve {
  std::string of;  // A hash of these.
  std::vector<CheckedAt> checks;
  SOUK_FIELDS(LearningCurve, of, checks)
};

// What was learnt of a kind of training on machines of one class: of its last runs.
struct Profile {
  std::int64_t runs = 0;
  std::int64_t bytes = 0;  // That a unit moves, both ways.
  std::vector<ProfiledMachine> machines;
  std::vector<double> errors;      // Of forecasts: time it took / time forecast - 1.
  std::vector<BatchTime> batches;  // Of the last run with more than one, on one machine.
  std::int64_t memory = 0;         // The most bytes that a worker used.
  double folds_per_s = 0;          // That the hub could take at most; 0: not known.
  LearningCurve curve;
  SOUK_FIELDS(Profile, runs, bytes, machines, errors, batches, memory, folds_per_s, curve)
};

SOUK_JSON_ELSEWHERE(JobPlan);
SOUK_JSON_ELSEWHERE(Profile);
SOUK_JSON_ELSEWHERE(JobForecast);

}  // namespace souk::wire
