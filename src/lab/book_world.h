#pragma once

#include <cstdint>
#include <functional>

#include "lab/metrics.h"
#include "lab/scenario.h"

namespace souk::lab {

using Progress = std::function<void(double share)>;

// One run of a scenario whose world is a book. In each period every trader has a value (its own
// draw, or the one it began with), names a price by its strategy, and the mechanism clears the
// book; with several rounds in a period, whoever has units left may try again. A unit is a slot for
// an hour.
//
// The book's reference price begins between the lowest and the highest that anybody could think of,
// and moves by up to a tenth each round towards where as many want to buy as to sell.
//
// The most that could be gained is that of the true values and costs of each period, gangs taken
// apart.
//
// Pure: the same scenario, mechanism and seed give the same record, and every trader draws the same
// under every mechanism.
[[nodiscard]] Result<Record> run_book(const Scenario& scenario, const MechanismChoice& mechanism,
                                      std::uint64_t seed, const Progress& progress = {});

}  // namespace souk::lab
