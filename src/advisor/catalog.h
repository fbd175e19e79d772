#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/result.h"

// What there is to rent for a training with one parameter server and workers of one type, and the
// arithmetic that the four recommenders for such clusters share (cost_opt.h, time_opt.h,
// scala_opt.h, scala_opt_m.h; after FC2, Duong 2019). Pure.
//
// What the paper leaves open is settled here:
// - Numbers of workers are rounded down: a worker that is not whole is not rented.
// - Bandwidth, budget and the largest number of workers all hold; the smallest of the three is the
//   size, and `binding` names it. Of equals the first in the order of Binding binds.
// - A type of which not even one worker can be had is an error, or, where there are others, no
//   candidate. The error names the least budget that works, or a server that would carry it.

namespace souk::advisor {

using base::Credits;
using base::Result;

struct ServerType {
  std::string name;
  Credits price;  // Per hour, as all prices here.
  double bandwidth_mbps = 0;
};

struct WorkerType {
  std::string name;
  Credits price;
};

struct Catalog {
  std::vector<ServerType> servers;
  std::vector<WorkerType> workers;
};

struct ClusterRequest {
  std::string server;  // Empty: the one with the largest bandwidth.
  // The types to choose from; empty: all of the catalog that the algorithm knows enough about.
  std::vector<std::string> types;
  // What one worker and the server exchange, by type, as a short run measured it.
  std::map<std::string, double> bandwidth_mbps;
  std::optional<Credits> budget;  // For an hour of the whole cluster, server included.
  std::optional<std::int32_t> max_workers;
  double share = 0.95;  // Of the server's bandwidth that workers may fill.
};

enum class Binding : std::uint8_t { bandwidth, budget, max_workers };
[[nodiscard]] std::string_view to_string(Binding binding);  // "max-workers".

// How many workers of one type each limit allows; absent where there is no such limit.
struct Sizing {
  WorkerType type;
  std::optional<double> bandwidth_mbps;  // Of one worker, where it counts.
  std::optional<std::int32_t> by_bandwidth, by_budget, by_max_workers;

  // Requires at least one limit, as size_all() sees to.
  [[nodiscard]] std::int32_t workers() const;
  [[nodiscard]] Binding binding() const;
};

struct ClusterChoice {
  ServerType server;
  Sizing size;
  [[nodiscard]] Credits per_hour() const;
};

enum class Bandwidth : std::uint8_t { ignored, counts };

// The server of the request, and the sizes of the types it may choose from, in the catalog's order.
// Where bandwidth counts, types that were never measured are left out, or refused if the request
// names them.
struct Sized {
  ServerType server;
  std::vector<Sizing> sizes;  // Not empty.
};
[[nodiscard]] Result<Sized> size_all(const Catalog& catalog, const ClusterRequest& request,
                                     Bandwidth bandwidth);

// Says why not one worker of `size` can be had, and what would change that; requires workers() < 1.
[[nodiscard]] base::Failure too_small(const Catalog& catalog, const ClusterRequest& request,
                                      const ServerType& server, const Sizing& size);

// One row of the table of recommenders for such clusters.
struct ClusterRecommender {
  std::string_view name;
  std::string_view summary;  // One plain sentence: which type it takes.
  Result<ClusterChoice> (*recommend)(const Catalog& catalog, const ClusterRequest& request);
  Bandwidth bandwidth;
};
[[nodiscard]] std::span<const ClusterRecommender> cluster_recommenders();

}  // namespace souk::advisor
