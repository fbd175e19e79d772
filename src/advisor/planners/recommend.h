#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "advisor/forecast.h"
#include "advisor/planners/pareto.h"

// From machine types, work and wishes to plans with one of them chosen: what a person sees before
// anything is spent. Pure; knows nothing of where the numbers come from.
//
//   auto plans = recommend({.problem = {.types = ..., .work = Samples{1e6}}, .deadline_s = 3'600});
//   plans->candidates[plans->chosen].mix
//
// Choice:
// - With a deadline: the cheapest plan whose chance to meet it is at least `confidence`, and whose
//   cost stays within the budget, if there is one.
// - With a budget alone: the fastest plan within it.
// - With neither: the plan with the least time x cost. Halving the time is then worth doubling the
//   cost, and no more.
//
// A plan is within a budget when the high end of its cost is, the hub's price included.

namespace souk::advisor {

struct Request {
  Problem problem;
  std::optional<double> budget;      // Credits, for everything.
  std::optional<double> deadline_s;  // From the start.
  double confidence = 0.9;           // Of meeting the deadline.
  std::size_t most = 8;              // Candidates to return; the chosen one is among them.
  std::vector<Mix> only;             // If there are any: no others, whether they beat them or not.
};

struct Plans {
  std::vector<Forecast> candidates;  // Of the front, fastest first.
  std::size_t chosen = 0;
  std::string why;  // One sentence about the choice.
  bool complete = true;
  double mixes = 0;  // As in Front.
};

// Errors: a problem that cannot be (Forecaster::make); a deadline that no plan meets, with the
// tightest that one does; a budget that none keeps, with the least that one does.
[[nodiscard]] Result<Plans> recommend(const Request& request);

// By what plans are compared that are in time and within the budget: the least is chosen. Requires
// the request's budget and deadline alone.
[[nodiscard]] double compared_by(const Forecast& plan, const Request& request);

}  // namespace souk::advisor
