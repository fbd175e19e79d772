#pragma once

#include <string>
#include <vector>

#include "market/state.h"

namespace souk::market {

// Everything that must hold after every event, whatever happened (ARCHITECTURE.md, "Invariants").
// Returns what does not, in words; empty when all is well. Slow: for tests and for
// `souk journal verify`.
[[nodiscard]] std::vector<std::string> broken_invariants(const State& s);

}  // namespace souk::market
