#pragma once

#include "advisor/catalog.h"

namespace souk::advisor {

// Workers of the dearest type, in the belief that the dearest is the fastest, as many as the budget
// (or the largest number of workers) allows. Of types of one price the first of the catalog.
// Bandwidth does not matter. A budget that buys none of the dearest is an error, never a cheaper
// type: who asks for time would otherwise get the opposite unawares.
[[nodiscard]] Result<ClusterChoice> time_opt(const Catalog& catalog, const ClusterRequest& request);

}  // namespace souk::advisor
