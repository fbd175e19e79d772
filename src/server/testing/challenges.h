#pragma once

#include "base/id.h"

namespace souk::server::testing {

// The machine that is challenged, and its owner.
inline constexpr base::MachineId kMachine(1);
inline constexpr base::AccountId kOwner(1);

// What became of many challenges.
struct ChallengeOutcomes {
  int asked = 0, passed = 0, wrong = 0, suspended = 0;
};

}  // namespace souk::server::testing
