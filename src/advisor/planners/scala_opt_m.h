#pragma once

#include "advisor/catalog.h"

namespace souk::advisor {

// As scala_opt.h, of the one type that the request names in `types`.
[[nodiscard]] Result<ClusterChoice> scala_opt_m(const Catalog& catalog,
                                                const ClusterRequest& request);

}  // namespace souk::advisor
