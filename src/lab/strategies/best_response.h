#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/files/scenario.h"

// An equilibrium in linear strategies, by search. Every population bids intercept + slope x value
// (strategy `linear`: never at a loss). In turn, one trader of each population looks for the line
// that serves it best while all others, its own kind among them, keep theirs; then its whole
// population takes that line; until nobody moves. Draws are the same throughout, so that lines are
// compared by themselves and not by luck.

namespace souk::lab {

struct LinearPlay {
  std::string population;
  bool lends = false;
  double intercept = 0, slope = 1;
  double gain = 0;  // Of one trader, in one period.

  SOUK_FIELDS(LinearPlay, population, lends, intercept, slope, gain)
};

struct BestResponses {
  std::string mechanism;
  std::vector<LinearPlay> play;
  std::int32_t rounds = 0;  // Of everybody's turn.
  bool settled = false;     // Nobody moved by more than the last step in the last round.
  double efficiency = 0;    // Gains over the most there could be.
  double truthful = 0;      // The same, if all had said the truth.

  SOUK_FIELDS(BestResponses, mechanism, play, rounds, settled, efficiency, truthful)
};

struct BestResponseOptions {
  std::int32_t rounds = 30;
  double step = .25;     // Of slopes, and of intercepts as a share of the highest price; halved
  double finest = .004;  // down to this.
  std::int32_t threads = 0;
  std::function<void(std::int32_t round)> progress;
};

// Requires a book.
[[nodiscard]] Result<BestResponses> search_best_responses(const Scenario& scenario,
                                                          const MechanismChoice& mechanism,
                                                          const BestResponseOptions& options = {});

}  // namespace souk::lab
