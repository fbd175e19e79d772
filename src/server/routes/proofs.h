#pragma once

#include <optional>

#include "base/id.h"
#include "server/http/context.h"
#include "server/proof/challenges.h"
#include "wire/api/heartbeat.h"

// Machines prove what they claim (server/proof/challenges.h): what follows for the market.

namespace souk::server {

// The machine is new, or claims more than before: it lends nothing until it has passed a challenge.
void doubt_claim(Context& c, base::MachineId machine);

// With each heartbeat: what the machine is to prove now. Has it prepared where need be. `busy` has
// passed BusyMachines::check(). It puts off no challenge of a machine that lends.
std::optional<wire::Challenge> next_challenge(Context& c, base::MachineId machine,
                                              const std::optional<wire::BusyReport>& busy);

// What an unproved machine says of other programs on it; nothing of one that may lend.
std::optional<wire::BusyCores> busy_cores(Context& c, base::MachineId machine);

// Tells the market.
void judge(Context& c, base::MachineId machine, const Challenges::Verdict& verdict);

}  // namespace souk::server
