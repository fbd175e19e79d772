#pragma once

#include "market/state.h"

// What the end of a lease does to its offer, its job and the standing of its machine. Parts of
// apply(): nothing here can fail or look at a clock.

namespace souk::market {

void close_lease(State& s, Time at, const LeaseClosed& e);

// The part of this number, made if nothing was known of it.
[[nodiscard]] JobPart& part_of(Job& job, std::int32_t index);

// Of a gang, before the first of its new workers: all parts are to be done.
void begin_anew(Job& gang);

void lose_reliability(Machine& m);

}  // namespace souk::market
