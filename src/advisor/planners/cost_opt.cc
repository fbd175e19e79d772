#include "advisor/planners/cost_opt.h"

#include <algorithm>

namespace souk::advisor {

Result<ClusterChoice> cost_opt(const Catalog& catalog, const ClusterRequest& request) {
  SOUK_ASSIGN(const auto all, size_all(catalog, request, Bandwidth::ignored));
  const auto& best =
      *std::ranges::min_element(all.sizes, {}, [](const Sizing& s) { return s.type.price; });
  if (best.workers() < 1) return too_small(catalog, request, all.server, best);
  return ClusterChoice{all.server, best};
}

}  // namespace souk::advisor
