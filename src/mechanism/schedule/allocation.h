#pragma once

#include <string_view>
#include <vector>

#include "mechanism/schedule/lp.h"
#include "mechanism/schedule/schedule.h"

// What several policies need of an instance.

namespace souk::mechanism {

// Steps a second that each job has under `schedule`.
[[nodiscard]] std::vector<double> speeds(const ScheduleInstance& instance,
                                         const Schedule& schedule);
// Machines of each type that a schedule keeps busy.
[[nodiscard]] std::vector<double> machines_used(const ScheduleInstance& instance,
                                                const std::vector<double>& shares);

// Steps a second of each job if it ran all the time, on each type for a time in proportion to the
// machines there are of it: a measure of what the cluster is to this job.
[[nodiscard]] std::vector<double> proportional_rates(const ScheduleInstance& instance);
// Steps a second of each job with its equal part of every type: N_j / n machines, and no more than
// it can use at a time.
[[nodiscard]] std::vector<double> isolated_rates(const ScheduleInstance& instance);

// max t so that every job has at least t times need_i steps a second. Rates and needs may be in any
// unit of the job's own.
[[nodiscard]] SharesProgram level_program(const ScheduleInstance& instance,
                                          const std::vector<double>& needs);

// An error unless the optional field is there.
[[nodiscard]] Result<> needs_field(std::string_view policy, std::string_view field, bool present);

}  // namespace souk::mechanism
