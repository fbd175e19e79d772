#pragma once

#include <map>
#include <string>

#include "provider/reconcile.h"
#include "wire/api/book.h"

// How many machines a pool should have, from the book of its class. Pure.

namespace souk::provider {

// A machine of the pool as the market sees it.
struct MachineUse {
  std::int32_t slots = 0;
  std::int32_t free = 0;
  bool online = false;
  Time idle_since;  // Of one with no lease.
};

struct DemandRules {
  Credits floor;  // The least that a slot must bring per hour.
  std::int32_t slots_per_machine = 1;
  std::int64_t min_machines = 0;     // Whether anybody wants them or not.
  Duration idle = base::minutes(5);  // Until a machine that nobody uses is let go.
};

// Machines in use, and as many more as the slots that jobs would pay the floor for and that nobody
// offers. `uses` are the machines that are active, by intent. Surplus are those of them that were
// idle for long and are not needed, the longest idle first.
Need need_of(const wire::Book& book, const std::map<std::string, MachineUse>& uses,
             const DemandRules& rules, Time now);

}  // namespace souk::provider
