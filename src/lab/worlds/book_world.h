#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>

#include "lab/files/scenario.h"
#include "lab/report/metrics.h"

namespace souk::lab {

using Progress = std::function<void(double share)>;  // From 0 to 1, now and then.

// Whoever started a run: hears how far it is, and may end it before its time, with an error.
struct Watch {
  Progress progress = {};
  std::stop_token stop = {};
  std::size_t most_trades = std::numeric_limits<std::size_t>::max();

  // Asked often: between two steps of a run that has traded so much.
  [[nodiscard]] Result<> go_on(std::size_t trades) const;
};

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
                                      std::uint64_t seed, const Watch& watch = {});

}  // namespace souk::lab
