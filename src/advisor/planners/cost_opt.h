#pragma once

#include "advisor/catalog.h"

namespace souk::advisor {

// Workers of the cheapest type, as many as the budget (or the largest number of workers) allows. Of
// types of one price the first of the catalog. Bandwidth does not matter.
[[nodiscard]] Result<ClusterChoice> cost_opt(const Catalog& catalog, const ClusterRequest& request);

}  // namespace souk::advisor
