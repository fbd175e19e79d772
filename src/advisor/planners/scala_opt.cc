#include "advisor/planners/scala_opt.h"

#include <algorithm>
#include <tuple>

namespace souk::advisor {

Result<ClusterChoice> scala_opt(const Catalog& catalog, const ClusterRequest& request) {
  SOUK_ASSIGN(const auto all, size_all(catalog, request, Bandwidth::counts));
  const auto& best = *std::ranges::min_element(all.sizes, {}, [](const Sizing& s) {
    return std::tuple(s.workers() < 1, -*s.bandwidth_mbps, s.type.price);
  });
  if (best.workers() >= 1) return ClusterChoice{all.server, best};
  const auto& cheapest = *std::ranges::min_element(
      all.sizes, {}, [](const Sizing& s) { return std::tuple(s.by_bandwidth == 0, s.type.price); });
  return too_small(catalog, request, all.server, cheapest);
}

}  // namespace souk::advisor
