#pragma once

#include "market/state.h"
#include "wire/api/mechanism.h"

namespace souk::server {

// How the class treats its borrowers: the lab's metrics (lab/report/metrics.h) on the live market,
// as far as they need nobody's true values. Looks at every job and lease in memory.
[[nodiscard]] wire::Treatment treatment_of(const market::State& s, market::ClassId slot_class,
                                           base::Time now);

}  // namespace souk::server
