#pragma once

#include "market/commands.h"
#include "market/state.h"

namespace souk::market {

// What follows from a command: `events`, which all happen at `at`. No events means that there was
// nothing to change.
struct Decision {
  Time at;
  Events events;
};

// Would the market do this, and what would happen? Pure: depends on the state and the request
// alone, and changes neither. A refusal names the thing, the value and what would be accepted. Time
// that runs backwards is taken as the state's own.
[[nodiscard]] Result<Decision> decide(const State& state, const Request& request);

// decide, then apply: what a server without a journal would do. Returns the events.
Result<Events> execute(State& state, const Request& request);
// The same for whoever does it very often: `events` is overwritten, and its memory used again.
Result<> execute(State& state, const Request& request, Events& events);

}  // namespace souk::market
