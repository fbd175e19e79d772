#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "market/commands.h"
#include "market/state.h"
#include "wire/api.h"

// Profiles and forecasts of trainings: what was measured of a kind of training (the market keeps
// it), and what a job would take on the machines that are on offer. Pure functions of the state.
//
// A kind of training is what decides the pace: the trainer, its configuration and program, the
// batch, the codec. Not how long it trains or on which data.

namespace souk::server {

[[nodiscard]] std::string profile_key(const wire::Batch& batch, const std::string& slot_class);

// The candidates for this job among the machines on offer, one chosen; or why nothing can be said.
// Machines are counted in the order in which the market would give them. Prices are what they ask,
// and at least what is paid now.
[[nodiscard]] wire::Plan plan_of(const market::State& s, const wire::NewJob& job,
                                 const market::SubmitJob& as, base::Time now);

// Fills in the forecast and the planned workers of a job that is being submitted: the plan's choice
// if there is one, else as many workers as it may have and there are.
void foretell(const market::State& s, const wire::NewJob& job, market::SubmitJob& as,
              base::Time now);

// What the market should know of this kind of training now that the job is over.
struct Lesson {
  market::LearnProfile profile;
  // By how much the job took longer than forecast for the work it did, as a share; nothing where
  // there was no forecast, or one of machines that had never been seen at it.
  std::optional<double> error;
};
[[nodiscard]] std::optional<Lesson> learnt(const market::State& s, const market::Job& job,
                                           const wire::Training& training);

}  // namespace souk::server
