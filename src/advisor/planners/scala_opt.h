#pragma once

#include "advisor/catalog.h"

namespace souk::advisor {

// The type that fills the server's network with the fewest workers, and as many of it as the
// network, the budget and the largest number of workers allow. A worker that exchanges more is one
// that computes faster, so the traffic of a short run with one worker stands for speed.
//
// Settled here, where the paper is silent or would go wrong:
// - The type is chosen by bandwidth alone, before any cap: the largest traffic of one worker. Sizes
//   after the caps would be equal for all types beside a large server, and where the budget binds
//   the smallest size is that of the dearest type, however slow.
// - Of equal traffic the cheaper type, then the first of the catalog.
// - Types of which the budget buys none, or one worker of which overfills the network, are no
//   candidates. With none left, the error is about the cheapest that the network carries, so that
//   it names the least budget; if the network carries none, about the cheapest of all.
[[nodiscard]] Result<ClusterChoice> scala_opt(const Catalog& catalog,
                                              const ClusterRequest& request);

}  // namespace souk::advisor
