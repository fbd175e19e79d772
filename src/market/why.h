#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/vocabulary.h"
#include "market/eligible.h"
#include "market/near.h"
#include "market/state.h"

namespace souk::market {

using base::RelaxKind;

// Offers of the job's class that the same obstacles keep away.
struct Excluded {
  std::vector<Obstacle> obstacles;
  std::int64_t offers = 0;
  std::int64_t slots = 0;
  OfferId example;
};

// One change that alone would let the job start.
struct Relaxation {
  RelaxKind kind = RelaxKind::wait;
  std::string change;      // "raise the limit price to 0.6"
  std::int64_t slots = 0;  // That would match then.
  Credits extra;           // More per hour than now, for the workers it needs.
  std::string flag;        // What to type: "--price 0.6"
};

struct Why {
  std::string summary;                  // One sentence.
  std::int64_t needed = 0;              // Slots it needs to go on.
  std::int64_t matching = 0;            // Slots that would do right now.
  std::vector<Excluded> groups;         // Most slots first.
  std::vector<Relaxation> relaxations;  // Cheapest first.
  std::vector<NearMachine> nearly;      // Of offers that lack packages, the few that lack fewest.
  std::vector<OfferId> unproved;        // A few of those whose machines only lack a proof.
};

// Why this job does not run, or does not have all the workers it wants, and what would help.
// `unheard`, in order: machines that get no lease until their agents are heard again.
[[nodiscard]] Why why(const State& s, const Job& job, Time now,
                      std::span<const MachineId> unheard = {});

}  // namespace souk::market
