#pragma once

#include <cstdint>
#include <vector>

#include "advisor/move.h"
#include "market/commands.h"
#include "market/state.h"
#include "wire/api/job.h"
#include "wire/api/plan.h"

// Forecasts of trainings: what a job would take on the machines that are on offer, from what was
// measured of its kind (profiles.h). Pure functions of the state.

namespace souk::server {

// The candidates for this job among the machines on offer in the classes it may be in, one chosen;
// or why nothing can be said. Where this kind of training was never measured in any of them, from
// others like it, with a wide interval. Machines are counted in the order in which the market would
// give them. Prices are what they ask, and at least what is paid now.
[[nodiscard]] wire::JobPlan plan_of(const market::State& s, const wire::NewJob& job,
                                    const market::SubmitJob& as, base::Time now);

// Fills in the class, the forecast and the planned workers of a job that is being submitted: the
// plan's choice if there is one, else as many workers as it may have and there are. Where nothing
// is known of any class, it stays in the first, with a forecast from others like it. `owner`: whose
// job it is; its other jobs do not compete with it.
void foretell(const market::State& s, const wire::NewJob& job, market::SubmitJob& as,
              base::Time now, base::AccountId owner = {});

// Workers that a job could be given in the class it is in, beside those it has.
[[nodiscard]] std::int32_t free_workers(const market::State& s, const market::Job& job,
                                        base::Time now);

// What a training could have in each of its other classes, in their order. Paces are of all epochs.
[[nodiscard]] std::vector<advisor::There> elsewhere(const market::State& s, const market::Job& job,
                                                    const wire::Batch& batch, base::Time now);

}  // namespace souk::server
