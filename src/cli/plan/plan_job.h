#pragma once

#include <string>

#include "cli/shell/context.h"
#include "wire/api/job.h"
#include "wire/api/plan.h"
#include "wire/api/training.h"

// Plans of jobs on the live market: asked of the server, shown, and made possible by measuring.

namespace souk::cli {

Result<wire::JobPlan> ask_plan(Context& c, const wire::NewJob& job);
// A table of the candidates with one marked, and why; or why there is none.
void show_plan(const Context& c, const wire::JobPlan& plan);

// What is asked, suggested and would be paid now beside the job's limit, and the limit that would
// do where its own is too low. Goes to the standard error.
void show_prices(const Context& c, const wire::JobPlan& plan);

// Runs the job on one worker for as long as it takes to know its pace, a minute at most, and
// cancels it. Its files must be at the server.
Result<> measure_job(Context& c, wire::NewJob job);

// What was planned and quoted for the job, what it came to, and where it has moved.
void show_forecast(const Context& c, const wire::Job& job);
// How much of a training was done, and where its workers' time went.
void show_outcome(const Context& c, const wire::Job& job, const wire::Training& training);

// `souk plan FILE`.
Result<> plan_job(Context& c, const std::string& file, bool measure);

}  // namespace souk::cli
