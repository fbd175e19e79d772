#pragma once

#include "market/state.h"
#include "server/core/pool.h"
#include "server/core/services.h"

// What follows from events for those who talk to programs, and for volumes. On the core thread;
// `pinner` does things in the order of events.

namespace souk::server {

void follow_tunnels(Services& services, Pool& pinner, const market::State& s,
                    const market::Event& event);
// After a start: services whose workers run, and volumes.
void recall_tunnels(Services& services, const market::State& s);

}  // namespace souk::server
