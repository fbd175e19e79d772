#pragma once

#include "market/events.h"
#include "market/tally.h"

namespace souk::market {

// Counts what a round came to for the mechanism that cleared it.
void tally(Tallies& tallies, const RoundCleared& e);

}  // namespace souk::market
