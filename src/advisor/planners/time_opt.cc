#include "advisor/planners/time_opt.h"

#include <algorithm>

namespace souk::advisor {

Result<ClusterChoice> time_opt(const Catalog& catalog, const ClusterRequest& request) {
  SOUK_ASSIGN(const auto all, size_all(catalog, request, Bandwidth::ignored));
  const auto& best =
      *std::ranges::max_element(all.sizes, {}, [](const Sizing& s) { return s.type.price; });
  if (best.workers() < 1) return too_small(catalog, request, all.server, best);
  return ClusterChoice{all.server, best};
}

}  // namespace souk::advisor
