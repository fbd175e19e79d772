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
#include "base/vocabulary.h"

// Sweeps: one job that tries settings of another, within one budget (docs/sweeps.md).

namespace souk::wire {

// grid: every combination. random: drawn. asha: drawn, and those that do badly are stopped early.
SOUK_ENUM(SweepMethod, grid, random, asha)
SOUK_ENUM(SweepGoal, maximize, minimize)
SOUK_ENUM(SweepScale, uniform, log, whole)

// What a setting may be: one of some values, or a number of a range.
struct SweepParameter {
  std::vector<std::string> values;    // Each as JSON.
  std::optional<SweepScale> scale;    // Without values,
  std::optional<double> low, high;    // from one to the other;
  std::optional<std::int32_t> steps;  // in a grid, so many of them.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"values"};
  SOUK_FIELDS(SweepParameter, values, scale, low, high, steps)
};

struct Sweep {
  std::string of;  // The kind of its trials, whose work stands beside this.
  std::map<std::string, SweepParameter> parameters;
  SweepMethod method = SweepMethod::random;
  std::int32_t trials = 16;
  std::int32_t parallel = 4;  // Trials at a time.
  std::string metric;         // What trials are judged by.
  SweepGoal goal = SweepGoal::maximize;
  std::int64_t seed = 1;
  std::optional<base::Credits> trial_budget;  // The most that one trial may cost.
  std::int32_t min_epochs = 1;                // asha: before a trial may be stopped.
  std::int32_t eta = 3;                       // asha: one of so many goes on.
  static constexpr auto optional_fields = std::array<std::string_view, 7>{
      "method", "trials", "parallel", "goal", "seed", "min_epochs", "eta"};
  SOUK_FIELDS(Sweep, of, parameters, method, trials, parallel, metric, goal, seed, trial_budget,
              min_epochs, eta)
};

// What a trial had when it came to a rung of asha, and whether it went on.
struct TrialRung {
  std::int32_t epoch = 0;       // Of the rung.
  std::optional<double> value;  // Absent: it was no number.
  bool on = true;
  SOUK_FIELDS(TrialRung, epoch, value, on)
};

// What is kept with a trial: all that the sweep needs to go on after a crash.
struct TrialNote {
  std::int32_t number = 0;                        // From 1.
  std::map<std::string, std::string> parameters;  // Each as JSON.
  std::int32_t epoch = 0;                         // Of the last report.
  std::optional<double> value;
  std::vector<TrialRung> rungs;
  bool stopped = false;  // Early.
  bool closed = false;   // Nothing more will be reported.
  SOUK_FIELDS(TrialNote, number, parameters, epoch, value, rungs, stopped, closed)
};

// waiting: for a machine. stopped: early, because others did better.
SOUK_ENUM(TrialState, waiting, running, paused, stopped, succeeded, failed, cancelled)

struct SweepTrial {
  std::int32_t number = 0;
  base::JobId job;
  TrialState state = TrialState::waiting;
  std::map<std::string, std::string> parameters;  // Each as JSON.
  std::int32_t epoch = 0;
  std::optional<double> value;  // Of the metric, when last reported.
  std::vector<TrialRung> rungs;
  base::Credits spent;
  std::string reason;
  SOUK_FIELDS(SweepTrial, number, job, state, parameters, epoch, value, rungs, spent, reason)
};

struct SweepStatus {
  Sweep sweep;
  std::vector<SweepTrial> trials;    // Those that were begun, in order.
  std::optional<std::int32_t> best;  // The number of the one that did best so far.
  base::Credits budget, spent;
  base::Credits free;  // Of the budget: neither spent nor with a trial.
  SOUK_FIELDS(SweepStatus, sweep, trials, best, budget, spent, free)
};

}  // namespace souk::wire
