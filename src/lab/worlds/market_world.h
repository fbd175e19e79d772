#pragma once

#include <cstdint>

#include "lab/files/scenario.h"
#include "lab/files/trace.h"
#include "lab/report/metrics.h"
#include "lab/worlds/book_world.h"

namespace souk::lab {

// One run of a scenario whose world is a market: the core that the server runs, market::State under
// decide and apply, with a virtual clock in place of the wall's. Lenders, borrowers and their
// agents send the very commands that people and machines send; nothing is done to the state but by
// them. What is invented: when jobs come, how long they run, which machines leave, and what
// everything is worth to whom, which the market never learns.
//
// The most that could be gained is that of all work and all machine time of the run, each class by
// itself, as if any of it could be done at any time after all: a bound that no mechanism reaches,
// the same for all mechanisms. Its price is what prices are compared with.
//
// Pure: the same scenario, mechanism and seed give the same record, and every agent draws the same
// under every mechanism.
[[nodiscard]] Result<Record> run_market(const Scenario& scenario, const Traces& traces,
                                        const MechanismChoice& mechanism, std::uint64_t seed,
                                        const Watch& watch = {});

}  // namespace souk::lab
