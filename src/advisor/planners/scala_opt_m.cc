#include "advisor/planners/scala_opt_m.h"

#include <fmt/format.h>

#include "advisor/planners/scala_opt.h"

namespace souk::advisor {

Result<ClusterChoice> scala_opt_m(const Catalog& catalog, const ClusterRequest& request) {
  if (request.types.size() != 1)
    return base::fail(
        base::Code::invalid,
        fmt::format("scala-opt-m sizes one type, and {} are named", request.types.size()),
        "name one; scala-opt chooses among several");
  return scala_opt(catalog, request);
}

}  // namespace souk::advisor
