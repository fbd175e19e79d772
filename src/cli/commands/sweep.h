#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "cli/shell/command.h"
#include "cli/shell/progress.h"
#include "wire/api/job.h"
#include "wire/api/plan.h"
#include "wire/api/sweep.h"

// What people see of a sweep.

namespace souk::cli {

// Is the job a sweep?
[[nodiscard]] bool is_sweep(const wire::Job& job);

// A table of its trials, the best first.
void show_trials(const Context& c, const wire::SweepStatus& status);
// "12 of 20 trials, 3 of them stopped early; best: trial 7 with accuracy 0.93".
[[nodiscard]] std::string sweep_summary(const wire::SweepStatus& status);
// What all trials would come to.
void show_sweep_plan(const Context& c, const wire::PlanSweep& plan);

[[nodiscard]] Result<wire::SweepStatus> ask_sweep(Context& c, base::JobId job);

// Tells of trials that ended since the last time.
class SweepWatch {
 public:
  Result<> step(Context& c, const wire::Job& job, std::optional<Progress>& progress);

 private:
  std::set<std::int32_t> told_;
};

// Writes sweep.csv, sweep.json and sweep.svg into the folder.
Result<> write_sweep(Context& c, const wire::SweepStatus& status, const std::string& folder);

Command trials_command();

}  // namespace souk::cli
